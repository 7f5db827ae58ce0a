"""Reads the stream from a cursor on."""

from dataclasses import dataclass

from tidings.kernel.bus import Subscription
from tidings.kernel.db import WorkerTx
from tidings.kernel.events import Event, from_row
from tidings.kernel.postgres_bus.lease import Cursor
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


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


async def read_events(tx: WorkerTx, subscription: Subscription, *, after: Cursor, limit: int) -> Batch:
    """The next stretch; it looks at `limit` events at most."""
    rows = await tx.fetch(
        _QUERIES.read_events,
        subscription,
        position=after.position,
        published_at=after.published_at,
        limit=limit,
    )
    arrivals = tuple(
        Arrival(
            position=row["position"],
            event=from_row(row),
            behind_parked=row["behind_parked"],
        )
        for row in rows
        if row["wanted"]
    )
    if not rows:
        return Batch(arrivals=(), end=after, looked_at=0)
    last = rows[-1]
    end = Cursor(position=last["position"], published_at=last["published_at"])
    return Batch(arrivals=arrivals, end=end, looked_at=last["looked_at"])
