"""`AuditVerifier` over a real log: whatever the owner does to it behind our back is named."""

import asyncio
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.audit_rows import sealed
from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.tampering import tampering
from tidings.kernel.audit.chain import ChainFinding
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.audit.record import COLUMNS, AuditRow
from tidings.kernel.audit.verify import AuditVerifier
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import AUDIT, TENANT, AuditId, TenantId

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM notification.audit WHERE tenant_id = $1 ORDER BY seq"


def entries(count: int, entity_type: str = "template") -> list[Entry]:
    return [
        Entry(
            entity_type=entity_type,
            entity_id=f"thing-{number}",
            action="changed",
            actor="key_1",
            after={"n": number},
        )
        for number in range(count)
    ]


async def append(db: Database, log: AuditLog, tenant_id: TenantId, count: int) -> list[AuditId]:
    async with db.tenant(tenant_id) as tx:
        return await log.append(tx, entries(count))


async def faults(db: Database, tenant_id: TenantId | None, *, page_size: int = 1000) -> list[ChainFinding]:
    verifier = AuditVerifier(db, "notification", None, page_size=page_size)
    return [finding async for finding in verifier.findings_of(tenant_id)]


async def all_faults(db: Database) -> list[ChainFinding]:
    return [finding async for finding in AuditVerifier(db, "notification", None, page_size=3).findings()]


async def test_a_whole_log_has_no_fault_and_everything_is_counted(fresh_db: Database, log: AuditLog) -> None:
    """Many tenants, several streams, small pages."""
    tenants = [TENANT.new(SystemClock().now()) for _ in range(7)]
    for tenant in tenants:
        async with fresh_db.tenant(tenant) as tx:
            await log.append(tx, [*entries(4), *entries(2, "channel")])
    async with fresh_db.platform() as platform:
        await log.append(platform, entries(5))
    verifier = AuditVerifier(fresh_db, "notification", None, page_size=3)

    found = [finding async for finding in verifier.findings()]

    assert found == []
    progress = verifier.progress
    assert (progress.tenants, progress.streams, progress.rows) == (7, 15, 47)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
async def test_any_altered_column_is_named(
    worker_database: TestDatabase, db: Database, log: AuditLog, data: st.DataObject
) -> None:
    """One changed value in one row: that row is named, by its id."""
    tenant = TENANT.new(SystemClock().now())
    ids = await append(db, log, tenant, data.draw(st.integers(1, 6)))
    victim = data.draw(st.sampled_from(ids))
    change = data.draw(
        st.sampled_from(
            [
                "actor = actor || 'x'",
                "action = 'removed'",
                "entity_id = 'other'",
                "before = '{}'",
                "after = NULL",
                "after = after || ' '",
                "ip_hash = 'sha256:00'",
                "user_agent_hash = ''",
                "trace_id = 'x'",
                "reason = ''",
                "occurred_at = occurred_at + interval '1 microsecond'",
                f"record_hash = '{'0' * 64}'",
            ]
        )
    )

    async with tampering(worker_database) as owner:
        await owner.execute(f"UPDATE notification.audit SET {change} WHERE id = $1", victim)
    found = await faults(db, tenant, page_size=2)

    assert [(finding.fault, finding.id) for finding in found] == [("altered", victim)]


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
async def test_any_deleted_row_is_missed(
    worker_database: TestDatabase, db: Database, log: AuditLog, data: st.DataObject
) -> None:
    """Anywhere in the stream, also at its end, also all of it."""
    tenant = TENANT.new(SystemClock().now())
    ids = await append(db, log, tenant, data.draw(st.integers(1, 6)))
    gone = data.draw(st.sets(st.sampled_from(ids), min_size=1))

    async with tampering(worker_database) as owner:
        await owner.execute("DELETE FROM notification.audit WHERE id = ANY ($1)", list(gone))
    found = await faults(db, tenant, page_size=2)

    assert {finding.fault for finding in found} <= {"missing", "truncated", "vanished"}
    assert min(finding.seq or 0 for finding in found) == 1 + min(ids.index(each) for each in gone)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
