"""Moves events from an outbox to the stream in Postgres: one statement deletes them there and inserts them here."""

from functools import cache
from typing import LiteralString

from tidings.kernel.bus import BusMovedError
from tidings.kernel.db import WorkerTx
from tidings.kernel.postgres_bus.event_stream import Moved
from tidings.kernel.sql import Queries


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


class PostgresMover:
    """The mover of one outbox."""

    def __init__(self, schema: LiteralString) -> None:
        self._queries = _queries(schema)

    async def prepare(self) -> None:
        """The stream is where the outbox is."""

    async def move(self, tx: WorkerTx, *, settled: int, limit: int) -> Moved:
        """Move the lowest numbers above `settled`, and commit."""
        tx.commit_with_next()
        row = await tx.fetch_one(self._queries.move_events, settled=settled, limit=limit)
        assert row is not None  # noqa: S101  # an aggregate always has one row
        if row["engine"] != "postgres":
            raise BusMovedError(
                "the stream of this database is on NATS: set TIDINGS_BUS_URL to it for this process, or move the stream "
                "back with `tidings bus move --to postgres:`; events wait in the outbox"
            )
        return Moved(
            count=row["count"],
            last_seq=row["last_seq"],
            lag_seconds=row["lag_seconds"],
            left_some=row["count"] >= limit,
        )
