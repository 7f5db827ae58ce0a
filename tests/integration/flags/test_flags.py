"""Flags: who wins, who is told, and what is written down."""

import asyncio
import json
from datetime import timedelta

import asyncpg
import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.invalidation import InvalidationJob
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import BadValueError
from tidings.kernel.flags.flags import FLAGS_CHANNEL, FLAGS_PAYLOAD, Flags
from tidings.kernel.flags.registry import Flag
from tidings.kernel.ids import TENANT, TenantId

OFF = Flag(key="test.off", description="Off unless it is set.", default=False)
ON = Flag(key="test.on", description="On unless it is set.", default=True)
REGISTRY = {flag.key: flag for flag in (OFF, ON)}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


def flags_on(db: Database, clock: ManualClock) -> Flags:
    return Flags(db, AuditLog("notification", clock), clock, registry=REGISTRY)


@pytest.fixture
def flags(fresh_db: Database, clock: ManualClock) -> Flags:
    return flags_on(fresh_db, clock)


async def test_the_default_holds_until_somebody_sets_it(flags: Flags, tenant_id: TenantId) -> None:
    """As it was declared."""
    assert not await flags.enabled(OFF, tenant_id)
    assert await flags.enabled(ON)


async def test_a_tenants_own_switch_wins(flags: Flags, tenant_id: TenantId) -> None:
    """Over the platform's, which wins over the default; taken away, the next one holds again."""
    other = TENANT.new(SystemClock().now())
    await flags.set("test.off", enabled=True, actor="ops", reason="cut-over")
    await flags.set("test.off", enabled=False, tenant_id=tenant_id, actor="ops", reason="they asked")

    assert [await flags.enabled(OFF, each) for each in (tenant_id, other, None)] == [False, True, True]

    assert await flags.unset("test.off", tenant_id=tenant_id, actor="ops", reason="done")
    assert await flags.enabled(OFF, tenant_id)
    assert await flags.unset("test.off", actor="ops", reason="done")
    assert not await flags.enabled(OFF, tenant_id)
    assert not await flags.unset("test.off", actor="ops", reason="done")


async def test_a_share_of_the_tenants(flags: Flags) -> None:
    """About that many, always the same, and only ever more as the share grows."""
    tenants = [TENANT.new(SystemClock().now()) for _ in range(400)]
    on: list[set[TenantId]] = []
    for percentage in (0, 25, 60, 100):
        await flags.set("test.off", enabled=True, percentage=percentage, actor="ops", reason="roll out")
        on.append({tenant for tenant in tenants if await flags.enabled(OFF, tenant)})

    assert on[0] <= on[1] <= on[2] <= on[3]
    assert (len(on[0]), len(on[3])) == (0, 400)
    assert 50 < len(on[1]) < 150
    assert 180 < len(on[2]) < 300


async def test_every_change_is_audited_with_it(
    fresh_db: Database, clock: ManualClock, flags: Flags, tenant_id: TenantId
) -> None:
    """What it was, what it is, who and why; a tenant's in the tenant's own audit."""
    log = AuditLog("notification", clock)
    await flags.set("test.off", enabled=True, tenant_id=tenant_id, actor="ops", reason="try it")
    await flags.set("test.off", enabled=False, tenant_id=tenant_id, actor="ops", reason="too early")
    await flags.unset("test.off", tenant_id=tenant_id, actor="ops", reason="over")
    await flags.set("test.on", enabled=False, actor="ops", reason="for all")

    async with fresh_db.tenant(tenant_id) as tx:
        rows = sorted(await log.read_recent(tx, entity_type="feature_flag"), key=lambda row: row.seq)
    async with fresh_db.platform() as platform:
        (general,) = await log.read_recent(platform, entity_type="feature_flag")

    assert [(row.action, row.entity_id, row.reason) for row in rows] == [
        ("set", "test.off", "try it"),
        ("set", "test.off", "too early"),
        ("unset", "test.off", "over"),
    ]
    assert json.loads(rows[1].before or "") == {"enabled": True, "percentage": None}
    assert json.loads(rows[1].after or "") == {"enabled": False, "percentage": None}
    assert general.entity_id == "test.on"


