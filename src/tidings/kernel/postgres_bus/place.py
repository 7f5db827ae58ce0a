"""Which engine has the stream of this database."""

from dataclasses import dataclass
from typing import Literal

from tidings.kernel.db import WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlace:
    """Where the stream is. Places on it are one line of numbers, whichever engine gives them out."""

    engine: Literal["postgres", "nats"]
    #: The first place with NATS; those before it are in Postgres.
    first_position: int
    #: The last place that NATS has confirmed.
    last_position: int
    #: What the stream on NATS says whose it is.
    stream_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlace:
    """How far a consumer group has come."""

    group: str
    position: int
    #: Events that are set aside.
    parked: int
    #: The process that reads for it now.
    reader: str | None


async def groups_places(tx: WorkerTx) -> list[GroupPlace]:
    """All groups, by name."""
    return [_group_from_row(row) for row in await tx.fetch(_QUERIES.groups)]


async def find_place(tx: WorkerTx) -> StreamPlace:
    """Where it is now."""
    row = await tx.fetch_one(_QUERIES.place)
    assert row is not None  # noqa: S101  # the migration wrote it
    return _from_row(row)


_from_row = RowMapper(StreamPlace, [_QUERIES.place])
_group_from_row = RowMapper(GroupPlace, [_QUERIES.groups])
