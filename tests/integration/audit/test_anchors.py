"""Signed anchors: months are closed, archived months do not alarm, and anchors can't be tampered with either."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.signers import FakeSigner
from tests.support.statements import counting
from tests.support.tampering import tampering
from tidings.kernel.audit.anchor import AnchorJob, AnchorKeeper, AuditBrokenError
from tidings.kernel.audit.chain import ChainFinding
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.audit.verify import AuditVerifier
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId

SIGNER = FakeSigner()


def partition_of(moment: datetime) -> str:
    return f"notification.audit_y{moment:%Y}m{moment:%m}"


@dataclass(frozen=True)
class Scene:
    """A log of its own and everything around it."""

    database: TestDatabase
    db: Database
    log: AuditLog
    clock: ManualClock
    keeper: AnchorKeeper
    tenant_id: TenantId

    async def append(self, count: int = 2) -> None:
        entry = Entry(entity_type="template", entity_id="tpl_1", action="changed", actor="key_1")
        async with self.db.tenant(self.tenant_id) as tx:
            await self.log.append(tx, [entry] * count)

    async def faults(self, signer: FakeSigner | None = SIGNER) -> list[ChainFinding]:
        verifier = AuditVerifier(self.db, "notification", signer, page_size=3)
        return [finding async for finding in verifier.findings()]

    async def next_month(self) -> datetime:
        """Move to noon of the 2nd of the next month; its first moment."""
        now = self.clock.now()
        first = (now.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0)
        await self.clock.advance(first + timedelta(days=1, hours=12) - now)
        return first


@pytest.fixture
def scene(
    fresh_database: TestDatabase, fresh_db: Database, log: AuditLog, clock: ManualClock, tenant_id: TenantId
) -> Scene:
    return Scene(
        database=fresh_database,
        db=fresh_db,
        log=log,
        clock=clock,
        keeper=AnchorKeeper(fresh_db, log, SIGNER, clock),
        tenant_id=tenant_id,
    )


async def test_a_finished_month_is_closed_once(scene: Scene) -> None:
    """The anchor covers its rows; a second look makes no second one."""
    await scene.append()
    assert await scene.keeper.close_finished_months() == []
    end = await scene.next_month()

    (anchor,) = await scene.keeper.close_finished_months()

    assert (anchor.kind, anchor.covers_until, anchor.stream_count, anchor.row_count) == ("month", end, 1, 2)
    assert anchor.key_id == "test-1"
    assert await scene.keeper.close_finished_months() == []
    assert await scene.faults() == []


async def test_every_month_missed_gets_an_anchor_of_its_own(scene: Scene) -> None:
    """So that each can be archived by itself."""
    await scene.append()
    await scene.next_month()
    await scene.keeper.close_finished_months()
    for _ in range(2):
        await scene.append()
        await scene.next_month()

    made = await scene.keeper.close_finished_months()

    assert [anchor.number for anchor in made] == [2, 3]
    assert [anchor.row_count for anchor in made] == [
        3,
        2,
    ]  # the first anchor's own row came with the second month
    assert await scene.faults() == []


async def test_a_month_is_not_closed_before_its_last_transactions_are_through(scene: Scene) -> None:
    """An hour of grace; an anchor on demand stops short of the month's end meanwhile."""
    await scene.append()
    end = await scene.next_month()
    early = ManualClock(end + timedelta(minutes=5))
    hasty = AnchorKeeper(scene.db, AuditLog("notification", early), SIGNER, early)

    assert await hasty.close_finished_months() == []
    demanded = await hasty.take()

    assert demanded is not None
    assert demanded.covers_until < end
    assert [anchor.covers_until for anchor in await scene.keeper.close_finished_months()] == [end]
    assert await scene.faults() == []


async def test_a_process_that_ends_does_not_wait_for_the_pauses(scene: Scene) -> None:
    """What was walked by then is not anchored: a half anchor would say that the rest was never written."""
    await scene.append()
    await scene.next_month()

    class Working(ManualClock):
        """Each look at it takes a second: its keeper is always at work."""

        seconds = 0.0

        def monotonic(self) -> float:
            self.seconds += 1.0
            return self.seconds

    restful = replace(scene.keeper, clock=Working(scene.clock.now()), rest=1_000.0)
    stop = asyncio.Event()
    closing = asyncio.create_task(restful.close_finished_months(stop))
    done, _ = await asyncio.wait({closing}, timeout=1)
    assert not done

    stop.set()

    async with asyncio.timeout(5):
        assert await closing == []
    assert len(await scene.keeper.close_finished_months()) == 1


async def test_archived_months_do_not_alarm(scene: Scene) -> None:
    """A dropped partition is vouched for by its anchor, also for a stream that ended in it."""
    first = scene.clock.now()
    await scene.append(3)
    async with scene.db.tenant(scene.tenant_id) as tx:
        ended = Entry(entity_type="channel", entity_id="ch_1", action="removed", actor="key_1")
        await scene.log.append(tx, [ended])
    await scene.next_month()
    (anchor,) = await scene.keeper.close_finished_months()
    await scene.append()
    async with scene.database.owner() as owner:
        await owner.execute(f"DROP TABLE {partition_of(first)}")
    verifier = AuditVerifier(scene.db, "notification", SIGNER)

    found = [finding async for finding in verifier.findings()]

    assert found == []
    assert verifier.progress.archived_rows == 4
    assert verifier.progress.archived_under == {anchor.id}
    await scene.append()
    await scene.next_month()
    assert len(await scene.keeper.close_finished_months()) == 1


