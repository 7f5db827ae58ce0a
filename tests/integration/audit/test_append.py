"""Appending to the audit, in the transaction of the change."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.audit.record import AuditSchema, hash_of
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PlatformTx
from tidings.kernel.errors import BadValueError, NotPermittedError
from tidings.kernel.ids import TENANT, TenantId, time_of


def entry(number: int = 0, entity_type: str = "template", **fields: object) -> Entry:
    values = {"entity_id": f"thing-{number}", "action": "changed", "actor": "key_1", **fields}
    return Entry(entity_type=entity_type, **values)  # type: ignore[arg-type]


async def test_rows_of_a_stream_are_numbered_and_linked(
    db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """Each row holds the hash of the one before, across transactions."""
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(1), entry(2)])
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(3)])

    async with db.tenant(tenant_id) as tx:
        rows = sorted(await log.read_recent(tx), key=lambda row: row.seq)

    assert [row.seq for row in rows] == [1, 2, 3]
    assert [row.prev_hash for row in rows] == [None, rows[0].record_hash, rows[1].record_hash]
    assert all(hash_of("notification", row) == row.record_hash for row in rows)
    assert all(time_of(row.id) == row.occurred_at for row in rows)


async def test_entity_types_and_tenants_are_streams_of_their_own(
    fresh_db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """Every stream counts from one; in a database of its own, because the platform's stream is shared."""
    other = TENANT.new(SystemClock().now())
    async with fresh_db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(1), entry(1, "channel"), entry(2)])
    async with fresh_db.tenant(other) as tx:
        await log.append(tx, [entry(1)])
    async with fresh_db.platform() as platform:
        await log.append(platform, [entry(1)])

    async with fresh_db.tenant(tenant_id) as tx:
        mine = await log.read_recent(tx)
    async with fresh_db.tenant(other) as tx:
        theirs = await log.read_recent(tx)
    async with fresh_db.platform() as platform:
        ours = await log.read_recent(platform)

    assert sorted((row.entity_type, row.seq) for row in mine) == [
        ("channel", 1),
        ("template", 1),
        ("template", 2),
    ]
    assert [(row.tenant_id, row.seq) for row in theirs] == [(other, 1)]
    assert [(row.tenant_id, row.seq) for row in ours] == [(None, 1)]


@pytest.mark.parametrize("schema", ["notification", "chan"])
async def test_concurrent_appenders_stand_in_one_line(
    db: Database, clock: ManualClock, tenant_id: TenantId, schema: AuditSchema
) -> None:
    """Twenty transactions at once, over two streams in either order: no gap, no fork, no deadlock."""
    log = AuditLog(schema, clock)

    async def append(number: int) -> None:
        kinds = ["policy", "route"] if number % 2 else ["route", "policy"]
        async with db.tenant(tenant_id) as tx:
            await log.append(tx, [entry(number, kind) for kind in kinds])

    await asyncio.gather(*(append(number) for number in range(20)))

    async with db.tenant(tenant_id) as tx:
        rows = sorted(await log.read_recent(tx, entity_type="policy"), key=lambda row: row.seq)
    assert [row.seq for row in rows] == list(range(1, 21))
    assert [row.prev_hash for row in rows[1:]] == [row.record_hash for row in rows[:-1]]


async def test_a_rolled_back_change_leaves_no_row(db: Database, log: AuditLog, tenant_id: TenantId) -> None:
    """The row belongs to the transaction."""
    with pytest.raises(RuntimeError):
        async with db.tenant(tenant_id) as tx:
            await log.append(tx, [entry(1)])
            raise RuntimeError
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(2)])

    async with db.tenant(tenant_id) as tx:
        rows = await log.read_recent(tx)

    assert [(row.seq, row.entity_id) for row in rows] == [(1, "thing-2")]


async def test_time_does_not_run_backwards_in_a_stream(
    db: Database, clock: ManualClock, log: AuditLog, tenant_id: TenantId
) -> None:
    """A process whose clock is behind writes at the time of the last row."""
    behind = AuditLog("notification", ManualClock(clock.now() - timedelta(minutes=3)))
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(1)])
        await behind.append(tx, [entry(2)])

        rows = await log.read_recent(tx)

    assert [row.occurred_at for row in rows] == [clock.now(), clock.now()]


async def test_personal_data_is_masked(db: Database, log: AuditLog, tenant_id: TenantId) -> None:
    """Neither fields nor free text carry an address."""
    secret = {"email": "ada@example.org", "nested": [{"body": "Dear Ada"}], "note": "call +44 20 7946 0958"}
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(1, before=secret, after=secret, reason="asked by ada@example.org")])

        (row,) = await log.read_recent(tx)

    assert row.after == '{"email":"***","nested":[{"body":"***"}],"note":"call ***"}'
    assert row.before == row.after
    assert row.reason == "asked by ***"


async def test_rows_cannot_be_changed_or_removed(
    worker_database: TestDatabase, db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """The runtime role has no right to, and the owner's attempt raises."""
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(1)])

    async with worker_database.runtime() as runtime:
        await runtime.execute("SELECT set_config('app.tenant_id', $1, false)", tenant_id)
        for statement in ("UPDATE notification.audit SET actor = 'x'", "DELETE FROM notification.audit"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await runtime.execute(statement)
    async with worker_database.owner() as owner:
        for statement in ("UPDATE notification.audit SET actor = 'x'", "DELETE FROM notification.audit"):
            transaction = owner.transaction()
            await transaction.start()
            await owner.execute("ALTER TABLE notification.audit NO FORCE ROW LEVEL SECURITY")
            with pytest.raises(asyncpg.RestrictViolationError):
                await owner.execute(statement)
            await transaction.rollback()


async def test_tenants_do_not_see_the_platforms_rows(
    db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """What the platform did is not for every tenant to read."""
    async with db.platform() as platform:
        await log.append(platform, [entry(1)])

    async with db.tenant(tenant_id) as tx:
        assert await log.read_recent(tx) == []


async def test_a_viewer_may_leave_a_trace(db: Database, log: AuditLog, tenant_id: TenantId) -> None:
    """Reading something delicate is audited, also for those who may only read."""
    async with db.tenant(tenant_id, caller_role="tenant.viewer") as tx:
        await log.append(tx, [entry(1, action="viewed")])

        assert len(await log.read_recent(tx)) == 1


@pytest.mark.parametrize("field", ["entity_id", "actor", "reason"])
@pytest.mark.parametrize("value", ["with\x00null", "\ud800", "x" * 5000])
async def test_bad_text_is_refused_by_name(
    db: Database, log: AuditLog, tenant_id: TenantId, field: str, value: str
) -> None:
    """Postgres could not store it; the message says which field."""
    async with db.tenant(tenant_id) as tx:
        with pytest.raises(BadValueError) as refused:
            await log.append(tx, [entry(1, **{field: value})])

    assert refused.value.field == field


async def test_pages_follow_each_other(db: Database, log: AuditLog, tenant_id: TenantId) -> None:
    """The last id of a page is the cursor of the next."""
    async with db.tenant(tenant_id) as tx:
        await log.append(tx, [entry(number) for number in range(7)])

        first = await log.read_recent(tx, limit=4)
        second = await log.read_recent(tx, limit=4, before=first[-1].id)

    assert len({row.id for row in [*first, *second]}) == 7


async def test_the_worker_role_sees_no_content(db: Database, log: AuditLog) -> None:
    """It may ask whose rows there are, and nothing else."""
    with pytest.raises(NotPermittedError):
        async with db.worker() as tx:
            await log.read_recent(PlatformTx.on(tx.connection))
