"""How a vendor tells later what became of a message, where it has no words of its own: the generic form, signed.

The signature is that of Standard Webhooks (`kernel/signed_webhooks/signature.py`).
"""

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from tidings.contracts.moments import ToldMoment

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
