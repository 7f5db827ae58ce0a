"""The job beside the sends: it looks until it is told to stop, whatever the database does meanwhile."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from tests.integration.router.traffic.world import TrafficWorld
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state import LocalHotState
from tidings.router.traffic import store
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.evaluation import CircuitChange
from tidings.router.traffic.job import TrafficJob
from tidings.router.traffic.observe import TrafficObserver
from tidings.router.traffic.settings import TrafficSettings
from tidings.router.traffic.traffic_state import AccountCircuit
from tidings.router.traffic.vendor_selection import VendorSelection


class Looks(TrafficObserver):
    """Says when somebody has looked."""

    def __init__(self) -> None:
        self.seen: asyncio.Queue[Sequence[AccountCircuit]] = asyncio.Queue()
        self.changes: list[tuple[str, str]] = []

    def circuits(self, barred: Sequence[AccountCircuit]) -> None:
        self.seen.put_nowait(barred)

    def changed(self, vendor: str, state: str) -> None:
        self.changes.append((vendor, state))


class FallingChanger(TrafficChanger):
    """Falls for one account."""

    falls_for = ""

    async def change_circuit(self, change: CircuitChange) -> bool:
        if change.before.account_id == self.falls_for:
            raise DatabaseUnavailableError("away")
        return await super().change_circuit(change)


async def test_it_looks_until_it_is_told_to_stop(world: TrafficWorld) -> None:
    looks, stop = Looks(), asyncio.Event()
    quick = TrafficSettings(look_every=timedelta(milliseconds=5))
    clock = SystemClock()
    traffic = VendorSelection(LocalHotState(world.db, clock).limits, clock=clock, settings=quick)
    job = TrafficJob(world.db, traffic, world.changer, clock=clock, observer=looks)
    running = asyncio.create_task(job.run(stop))
    await looks.seen.get()

    traffic.observe(world.accounts["http_a"].id, prefix="+93", ok=0, failed=20, seconds=1, slow=False)
    mine: list[str] = []
    while not mine:
        mine = [one.vendor for one in await looks.seen.get() if one.tenant_id == world.tenant_id]
    stop.set()
    await asyncio.wait_for(running, 10)

    assert mine == ["http_a"]
    assert ("http_a", "OPEN") in looks.changes


async def test_one_account_that_cannot_be_written_keeps_no_other_from_its_turn(
    world: TrafficWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = world.process("one")
    changer = FallingChanger(world.db, audit=world.audit, outbox=world.outbox, clock=world.clock)
    monkeypatch.setattr(FallingChanger, "falls_for", world.accounts["http_a"].id)
    one.job.changer = changer
    one.sees("http_a", failed=20)
    one.sees("http_b", failed=20)

    await world.passes(1, one)

    barred = {known.vendor for known in one.traffic.barred() if known.tenant_id == world.tenant_id}
    assert barred == {"http_b"}
    monkeypatch.setattr(FallingChanger, "falls_for", "")
    await world.passes(1, one)
    barred = {known.vendor for known in one.traffic.barred() if known.tenant_id == world.tenant_id}
    assert barred == {"http_a", "http_b"}


async def test_old_counts_are_swept(fresh_db: Database, tenant_id: TenantId) -> None:
    world = TrafficWorld(fresh_db, tenant_id)
    await world.with_accounts("http_a")
    one = world.process("one")
    one.sees("http_a", ok=5, failed=1)
    await world.passes(1, one)

    async def rows() -> int:
        async with fresh_db.worker() as tx:
            return int(await tx.connection.fetchval("SELECT count(*) FROM chan.circuit_counts"))

    assert await rows() == 1
    await world.passes(4 * 60, one)
    assert await rows() == 1
    await world.passes(2 * 60, one)
    assert await rows() == 0


async def test_a_healthy_house_reads_no_sums(fresh_db: Database, tenant_id: TenantId) -> None:
    world = TrafficWorld(fresh_db, tenant_id)
    await world.with_accounts("http_a")
    one = world.process("one")
    one.sees("http_a", ok=500)
    await world.passes(1, one)

    async with fresh_db.worker() as tx:
        assert await store.read_sums(tx, since=world.clock.now() - timedelta(minutes=1)) == []


async def test_the_platforms_own_trouble_is_told_to_the_platform(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    """One of its accounts opens for all tenants; the audit row and the event are its own."""
    world = TrafficWorld(fresh_db, tenant_id)
    async with fresh_db.platform() as tx:
        await world.configs.configure_platform(
            tx, [ConfigureAccount(vendor="http_a", secret_ref="file://x")], actor="test"
        )
    await world.look_up_accounts()
    one, other = world.process("one"), world.process("other")
    one.sees("http_a", failed=20)
    await world.passes(1, one, other)

    assert [known.vendor for known in other.traffic.barred()] == ["http_a"]
    assert await world.events() == []
    assert await world.audit_rows("circuit_breaker") == []
    async with fresh_db.platform() as tx:
        rows = await world.audit.read_recent(tx, entity_type="circuit_breaker")
    async with fresh_db.worker() as worker:
        told = await worker.connection.fetch("SELECT tenant_id, subject FROM chan.outbox")
    assert [row.action for row in rows] == ["opened"]
    assert [(row["tenant_id"], row["subject"]) for row in told] == [(None, "channel.degraded.v1")]


async def test_limits_of_an_account_hold_across_processes(world: TrafficWorld) -> None:
    async with world.db.tenant(world.tenant_id) as tx:
        command = ConfigureAccount(vendor="http_a", secret_ref="file://x", per_second=10, per_day=25)
        await world.configs.configure(tx, [command], actor="test")
    await world.look_up_accounts()
    account = world.accounts["http_a"]
    processes = [world.process(f"p{n}") for n in range(3)]

    counts = []
    for _ in range(4):
        found = await asyncio.gather(*(process.traffic.admit([(account, 7)]) for process in processes))
        counts.append(sum(admitted.count for (admitted,) in found))
        await world.clock.advance(timedelta(seconds=1))

    assert counts == [10, 10, 5, 0]
