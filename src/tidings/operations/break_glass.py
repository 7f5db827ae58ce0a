"""Reads across all tenants in an emergency, and never without a trace.

The audit row is committed before anything is read. Then one statement runs, as the role that may only
read, in a transaction that may only read. How many rows were shown is audited afterwards; if that fails,
the first row still tells that, why and with which statement the glass was broken.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

import asyncpg

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, translated
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.ids import IdKind

BREAK_GLASS_IDS: Final = IdKind("bgl", str)
ENTITY_TYPE: Final = "break_glass"
_SHORTEST_REASON = 10


class BreakGlassError(TidingsError):
    """The statement could not be run."""

    code = "break_glass"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakGlassResult:
    """What was read."""

    #: Under which id the audit tells of it.
    id: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    #: There was more than was asked for.
    cut_off: bool


async def break_glass(
    owner_url: str,
    db: Database,
    audit: AuditLog,
    clock: Clock,
    *,
    actor: str,
    reason: str,
    sql: str,
    timeout: timedelta = timedelta(seconds=30),
    most_rows: int = 1000,
) -> BreakGlassResult:
    """Audit, then read; `db` is the runtime role's, because the owner itself may not write to the audit."""
    reason = reason.strip()
    if len(reason) < _SHORTEST_REASON:
        raise BadValueError("reason", f"must say why, in at least {_SHORTEST_REASON} characters")
    if not sql.strip():
        raise BadValueError("sql", "must be a statement")
    glass_id = BREAK_GLASS_IDS.new(clock.now())
    trace = Entry(
        entity_type=ENTITY_TYPE,
        entity_id=glass_id,
        action="opened",
        actor=actor,
        after={"statement": sql},
        reason=reason,
    )
    await _record(db, audit, trace)
    try:
        columns, rows = await _read(owner_url, sql, timeout, most_rows)
    except BreakGlassError as error:
        await _record(db, audit, replace(trace, action="failed", after={"error": str(error)}))
        raise
    shown = BreakGlassResult(
        id=glass_id, columns=columns, rows=rows[:most_rows], cut_off=len(rows) > most_rows
    )
    outcome = {"row_count": len(shown.rows), "cut_off": shown.cut_off}
    await _record(db, audit, replace(trace, action="read", after=outcome))
    return shown


async def _record(db: Database, audit: AuditLog, entry: Entry) -> None:
    async with db.platform() as tx:
        await audit.append(tx, [entry])


async def _read(
    owner_url: str, sql: str, timeout: timedelta, most_rows: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    with translated():
        connection = await asyncpg.connect(
            owner_url, timeout=10, server_settings={"application_name": "tidings break-glass"}
        )
    try:
        async with connection.transaction(readonly=True):
            await connection.execute(f"SET LOCAL statement_timeout = {timeout // timedelta(milliseconds=1)}")
            await connection.execute("SET LOCAL ROLE tidings_breakglass")
            # Prepared, so that there can be one statement only and none that follows it unseen.
            statement = await connection.prepare(sql)
            columns = tuple(attribute.name for attribute in statement.get_attributes())
            if not columns:
                raise BreakGlassError("the statement gives no rows; only reading is possible here")
            cursor = await statement.cursor()
            return columns, [tuple(row) for row in await cursor.fetch(most_rows + 1)]
    except asyncpg.PostgresError as error:
        raise BreakGlassError(f"Postgres refused the statement: {error.args[0]}") from None
    finally:
        await connection.close()
