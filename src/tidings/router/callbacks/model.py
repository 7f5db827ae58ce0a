"""A callback on its way: as it came, as it was read, and what is told about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

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

#: Raw bytes that a request may bring.
MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCallback:
    """A request as it came."""

    #: By lower-case name, every value that was sent.
    headers: Mapping[str, Sequence[str]] = field(repr=False)
    body: bytes = field(repr=False)
    received_at: datetime

    def header(self, name: str) -> str | None:
        """The one value of a header; None where there is none, or more than one."""
        values = self.headers.get(name, ())
        return values[0] if len(values) == 1 else None


class Cost(Struct, frozen=True, kw_only=True):
    """What a vendor takes."""

    micros: int
    currency: str


class Details(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an event says beside its status; sealed as long as nobody knows whose it is."""

    code: str | None = None
    #: Without anything that looks like an address.
    reason: str | None = None
    cost: Cost | None = None


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
class Verified:
    """The request is the vendor's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """It is not, or nobody can tell."""

    #: One of few words, for rows and metrics.
    code: Literal["unsigned", "malformed", "stale", "mismatch"]
    #: What its sender can do, as a sentence.
    remedy: str


class CallbackForm(Protocol):
    """How one kind of vendor signs and words its callbacks."""

    name: str

    def verify(self, request: RawCallback, secret: str) -> Verified | Refusal:
        """Whether the account's secret signed this very body just now; a `WrongContentTypeError` for a kind of
        body that is not read here.

        `secret` may be several with blanks between them, while one takes the place of another.
        """
        ...

    def read(self, raw: bytes, *, received_at: datetime) -> list[ReadEvent]:
        """The events; a `MalformedBodyError` or an `InvalidError` where the body is none of this form."""
        ...


class Observer(Protocol):
    """Hears how callbacks fare, for the metrics."""

    def received(self, vendor: str, count: int, repeated: int) -> None:
        """So many new events were taken in, and so many that were known."""
        ...

    def refused(self, vendor: str, code: str) -> None:
        """A request was refused: `unknown`, `unsigned`, `malformed`, `stale`, `mismatch`, `unreadable`."""
        ...

    def applied(self, count: int, seconds: float) -> None:
        """So many found their attempts; the oldest had waited so long."""
        ...

    def late(self, count: int) -> None:
        """So many did not, and wait."""
        ...

    def died(self, count: int) -> None:
        """So many have waited long enough."""
        ...

    def waiting(self, seconds: float) -> None:
        """How long the oldest that was never looked at has waited; 0 where there is none."""
        ...

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""
        ...


class Unobserved:
    """Hears nothing."""

    def received(self, vendor: str, count: int, repeated: int) -> None:
        """Nobody counts."""

    def refused(self, vendor: str, code: str) -> None:
        """Nobody counts."""

    def applied(self, count: int, seconds: float) -> None:
        """Nobody counts."""

    def late(self, count: int) -> None:
        """Nobody counts."""

    def died(self, count: int) -> None:
        """Nobody counts."""

    def waiting(self, seconds: float) -> None:
        """Nobody counts."""

    def failed(self, part: str) -> None:
        """Nobody counts."""