async def test_any_two_swapped_rows_are_named(
    fresh_database: TestDatabase, fresh_db: Database, log: AuditLog, data: st.DataObject
) -> None:
    """Both, as re-ordered."""
    tenant = TENANT.new(SystemClock().now())
    ids = await append(fresh_db, log, tenant, data.draw(st.integers(2, 6)))
    one, other = data.draw(st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True))

    async with tampering(fresh_database) as owner:
        await owner.execute("ALTER TABLE notification.audit DROP CONSTRAINT IF EXISTS ck_audit_first")
        places = {
            row["id"]: row["seq"]
            for row in await owner.fetch(
                "SELECT id, seq FROM notification.audit WHERE id IN ($1, $2)", one, other
            )
        }
        await owner.execute("UPDATE notification.audit SET seq = 1000000 WHERE id = $1", one)
        await owner.execute("UPDATE notification.audit SET seq = $2 WHERE id = $1", other, places[one])
        await owner.execute("UPDATE notification.audit SET seq = $2 WHERE id = $1", one, places[other])
    found = await faults(fresh_db, tenant)

    assert {(finding.fault, finding.id) for finding in found} == {("reordered", one), ("reordered", other)}


async def test_a_forged_row_at_the_end_is_named(
    worker_database: TestDatabase, db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """Its own hash is right and it follows from the last one; the head does not know it."""
    await append(db, log, tenant_id, 3)
    async with tampering(worker_database) as owner:
        last = AuditRow.from_row((await owner.fetch(_SELECT, tenant_id))[-1])
        forged_id = AUDIT.new(last.occurred_at)
        forged = sealed(replace(last, seq=4, id=forged_id, prev_hash=last.record_hash, actor="key_2"))
        await owner.execute(
            f"INSERT INTO notification.audit ({', '.join(COLUMNS)}) "
            f"VALUES ({', '.join(f'${n}' for n in range(1, len(COLUMNS) + 1))})",
            *(getattr(forged, name) for name in COLUMNS),
        )

    (finding,) = await faults(db, tenant_id)

    assert (finding.fault, finding.id) == ("head", forged_id)


async def test_rows_moved_to_another_tenant_are_named_in_both(
    worker_database: TestDatabase, db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """One misses them, the other has rows that are not its own."""
    other = TENANT.new(SystemClock().now())
    ids = await append(db, log, tenant_id, 2)

    async with tampering(worker_database) as owner:
        await owner.execute("UPDATE notification.audit SET tenant_id = $1 WHERE id = $2", other, ids[1])

    assert [finding.fault for finding in await faults(db, tenant_id)] == ["truncated"]
    assert "altered" in {finding.fault for finding in await faults(db, other)}


async def test_rows_without_head_of_an_unknown_tenant_are_found(
    fresh_database: TestDatabase, fresh_db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """Verification asks the rows themselves whose they are."""
    await append(fresh_db, log, tenant_id, 2)
    async with tampering(fresh_database) as owner:
        await owner.execute("DELETE FROM notification.audit_heads")

    (finding,) = await all_faults(fresh_db)

    assert (finding.tenant_id, finding.fault) == (tenant_id, "head")


async def test_a_tenant_that_cannot_be_one_is_named(
    fresh_database: TestDatabase, fresh_db: Database, log: AuditLog, tenant_id: TenantId
) -> None:
    """Rows can't hide behind an id that no transaction may take."""
    await append(fresh_db, log, tenant_id, 1)
    async with tampering(fresh_database) as owner:
        await owner.execute("UPDATE notification.audit SET tenant_id = 'nobody'")

    found = await all_faults(fresh_db)

    assert {(finding.tenant_id, finding.fault) for finding in found} == {
        ("nobody", "forged"),
        (tenant_id, "vanished"),
    }


async def test_verifying_while_others_write_finds_nothing(
    db: Database, clock: ManualClock, log: AuditLog, tenant_id: TenantId
) -> None:
    """An honest log is never under suspicion, however busy it is."""

    async def write() -> None:
        for _ in range(15):
            await append(db, log, tenant_id, 3)

    writers = asyncio.gather(*(write() for _ in range(3)))
    found: list[ChainFinding] = []
    while not writers.done():
        found += await faults(db, tenant_id, page_size=20)
    await writers

    assert found == []
    verifier = AuditVerifier(db, "notification", None)
    assert [finding async for finding in verifier.findings_of(tenant_id)] == []
    assert verifier.progress.rows == 3 * 15 * 3