async def test_a_month_dropped_without_an_anchor_is_named(scene: Scene) -> None:
    """Nobody vouches for it."""
    first = scene.clock.now()
    await scene.append()
    await scene.next_month()
    await scene.append()

    async with scene.database.owner() as owner:
        await owner.execute(f"DROP TABLE {partition_of(first)}")

    assert [(finding.fault, finding.seq) for finding in await scene.faults()] == [("missing", 1)]


async def test_rows_deleted_from_an_anchored_month_are_named(scene: Scene) -> None:
    """The partition is still there, so this is no archive: neither with nor without the head."""
    await scene.append()
    await scene.next_month()
    await scene.keeper.close_finished_months()

    async with tampering(scene.database) as owner:
        await owner.execute("DELETE FROM notification.audit WHERE tenant_id = $1", scene.tenant_id)
    assert [finding.fault for finding in await scene.faults()] == ["vanished"]
    async with tampering(scene.database) as owner:
        await owner.execute("DELETE FROM notification.audit_heads WHERE tenant_id = $1", scene.tenant_id)
    assert [finding.fault for finding in await scene.faults()] == ["vanished"]


@pytest.mark.parametrize(
    "disguise",
    [
        "ALTER TABLE {partition} RENAME TO audit_of_old",
        "ALTER TABLE notification.audit DETACH PARTITION {partition}; "
        "ALTER TABLE notification.audit ATTACH PARTITION {partition} FOR VALUES FROM ('{start}') TO ('{end}')",
    ],
)
async def test_a_disguised_partition_is_no_archive(scene: Scene, disguise: str) -> None:
    """Rows taken out of a signed month are missed, whatever its partition is called or how it is attached."""
    first = scene.clock.now()
    await scene.append(2)
    await scene.keeper.take()
    await scene.append(3)
    end = await scene.next_month()
    await scene.keeper.close_finished_months()
    await scene.append()

    async with tampering(scene.database) as owner:
        await owner.execute(
            "DELETE FROM notification.audit WHERE tenant_id = $1 AND seq BETWEEN 3 AND 5", scene.tenant_id
        )
        start = first - timedelta(hours=1)
        await owner.execute(disguise.format(partition=partition_of(first), start=start, end=end))

    assert [(finding.fault, finding.seq) for finding in await scene.faults()] == [("missing", 3)]


async def test_a_digest_kept_elsewhere_betrays_an_older_copy(scene: Scene) -> None:
    """Rows, head, anchor and the row that tells of the anchor are gone: the database itself is without a fault."""
    await scene.append()
    kept = await scene.keeper.take()
    assert kept is not None
    async with tampering(scene.database) as owner:
        for table in ("notification.audit", "notification.audit_heads"):
            await owner.execute(f"DELETE FROM {table}")
        await owner.execute("DELETE FROM kernel.audit_anchor_lines")
        await owner.execute("DELETE FROM kernel.audit_anchors")
    assert await scene.faults() == []

    verifier = AuditVerifier(scene.db, "notification", SIGNER, expected=[kept.digest])
    (finding,) = [found async for found in verifier.findings()]

    assert finding.fault == "anchor"
    assert "older copy" in finding.detail


async def test_a_digest_that_is_there_is_no_fault(scene: Scene) -> None:
    """Also when later anchors follow."""
    await scene.append()
    kept = await scene.keeper.take()
    await scene.next_month()
    await scene.keeper.close_finished_months()
    assert kept is not None

    verifier = AuditVerifier(scene.db, "notification", SIGNER, expected=[kept.digest])

    assert [found async for found in verifier.findings()] == []


async def test_the_newest_rows_and_their_head_can_be_cut_off_until_they_are_anchored(scene: Scene) -> None:
    """What is not detected, written down: docs/audit.md tells it, and what to do about it."""
    await scene.append(2)
    await scene.keeper.take()
    await scene.append(2)

    async with tampering(scene.database) as owner:
        await owner.execute(
            "DELETE FROM notification.audit WHERE tenant_id = $1 AND seq > 2", scene.tenant_id
        )
        await owner.execute(
            "UPDATE notification.audit_heads AS head SET seq = 2, record_hash = last.record_hash "
            "FROM notification.audit AS last WHERE last.seq = 2 AND last.tenant_id = $1 AND head.tenant_id = $1",
            scene.tenant_id,
        )

    assert await scene.faults() == []


