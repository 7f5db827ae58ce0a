"""The record of what was applied: `kernel.schema_migrations` and its log."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import asyncpg

from tidings.kernel.sql import Queries, Query
from tidings.operations.migrations.discover import Migration
from tidings.operations.migrations.release import Release

_QUERIES = Queries.beside(__file__)
_TABLES = Path(__file__).parent / "ledger_tables.sql"
Action = Literal["started", "resumed", "applied", "reverted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One migration as the database remembers it."""

    number: int
    slug: str
    phase: str
    checksum: str
    started_at: datetime
    #: None while it is half-applied.
    finished_at: datetime | None
    #: How many statements need not be run again.
    statements_done: int
    applied_by: str
    #: Time spent in statements, over all runs.
    duration: timedelta
    #: The oldest release that works on it; None when only the releases that know it do.
    oldest_release: Release | None = None

    @property
    def name(self) -> str:
        """`0012_pre_add_lease`, as it was called when it was applied."""
        return f"{self.number:04}_{self.phase}_{self.slug}"

    def allows(self, release: Release) -> bool:
        """Whether a release that does not know this migration works on it."""
        return self.oldest_release is not None and self.oldest_release <= release


async def create_ledger(connection: asyncpg.Connection) -> None:
    """Make the two tables where they, or a column of theirs, are missing."""
    if await _value(connection, _QUERIES.ledger_is_complete):
        return
    async with connection.transaction():
        await connection.execute(_TABLES.read_text(encoding="utf-8"))


async def read_ledger(connection: asyncpg.Connection) -> list[LedgerRow]:
    """All rows in order; none when the database was never migrated."""
    if not await _value(connection, _QUERIES.ledger_exists):
        return []
    query = _QUERIES.read_ledger
    return [_row(dict(row)) for row in await connection.fetch(query.text)]


async def record_start(connection: asyncpg.Connection, migration: Migration, *, by: str) -> None:
    """Note that a file is under way."""
    await _run(
        connection,
        _QUERIES.record_start,
        migration,
        applied_by=by,
        oldest_release=str(migration.oldest_release) if migration.oldest_release else None,
    )


async def record_progress(connection: asyncpg.Connection, number: int, *, done: int, took: timedelta) -> None:
    """Note how far a file has come."""
    await _run(connection, _QUERIES.record_progress, number=number, statements_done=done, took=took)


async def record_finish(connection: asyncpg.Connection, migration: Migration, *, by: str) -> None:
    """Note that a file is applied."""
    await _run(connection, _QUERIES.record_finish, number=migration.number, applied_by=by)
    await log_action(connection, "applied", migration, by=by)


async def record_reopening(connection: asyncpg.Connection, number: int) -> None:
    """Note that a file is being undone step by step, and no longer applied as a whole."""
    await _run(connection, _QUERIES.record_reopening, number=number)


async def forget(connection: asyncpg.Connection, migration: Migration, *, by: str, reason: str) -> None:
    """Note that a file was undone, by which operator and why."""
    await _run(connection, _QUERIES.forget, number=migration.number)
    await log_action(connection, "reverted", migration, by=by, reason=reason)


async def log_action(
    connection: asyncpg.Connection,
    action: Action,
    migration: Migration,
    *,
    by: str,
    reason: str | None = None,
) -> None:
    """Append to the log."""
    await _run(connection, _QUERIES.log_action, migration, action=action, by=by, reason=reason)


def _row(values: dict[str, Any]) -> LedgerRow:
    named = values.pop("oldest_release")
    return LedgerRow(**values, oldest_release=Release.parse(named) if named else None)


async def _run(connection: asyncpg.Connection, query: Query, *sources: object, **values: Any) -> None:
    await connection.execute(query.text, *query.arguments(values, *sources))


async def _value(connection: asyncpg.Connection, query: Query) -> Any:
    return await connection.fetchval(query.text)
