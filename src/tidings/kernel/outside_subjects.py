"""What other systems publish on the broker: the port over which it is read, whichever broker that is.

A message is acknowledged when its effect is committed, and comes again until then; so whoever reads has to know repeats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tidings.kernel.errors import TidingsError


class OutsideSubjectError(TidingsError):
    """The broker does not let this subject be read as it is."""

    code = "subject_not_readable"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideInterest:
    """What is to be read, and from where on."""

    #: Who reads: the broker keeps its place under this name.
    id: str
    #: What operators call it; shown on the broker.
    name: str
    subject: str
    #: Messages since then; None: all that the broker has.
    since: datetime | None
    #: How far it was read before, and where, for the case that the broker has forgotten it.
    stream: str | None = None
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideMessage:
    """A message as it came."""

    subject: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)
    #: Its place on the stream.
    position: int
    #: Where it is acknowledged.
    reply: str


class OutsideReading(Protocol):
    """The one who reads, as long as its connection lives."""

    #: Where the messages are kept.
    stream: str
    #: Tidings made that stream, because there was none.
    own_stream: bool
    #: Messages that were not sent yet when the broker last said so.
    waiting: int

    async def take(self) -> list[OutsideMessage]:
        """The next messages, in their order, as soon as there are some; a `BusUnavailableError` where it can't go on."""
        ...

    async def settle(self, *, done: Sequence[OutsideMessage], refused: Sequence[OutsideMessage]) -> None:
        """These have had their effect, and those never will; neither comes again."""
        ...

    async def close(self) -> None:
        """Give back what was not taken."""
        ...


class OutsideSubjects(Protocol):
    """The broker, seen by those who read what others publish there."""

    def check(self, subject: str) -> None:
        """A `BadValueError` for what is no subject, or is none of others."""
        ...

    async def locate(self, subject: str) -> str | None:
        """The stream that keeps these messages; None where one has to be made, an `OutsideSubjectError` where none can be read."""
        ...

    async def prepare(self, interest: OutsideInterest) -> None:
        """From now on the broker keeps these messages until they are read."""
        ...

    async def open(self, interest: OutsideInterest) -> OutsideReading:
        """Read; nobody else may do so under the same id at the same time, or the order is lost."""
        ...

    async def remove(self, interest: OutsideInterest) -> None:
        """Forget its place, and a stream that was made for it."""
        ...
