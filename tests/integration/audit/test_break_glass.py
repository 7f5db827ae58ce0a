"""Breaking the glass: a trace first, then reading, and nothing but reading."""

import json
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.audit.record import AuditRow
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.operations.break_glass import BreakGlassError, BreakGlassResult, break_glass

REASON = "customer locked out, ticket 4711"


class Emergency:
    """Somebody with the owner's URL and a question."""

    def __init__(self, database: TestDatabase, db: Database, log: AuditLog, clock: ManualClock) -> None:
        self._database = database
        self._db = db
        self._log = log
        self._clock = clock

    async def ask(
        self, sql: str, *, reason: str = REASON, most_rows: int = 10, timeout: float = 5
    ) -> BreakGlassResult:
        return await break_glass(
            self._database.owner_url,
            self._db,
            self._log,
            self._clock,
            actor="ops",
            reason=reason,
            sql=sql,
            most_rows=most_rows,
            timeout=timedelta(seconds=timeout),
        )

    async def trace(self) -> list[AuditRow]:
        async with self._db.platform() as platform:
            rows = await self._log.read_recent(platform, entity_type="break_glass")
        return sorted(rows, key=lambda row: row.seq)


@pytest.fixture
def emergency(
    fresh_database: TestDatabase, fresh_db: Database, log: AuditLog, clock: ManualClock
) -> Emergency:
    return Emergency(fresh_database, fresh_db, log, clock)


async def test_all_tenants_are_read_and_it_is_written_down(
    emergency: Emergency, fresh_db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """Who, why, with which statement, and how many rows were shown."""
    async with fresh_db.tenant(tenant_id) as tx:
        await log.append(tx, [Entry(entity_type="x1", entity_id="a", action="made", actor="k")])

    shown = await emergency.ask("SELECT tenant_id, actor FROM notification.audit WHERE tenant_id IS NOT NULL")

    assert shown.columns == ("tenant_id", "actor")
    assert shown.rows == [(tenant_id, "k")]
    opened, read = await emergency.trace()
    assert (opened.action, opened.actor, opened.reason) == ("opened", "ops", REASON)
    assert "FROM notification.audit" in (opened.after or "")
    assert (read.action, read.entity_id) == ("read", shown.id)
    assert json.loads(read.after or "") == {"row_count": 1, "cut_off": False}


@pytest.mark.parametrize("reason", ["", "   short   ", "123456789"])
async def test_without_a_reason_nothing_is_read(emergency: Emergency, reason: str) -> None:
    """And nothing is written: it did not happen."""
    with pytest.raises(BadValueError) as refused:
        await emergency.ask("SELECT 1", reason=reason)

    assert refused.value.field == "reason"
    assert await emergency.trace() == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM notification.tenants_local RETURNING *",
        "CREATE TABLE kernel.mine (a int)",
        "SELECT 1; SELECT 2",
        "RESET ROLE",
        "SELECT nextval('kernel.lease_fences')",
        "SELECT nonsense",
        "SELECT pg_sleep(10)",
        "WITH gone AS (DELETE FROM kernel.hot_seen RETURNING *) SELECT * FROM gone",
    ],
)
async def test_anything_but_one_quick_reading_statement_is_refused(emergency: Emergency, sql: str) -> None:
    """And the attempt is written down."""
    with pytest.raises(BreakGlassError):
        await emergency.ask(sql, timeout=0.2)

    assert [row.action for row in await emergency.trace()] == ["opened", "failed"]


async def test_more_rows_than_asked_for_are_cut_off(emergency: Emergency) -> None:
    """And it is said so."""
    shown = await emergency.ask("SELECT generate_series(1, 1000)", most_rows=3)

    assert (len(shown.rows), shown.cut_off) == (3, True)


async def test_addresses_in_the_statement_are_not_kept(emergency: Emergency) -> None:
    """The audit has no address, not even the one that was looked for."""
    await emergency.ask("SELECT 'ada@example.org' AS looked_for")

    assert all("ada@" not in (row.after or "") for row in await emergency.trace())
