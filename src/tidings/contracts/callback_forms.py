"""How one kind of vendor signs and words what it tells later: the port that every adapter's callbacks go through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from tidings.contracts.tenants import Channel

#: What an event means, in the words of `chan.delivery_attempt_events`.
Canonical: TypeAlias = Literal[
    "accepted",
    "sent",
    "delivered",
    "delivered_read",
    "failed_temp",
    "failed_perm",
    "rejected_by_provider",
    "rejected_by_recipient",
    "timed_out",
    "cancelled",
    "bounced",
    "complaint",
    "opened",
    "clicked",
    "unknown",
]

#: What an event can mean for the address that was written to.
Effect: TypeAlias = Literal["hard_bounce", "soft_bounce", "complaint", "invalid_address"]

#: Raw bytes that a request may bring.
MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCallback:
    """A request as it came."""

    method: str = "POST"
    #: Where it was sent to, as the vendor knows it: the public address, with the query.
    url: str = field(default="", repr=False)
    #: By lower-case name, every value that was sent.
    headers: Mapping[str, Sequence[str]] = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    received_at: datetime

    def header(self, name: str) -> str | None:
        """The one value of a header; None where there is none, or more than one."""
        values = self.headers.get(name, ())
        return values[0] if len(values) == 1 else None


class VendorCost(Struct, frozen=True, kw_only=True):
    """What a vendor takes."""

    micros: int
    currency: str


class Details(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an event says beside its status; sealed as long as its tenant is not known."""

    code: str | None = None
    #: Without anything that looks like an address.
    reason: str | None = None
    cost: VendorCost | None = None
    #: What it means for the address; a line of the status map for the code comes before it.
    effect: Effect | None = None
    #: Of an event with a word that means nothing yet: that word, so that it can be given a meaning.
    word: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEvent:
    """One event of a request, read."""

    vendor_message_id: str
    #: Their word, which tells two events apart.
    word: str
    status: Canonical
    occurred_at: datetime | None
    #: When it occurred, as they wrote it, or their id of the event: the same when it is told again.
    discriminator: str
    details: Details | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadInbound:
    """A message that a person wrote to us, read."""

    #: The vendor's name for it: the same when it is told again.
    vendor_message_id: str
    channel: Channel
    #: Who wrote it: a number, a chat id; in whatever spelling the vendor has.
    sender: str = field(repr=False)
    #: Where it was written to: a number, a short code, the vendor's id of our account. What `Accepted.sender` says of messages
    #: that can be answered.
    to: str
    #: Empty where it was a picture, a place, anything else.
    text: str = field(repr=False)
    #: `text`, `button`, `image`, `location`, …, in the vendor's word.
    kind: str = "text"
    occurred_at: datetime | None
    #: As the vendor shows them.
    sender_name: str | None = field(default=None, repr=False)
    #: The vendor's id of the message of ours that it answers, if it says so.
    answers: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookReply:
    """What a vendor wants to hear."""

    status: int = 200
    media_type: str = "application/json"
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCallback:
    """All that a request says."""

    events: Sequence[ReadEvent] = ()
    inbound: Sequence[ReadInbound] = ()
    #: What was said over the adapter's own connection and could not be read, as it came: kept to be looked at.
    unread: Sequence[bytes] = field(default=(), repr=False)
    #: What the vendor wants to hear to this one, where it is more than the form's own reply.
    reply: HookReply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCallback:
    """The request is the vendor's."""


@dataclass(frozen=True, slots=True)
class UnverifiedCallback:
    """It is not, or that can't be verified."""

    #: One of few words, for rows and metrics.
    code: Literal["unsigned", "malformed", "stale", "mismatch"]
    #: What its sender can do, as a sentence.
    remedy: str


#: What a form needs of an account's settings, by names of its own: secrets, public keys.
Keys: TypeAlias = Mapping[str, str]


class CallbackForm(Protocol):
    """How one kind of vendor signs and words its callbacks."""

    @property
    def name(self) -> str:
        """As the adapter is called."""
        ...

    @property
    def reply(self) -> HookReply | None:
        """What the vendor is answered; None: how many events were new, as JSON."""
        ...

    def keys(self, settings: Struct) -> Keys | None:
        """What is needed of the account's settings; None where they name nothing that callbacks could be checked with."""
        ...

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether the account's vendor sent this very request just now; a `WrongContentTypeError` for a kind of
        body that is not read here.

        A secret may be several with blanks between them, while one takes the place of another.
        """
        ...

    def read(self, request: RawCallback, keys: Keys) -> ParsedCallback:
        """What it says; a `MalformedBodyError` or an `InvalidError` where the body is none of this form.

        A request that says nothing for us, such as a greeting, is an empty reading.
        """
        ...


@runtime_checkable
class Challenges(Protocol):
    """A form of a vendor that asks first whether a hook is there."""

    async def challenge(self, request: RawCallback, keys: Keys) -> HookReply | UnverifiedCallback | None:
        """The answer to a GET, or to a verified POST that asks; None where this one asks nothing."""
        ...