async def test_another_process_sees_a_change_when_its_knowledge_is_old(
    fresh_database: TestDatabase, fresh_db: Database, clock: ManualClock, flags: Flags
) -> None:
    """Not at every question, but within the time that was promised."""
    other_db = Database(fresh_database.runtime_url)
    await other_db.open()
    other = flags_on(other_db, clock)
    assert not await other.enabled(OFF)
    await flags.set("test.off", enabled=True, actor="ops", reason="cut-over")

    early = await other.enabled(OFF)
    await clock.advance(timedelta(seconds=10))
    late = await other.enabled(OFF)
    await other_db.close()

    assert (early, late) == (False, True)


async def test_another_process_is_told_by_notify(
    fresh_database: TestDatabase, fresh_db: Database, clock: ManualClock, flags: Flags
) -> None:
    """It reads anew without waiting; the clock does not move here."""
    other_db = Database(fresh_database.runtime_url)
    await other_db.open()
    other, wake, stop = flags_on(other_db, clock), Wakeup(), asyncio.Event()

    def heard(*heard: object) -> None:
        assert heard[2:] == (FLAGS_CHANNEL, FLAGS_PAYLOAD)
        wake.set()

    async with fresh_database.runtime() as listener:
        assert isinstance(listener, asyncpg.Connection)
        await listener.add_listener(FLAGS_CHANNEL, heard)
        job = asyncio.create_task(InvalidationJob(wake, other).run(stop))
        assert not await other.enabled(OFF)

        await flags.set("test.off", enabled=True, actor="ops", reason="cut-over")

        async with asyncio.timeout(10):
            while not await other.enabled(OFF):
                await asyncio.sleep(0.01)
        stop.set()
        await job
        await listener.remove_listener(FLAGS_CHANNEL, heard)
    await other_db.close()


async def test_without_the_database_the_last_knowledge_serves(
    fresh_database: TestDatabase, clock: ManualClock, flags: Flags
) -> None:
    """A decision a moment old is better than none."""
    await flags.set("test.off", enabled=True, actor="ops", reason="cut-over")
    other_db = Database(fresh_database.runtime_url)
    await other_db.open()
    other = flags_on(other_db, clock)
    assert await other.enabled(OFF)

    await other_db.close()
    await clock.advance(timedelta(minutes=5))

    assert await other.enabled(OFF)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"key": "test.of", "enabled": True}, "key"),
        ({"key": "test.off", "enabled": True, "percentage": 101}, "percentage"),
        ({"key": "test.off", "enabled": False, "percentage": 50}, "percentage"),
        ({"key": "test.off", "enabled": True, "reason": " "}, "reason"),
    ],
)
async def test_nonsense_is_refused_by_name(flags: Flags, values: dict[str, object], field: str) -> None:
    """And a misspelt flag is told what it may have meant."""
    with pytest.raises(BadValueError) as refused:
        await flags.set(**{"actor": "ops", "reason": "why", **values})  # type: ignore[arg-type]

    assert refused.value.field == field
    if field == "key":
        assert "test.off" in str(refused.value)


async def test_a_tenants_switch_is_not_seen_or_written_by_another(
    fresh_database: TestDatabase, flags: Flags, tenant_id: TenantId
) -> None:
    """The database keeps them apart."""
    await flags.set("test.off", enabled=True, tenant_id=tenant_id, actor="ops", reason="try it")

    async with fresh_database.runtime() as runtime:
        await runtime.execute(
            "SELECT set_config('app.tenant_id', $1, false)", TENANT.new(SystemClock().now())
        )
        assert await runtime.fetchval("SELECT count(*) FROM kernel.feature_flags") == 0
        assert await runtime.execute("DELETE FROM kernel.feature_flags") == "DELETE 0"
