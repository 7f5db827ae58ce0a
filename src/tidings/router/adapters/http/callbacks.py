"""The generic form: our own words, signed as Standard Webhooks are."""

from datetime import datetime
from typing import Final

from tidings.contracts.callback_forms import (
    Canonical,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    VendorCost,
)
from tidings.contracts.callbacks import Callback, CallbackEvent
from tidings.kernel.http.bodies import decode
from tidings.kernel.mapping import by_name
from tidings.router.adapters.callbacks.parsing import in_utc
from tidings.router.adapters.callbacks.standard_webhooks import StandardWebhooks
from tidings.router.adapters.callbacks.status_events import status_event

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
    at = in_utc(event.occurred_at)
    return status_event(
        message_id=event.message_id,
        word=word,
        status=MEANINGS.get(word, "unknown"),
        at=at,
        discriminator=at.isoformat() if at is not None else event.id,
        received_at=received_at,
        code=event.code,
        reason=event.reason,
        cost=by_name(VendorCost, event.cost) if event.cost is not None else None,
    )
