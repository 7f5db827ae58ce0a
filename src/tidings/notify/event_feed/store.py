"""The only Python that keeps readers' places."""

from collections.abc import Sequence
from datetime import datetime

from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.event_feed.model import EventReader

QUERIES = Queries.beside(__file__)
_reader_of = RowMapper(EventReader, [QUERIES.put_reader, QUERIES.find_reader, QUERIES.list_readers])


async def put_reader(
    tx: TenantTx,
    name: str,
    *,
    types: Sequence[str] | None,
    cursor: str,
    moves: bool,
    tests_only: bool,
    now: datetime,
) -> EventReader | None:
    """Make a reader, or change it; `moves`: to the cursor. None where one of the other environment has the name."""
    row = await tx.fetch_one(
        QUERIES.put_reader,
        name=name,
        types=None if types is None else list(types),
        cursor=cursor,
        moves=moves,
        tests_only=tests_only,
        now=now,
    )
    return _reader_of(row) if row is not None else None


async def find_reader(tx: TenantTx, name: str, *, tests_only: bool) -> EventReader | None:
    """One reader."""
    row = await tx.fetch_one(QUERIES.find_reader, name=name, tests_only=tests_only)
    return _reader_of(row) if row is not None else None


async def list_readers(tx: TenantTx, *, tests_only: bool) -> list[EventReader]:
    """All of them, by their names."""
    return [_reader_of(row) for row in await tx.fetch(QUERIES.list_readers, tests_only=tests_only)]


async def count_readers(tx: TenantTx) -> int:
    """How many the tenant has."""
    count: int = await tx.fetch_value(QUERIES.count_readers)
    return count


async def delete_reader(tx: TenantTx, name: str, *, tests_only: bool) -> bool:
    """Forget it; whether there was one."""
    return await tx.execute(QUERIES.delete_reader, name=name, tests_only=tests_only) > 0


async def all_readers(tx: WorkerTx) -> list[tuple[str, str, list[str]]]:
    """Of every tenant: whose reader it is, its name, and what it reads."""
    return [(row["tenant_id"], row["name"], row["types"]) for row in await tx.fetch(QUERIES.all_readers)]
