"""What relay and consumer need of the stream, whichever engine has it.

Everything else is the same on every engine, and in Postgres: the outbox, each group's lease and cursor, events set
aside, dead letters, and the ledger that makes an effect happen once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString, Protocol

from tidings.kernel.bus import Subscription
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A place on the stream: the last event that is done with."""

    position: int
    #: Of the event at that position; tells which days of the stream are behind.
    published_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An event at its place on the stream."""

    position: int
    event: Event
    #: An earlier event of its lane is set aside, so this one has to wait behind it.
    behind_parked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A stretch of the stream."""

    #: What the group wants of it.
    arrivals: tuple[Arrival, ...]
    #: Where the stretch ends.
    end: Cursor
    #: Events looked at, wanted or not.
    looked_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a mover did in one pass."""

    count: int
    #: The highest number of the outbox among them; 0 where there was none.
    last_seq: int
    #: How long the oldest of them had waited.
    lag_seconds: float
    #: There was more than one pass takes, or the stream did not take all.
    left_some: bool


class Mover(Protocol):
    """Moves events of one outbox to the stream, in order and without gaps."""

    async def prepare(self) -> None:
        """Before the transaction: see that the stream is there; a `BusUnavailableError` where it can't be reached."""
        ...

    async def move(self, tx: WorkerTx, *, settled: int, limit: int) -> Moved:
        """Move up to `limit` of the lowest numbers above `settled`, while `tx` holds the relays' lock."""
        ...


class StreamReader(Protocol):
    """Reads the stream for one group in this process."""

    #: Reading is bound to this process: it keeps the lease while there is nothing to read, and others stand by.
    stays: bool

    async def prepare(self) -> None:
        """Before the lease is asked for: see that the stream can be reached from here; a `BusUnavailableError` otherwise."""
        ...

    async def newest(self) -> int | None:
        """The last place on the stream, for a group that begins now; None where the engine's own table knows."""
        ...

    def is_at(self, cursor: Cursor) -> bool:
        """Whether `read` goes on from there; otherwise `open` comes first."""
        ...

    async def open(self, cursor: Cursor, wake: Wakeup) -> None:
        """Begin after that place; `wake` is set whenever something has come."""
        ...

    async def gather(self) -> None:
        """Before a set is read, outside of a transaction: let what is known to be on its way arrive, for a moment at most."""
        ...

    async def read(self, tx: WorkerTx, *, after: Cursor, limit: int) -> Batch:
        """The next stretch of what is there; it waits for nothing but the database."""
        ...

    async def done(self, end: Cursor) -> None:
        """All up to there is settled and committed."""
        ...

    async def more(self) -> bool:
        """After nothing was read: whether there is something after all, which has come by now."""
        ...

    async def close(self) -> None:
        """Read no more for now."""
        ...


class EventStream(Protocol):
    """Makes the parts of one engine."""

    def mover(self, schema: LiteralString) -> Mover:
        """For the relay of one outbox."""
        ...

    def reader(self, subscription: Subscription) -> StreamReader:
        """For the consumer of one group."""
        ...

    async def oldest_unread(
        self, db: Database, subscriptions: Sequence[Subscription]
    ) -> Mapping[str, float | None]:
        """For each group, how many seconds ago the oldest event that it has not read was published; None for none."""
        ...
