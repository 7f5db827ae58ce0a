"""How a vendor tells later what became of a message, where it has no words of its own: the generic form, signed.

The signature is that of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, in three headers.
"""

import base64
import hmac
import re
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from tidings.contracts.moments import ToldMoment

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"
#: Stands before a secret that is written in base64.
SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # no secret, the mark of one
#: With its padding or without.
BASE64: Final = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=?|[A-Za-z0-9+/]{2}(?:==)?)"
_BASE64: Final = re.compile(BASE64)
#: How many events one request may bring.
MOST_EVENTS: Final = 1000

#: What can have become of a message. Another word is kept, and changes nothing.
ReceiptWord: TypeAlias = Literal[
    "accepted", "sent", "delivered", "read", "failed", "rejected", "bounced", "complaint"
]

_Id = Annotated[str, Meta(min_length=1, max_length=1000)]


class CallbackCost(Struct, frozen=True, kw_only=True):
    """What the vendor takes for it."""

    micros: Annotated[int, Meta(ge=0, le=10**15)]
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z", description="must be a currency such as USD")]


class CallbackEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened to one message. Fields that are not known here are left aside."""

    #: The vendor's name for this event: the same when it is told again.
    id: _Id
    #: The vendor's name for the message, as it answered when the message was handed over.
    message_id: _Id
    #: A `ReceiptWord`, as a rule.
    status: Annotated[str, Meta(min_length=1, max_length=60)]
    occurred_at: ToldMoment | None = None
    #: The vendor's code for a failure.
    code: Annotated[str, Meta(max_length=200)] | None = None
    #: In words, without anything personal.
    reason: Annotated[str, Meta(max_length=4000)] | None = None
    cost: CallbackCost | None = None


class Callback(Struct, frozen=True, kw_only=True):
    """The body of a request."""

    events: Annotated[list[CallbackEvent], Meta(max_length=MOST_EVENTS)]


def sign(secret: str, *, webhook_id: str, timestamp: int | str, body: bytes) -> str:
    """What the signature header says: `v1,` and the digest in base64, for each key that the secret can mean."""
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in signing_keys(secret)
    )


def signed_headers(secret: str, *, webhook_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a signed request."""
    return {
        ID_HEADER: webhook_id,
        TIMESTAMP_HEADER: str(timestamp),
        SIGNATURE_HEADER: sign(secret, webhook_id=webhook_id, timestamp=timestamp, body=body),
    }


def signing_keys(secret: str) -> tuple[bytes, ...]:
    """The bytes that sign: of `whsec_…` what the base64 stands for, padded or not; otherwise the text itself.

    The libraries of Standard Webhooks read base64 without the prefix too, and other receivers take the same letters as they
    are. Which is meant can't be known, so that both sign and both are taken: who has the secret has either.
    """
    decoded = _decoded(secret.removeprefix(SECRET_PREFIX))
    if decoded is None:
        return (secret.encode(),)
    return (decoded,) if secret.startswith(SECRET_PREFIX) else (decoded, secret.encode())


def _decoded(text: str) -> bytes | None:
    if not _BASE64.fullmatch(text):
        return None
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
