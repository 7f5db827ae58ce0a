"""The generic form: our own words, signed as Standard Webhooks are."""

import hashlib
from datetime import UTC, datetime
from typing import Final

from tidings.contracts.callback_forms import (
    Canonical,
    Details,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    VendorCost,
)
from tidings.contracts.callbacks import (
    Callback,
    CallbackEvent,
)
from tidings.kernel.http.bodies import decode
from tidings.router.adapters.callbacks.parsing import FURTHEST_AHEAD
from tidings.router.adapters.callbacks.standard_webhooks import StandardWebhooks
from tidings.router.adapters.redaction import kept_code, kept_words

#: Their word → ours.
MEANINGS: Final[dict[str, Canonical]] = {
    "accepted": "accepted",
    "sent": "sent",
    "delivered": "delivered",
    "read": "delivered_read",
    "failed": "failed_perm",
    "rejected": "rejected_by_recipient",
    "bounced": "bounced",
    "complaint": "complaint",
}
#: As attempts keep it.
_MOST_MESSAGE_ID = 200


class GenericForm(StandardWebhooks):
    """Reads what `contracts.callbacks` describes."""

    name = "http"
    reply: HookReply | None = None

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """The events, in the order in which they stand."""
        events = decode(request.body, Callback).events
        return ParsedCallback(events=[_event(event, request.received_at) for event in events])


def _event(event: CallbackEvent, received_at: datetime) -> ReadEvent:
    word = event.status.lower()
    at = _in_utc(event.occurred_at)
    details = Details(
        code=kept_code(event.code),
        reason=kept_words(event.reason),
        cost=VendorCost(micros=event.cost.micros, currency=event.cost.currency)
        if event.cost is not None
        else None,
    )
    return ReadEvent(
        vendor_message_id=event.message_id[:_MOST_MESSAGE_ID],
        word=word,
        status=MEANINGS.get(word, "unknown"),
        occurred_at=at if at is not None and at - received_at <= FURTHEST_AHEAD else None,
        discriminator=at.isoformat() if at is not None else _short(event.id),
        details=details if details != Details() else None,
    )


def _in_utc(at: datetime | None) -> datetime | None:
    try:
        return at.astimezone(UTC) if at is not None else None
    except OverflowError:
        return None


def _short(name: str) -> str:
    """As it is, unless it is too long for the key that tells events apart."""
    return name if len(name) <= _MOST_MESSAGE_ID else "sha256:" + hashlib.sha256(name.encode()).hexdigest()
