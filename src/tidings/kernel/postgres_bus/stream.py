"""The stream in Postgres: `kernel.bus_events`, read from a cursor on."""

from collections.abc import Sequence
from typing import LiteralString

from tidings.kernel.bus import Subscription
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.events import from_row
from tidings.kernel.postgres_bus.event_stream import Arrival, Batch, Cursor
from tidings.kernel.postgres_bus.mover import PostgresMover
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


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


class PostgresReader:
    """Reads with every look at the database; it keeps nothing."""

    stays = False

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription

    async def prepare(self) -> None:
        """The stream is where the lease is."""

    async def newest(self) -> None:
        """The statement that registers the group knows."""

    def is_at(self, cursor: Cursor) -> bool:  # noqa: ARG002
        """It is wherever it is asked to read."""
        return True

    async def open(self, cursor: Cursor, wake: Wakeup) -> None:
        """Needs nothing: the relay's notification wakes the consumer."""

    async def gather(self) -> None:
        """All of it is here already."""

    async def read(self, tx: WorkerTx, *, after: Cursor, limit: int) -> Batch:
        """The next stretch."""
        return await read_events(tx, self._subscription, after=after, limit=limit)

    async def done(self, end: Cursor) -> None:
        """The cursor says it."""

    async def more(self) -> bool:
        """What was not there was not there."""
        return False

    async def close(self) -> None:
        """Nothing is open."""


class PostgresStream:
    """The parts of the stream in Postgres."""

    def mover(self, schema: LiteralString) -> PostgresMover:
        """For the relay of one outbox."""
        return PostgresMover(schema)

    def reader(self, subscription: Subscription) -> PostgresReader:
        """For the consumer of one group."""
        return PostgresReader(subscription)

    async def oldest_unread(
        self, db: Database, subscriptions: Sequence[Subscription]
    ) -> dict[str, float | None]:
        """How old the next event is that each group has to look at, whether it will want it or not."""
        async with db.worker() as tx:
            return {one.group: await tx.fetch_value(_QUERIES.oldest_unread, one) for one in subscriptions}