async def test_the_job_tells_of_a_broken_log(scene: Scene) -> None:
    """So that a metric can rise and somebody is woken."""
    await scene.append()
    async with tampering(scene.database) as owner:
        await owner.execute("UPDATE notification.audit SET actor = 'x' WHERE seq = 1")
    await scene.next_month()
    stop, heard = asyncio.Event(), list[str]()

    def on_broken(log: str) -> None:
        heard.append(log)
        stop.set()

    with capture_logs() as logged:
        async with asyncio.timeout(30):
            await AnchorJob([scene.keeper], on_broken=on_broken).run(stop)

    assert heard == ["notification"]
    assert [line["event"] for line in logged] == ["audit_broken"]


async def test_a_tampered_log_is_not_signed_over(scene: Scene) -> None:
    """The anchor is refused, and the error names the row."""
    await scene.append()
    async with tampering(scene.database) as owner:
        row_id = await owner.fetchval("UPDATE notification.audit SET actor = 'x' WHERE seq = 1 RETURNING id")
    await scene.next_month()

    with pytest.raises(AuditBrokenError) as refused:
        await scene.keeper.close_finished_months()

    assert row_id in str(refused.value)
    async with scene.database.owner() as owner:
        assert await owner.fetchval("SELECT count(*) FROM kernel.audit_anchors") == 0


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE kernel.audit_anchors SET row_count = row_count + 1 WHERE number = 1", "digest"),
        ("UPDATE kernel.audit_anchors SET signature = 'test-1.forged' WHERE number = 1", "signature"),
        ("UPDATE kernel.audit_anchors SET key_id = 'other' WHERE number = 2", "another key"),
        ("DELETE FROM kernel.audit_anchors WHERE number = 1", "missing"),
        ("DELETE FROM kernel.audit_anchors WHERE number = 2", "gone"),
        ("UPDATE kernel.audit_anchor_lines SET record_hash = 'x' WHERE anchor_number = 1", "lines"),
        ("DELETE FROM kernel.audit_anchor_lines WHERE anchor_number = 1", "lines"),
    ],
)
async def test_tampered_anchors_are_named(scene: Scene, statement: str, words: str) -> None:
    """Changed, unsigned, removed in the middle or at the end, with other lines."""
    for _ in range(2):
        await scene.append()
        await scene.next_month()
        await scene.keeper.close_finished_months()
    assert await scene.faults() == []

    async with tampering(scene.database) as owner:
        await owner.execute(statement)
    found = await scene.faults()

    assert any(finding.fault == "anchor" and words in finding.detail for finding in found), found


async def test_signatures_of_a_stranger_are_not_ours(scene: Scene) -> None:
    """Whoever signed this did not have our key."""
    await scene.append()
    anchor = await scene.keeper.take()
    assert anchor is not None

    found = await scene.faults(FakeSigner(secret=b"another"))

    assert [(finding.fault, finding.id) for finding in found] == [("anchor", anchor.id)]


async def test_an_anchor_on_demand_protects_the_present_month(scene: Scene) -> None:
    """A stream cut off together with its head is missed."""
    await scene.append(4)
    anchor = await scene.keeper.take()
    assert anchor is not None
    assert anchor.row_count == 4

    async with tampering(scene.database) as owner:
        await owner.execute(
            "DELETE FROM notification.audit WHERE tenant_id = $1 AND seq > 2", scene.tenant_id
        )
        await owner.execute(
            "UPDATE notification.audit_heads AS head SET seq = 2, record_hash = last.record_hash "
            "FROM notification.audit AS last WHERE last.seq = 2 AND last.tenant_id = $1 AND head.tenant_id = $1",
            scene.tenant_id,
        )

    assert [finding.fault for finding in await scene.faults()] == ["truncated"]


async def test_nothing_is_anchored_where_nothing_was_written(scene: Scene) -> None:
    """A new installation has nothing to sign."""
    assert await scene.keeper.take() is None


async def test_tenants_that_came_after_the_month_are_not_looked_at(scene: Scene) -> None:
    """A new installation of a thousand tenants does not read all their logs to find nothing to sign."""
    later = replace(scene, tenant_id=TENANT.new(scene.clock.now()))
    await later.append()

    with counting(scene.db) as asked:
        assert await scene.keeper.close_finished_months() == []
    streams_of = [text for text in asked.texts if "in_rows (entity_type)" in text]
    assert len(streams_of) == 1, "the platform's own, and nobody else's"

    await scene.next_month()
    (anchor,) = await scene.keeper.close_finished_months()
    assert anchor.row_count == 2


async def test_anchoring_rests_between_tenants(scene: Scene) -> None:
    """It takes its share of a core, however many there are."""
    for _ in range(3):
        await replace(scene, tenant_id=TENANT.new(scene.clock.now() - timedelta(days=60))).append()
    await scene.next_month()
    slept: list[float] = []

    class Clock(ManualClock):
        def monotonic(self) -> float:
            slept.append(1.0)
            return float(len(slept)) / 1000

    clock = Clock(scene.clock.now())
    began = asyncio.get_running_loop().time()
    (anchor,) = await AnchorKeeper(scene.db, scene.log, SIGNER, clock, rest=20.0).close_finished_months()

    assert anchor.stream_count == 3
    # Four walks, of a millisecond each by that clock.
    assert asyncio.get_running_loop().time() - began >= 4 * 20 * 0.001
