"""The generic form: our own words, signed as Standard Webhooks are.

The signature covers the id, the time and the body. A request that is older than five minutes is not taken, and one
that is sent again within them finds its events taken in already.
"""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final

from msgspec import Struct

from tidings.contracts.callback_forms import (
    Canonical,
    Details,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    UnverifiedCallback,
    VendorCost,
    VerifiedCallback,
)
from tidings.contracts.callbacks import (
    ID_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    Callback,
    CallbackEvent,
    sign,
)
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.errors import WrongContentTypeError
from tidings.router.adapters.redaction import kept_code, kept_words
from tidings.router.adapters.secret_rotation import secrets_of

#: How far the sender's clock may be from ours.
WINDOW: Final = timedelta(minutes=5)
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
_MOST_SIGNATURES = 10
#: As attempts keep it.
_MOST_MESSAGE_ID = 200
#: An event from further ahead has no time that means anything.
_FURTHEST_AHEAD = timedelta(days=1)
# A dot in the id would let one signature stand for two requests.
_ID = re.compile(r"[!-\-/-~]{1,256}")
_TIMESTAMP = re.compile(r"[0-9]{1,11}")


class GenericForm:
    """Reads what `contracts.callbacks` describes."""

    name = "http"
    reply: HookReply | None = None

    def keys(self, settings: Struct) -> Keys | None:
        """The secret that callbacks are signed with."""
        secret = getattr(settings, "callback_secret", None)
        return {"secret": secret} if secret else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether one of the signatures is ours."""
        require_json(request)
        webhook_id = request.header(ID_HEADER)
        timestamp = request.header(TIMESTAMP_HEADER)
        given = request.header(SIGNATURE_HEADER)
        if webhook_id is None or timestamp is None or given is None:
            names = f"{ID_HEADER}, {TIMESTAMP_HEADER} and {SIGNATURE_HEADER}"
            return UnverifiedCallback(code="unsigned", remedy=f"send the headers {names}, each once")
        if not _ID.fullmatch(webhook_id):
            return UnverifiedCallback(
                code="malformed",
                remedy=f"the header {ID_HEADER} must be 1 to 256 visible characters without a dot",
            )
        if not _TIMESTAMP.fullmatch(timestamp):
            return UnverifiedCallback(
                code="malformed", remedy=f"the header {TIMESTAMP_HEADER} must be whole seconds since 1970"
            )
        signed_at = datetime.fromtimestamp(int(timestamp), UTC)
        if abs(signed_at - request.received_at) > WINDOW:
            return UnverifiedCallback(
                code="stale",
                remedy=f"the header {TIMESTAMP_HEADER} is more than five minutes off; sign when you send, by a clock that is right",
            )
        offered = [word for word in given.split()[:_MOST_SIGNATURES] if word.startswith("v1,")]
        fits = False
        for one in secrets_of(keys["secret"]):
            signatures = sign(one, webhook_id=webhook_id, timestamp=timestamp, body=request.body).split()
            for wanted, word in product(signatures, offered):
                fits |= hmac.compare_digest(wanted.encode(), word.encode("latin-1", "replace"))
        if fits:
            return VerifiedCallback()
        return UnverifiedCallback(
            code="mismatch",
            remedy="the signature does not fit the body and the account's callback_secret; sign the bytes as they are sent",
        )

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
        occurred_at=at if at is not None and at - received_at <= _FURTHEST_AHEAD else None,
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


def require_json(request: RawCallback) -> None:
    """A `WrongContentTypeError` for what is not said to be plain JSON."""
    kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise WrongContentTypeError
    if any(
        packed.strip().lower() not in ("", "identity")
        for packed in request.headers.get("content-encoding", ())
    ):
        raise WrongContentTypeError("the body has to be plain JSON: send it without Content-Encoding")
