"""One process dies or sleeps, another one goes on."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.bus import DEADLINE, BusUnderTest, Effects, running
from tidings.kernel.bus import BusObserver
from tidings.kernel.bus_url import open_bus
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import ConsumerSettings, PostgresBus, PostgresBusSettings
from tidings.kernel.postgres_bus.event_stream import Cursor
from tidings.kernel.postgres_bus.lease import LeaseLostError, advance_cursor, claim_lease, renew_lease
from tidings.kernel.secrets import Secret

_PROCESS = Path(__file__).with_name("consumer_process.py")


class Ear(BusObserver):
    def __init__(self) -> None:
        self.taken_over: list[str] = []

    def took_over(self, group: str) -> None:
        self.taken_over.append(group)


async def test_a_killed_process_is_taken_over_without_loss_or_double_effect(
    on_each_engine: BusUnderTest, tenant_id: TenantId
) -> None:
    """kill -9 in the middle of a set: what it had committed counts, what it had not is done again."""
    under_test, ear = on_each_engine, Ear()
    url = under_test.database.runtime_url
    bus = open_bus(Secret(under_test.url), url, under_test.db, clock=SystemClock(), observer=ear)
    await under_test.publish(tenant_id, range(200))
    await under_test.relay()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(_PROCESS),
        under_test.database.runtime_url,
        "group",
        "130",
        under_test.url,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path.cwd(),
        env={"PYTHONPATH": ".:src", "PATH": ""},
    )
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE):
        # A line of the log may come before it.
        while await process.stdout.readline() != b"hanging\n":
            assert process.returncode is None
    assert await under_test.values("group") == list(range(120))
    process.kill()
    await process.wait()

    survivor = bus.consumer(under_test.subscription(Effects("group")))
    async with running(bus, survivor):
        await under_test.wait_for("group", 200)
    await bus.close()

    assert await under_test.values("group") == list(range(200))
    assert ear.taken_over == ["group"]


async def test_a_cursor_that_was_lost_does_nothing_twice(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """Delivered again from the beginning, every event is known to the ledger."""
    group = Effects("group")
    consumer = bus.consumer(under_test.subscription(group))
    await under_test.publish(tenant_id, range(250))
    await under_test.relay()
    await consumer.drain()
    async with under_test.database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        await connection.execute("UPDATE kernel.bus_consumers SET position = 0, published_at = 'epoch'")
    calls = group.calls

    assert await consumer.drain() == 0

    assert group.calls == calls
    assert await under_test.values("group") == list(range(250))


async def test_an_owner_that_overslept_changes_nothing(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """Its epoch is old: it can neither move the cursor nor renew."""
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    await bus.consumer(under_test.subscription(Effects("group"), start="now")).register()  # a later start
    await under_test.publish(tenant_id, [2])
    await under_test.relay()
    now = SystemClock().now()
    async with under_test.db.worker() as tx:
        first = await claim_lease(tx, group="group", owner="first", lease=timedelta(0), now=now)
    async with under_test.db.worker() as tx:
        second = await claim_lease(tx, group="group", owner="second", lease=timedelta(minutes=1), now=now)
    async with under_test.db.worker() as tx:
        third = await claim_lease(tx, group="group", owner="third", lease=timedelta(minutes=1), now=now)

    assert first is not None
    assert second is not None
    assert third is not None
    assert first.granted is not None
    assert second.granted is not None
    assert second.from_another
    assert third.granted is None
    assert third.held_seconds is not None
    old, new = first.granted[0], second.granted[0]
    ahead = Cursor(position=10**9, published_at=now)
    async with under_test.db.worker() as tx:
        assert not await renew_lease(tx, old, lease=timedelta(minutes=1))
    with pytest.raises(LeaseLostError):
        async with under_test.db.worker() as tx:
            await advance_cursor(tx, old, to=ahead, lease=timedelta(minutes=1))
    async with under_test.db.worker() as tx:
        assert await renew_lease(tx, new, lease=timedelta(minutes=1))


async def test_an_owner_that_lost_its_lease_in_a_handler_lets_go(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """It finishes the transaction at hand and leaves the rest to the new owner."""
    settings = PostgresBusSettings(consumer=ConsumerSettings(lease=timedelta(seconds=60), tenants_at_once=1))
    bus = PostgresBus(under_test.database.runtime_url, under_test.db, clock=SystemClock(), settings=settings)
    await under_test.publish(tenant_id, [1])
    await under_test.publish(other_tenant, [2])
    await under_test.relay()

    async def steal(_: object) -> None:
        async with under_test.db.worker() as tx:
            await tx.execute(_steal)

    from tidings.kernel.sql import Query

    _steal = Query(
        name="steal",
        why="As if the lease had run out.",
        text="UPDATE kernel.bus_consumers SET owner = 'thief', epoch = epoch + 1, lease_until = now()",
        parameters=(),
    )
    robbed = bus.consumer(under_test.subscription(Effects("group", before_commit=steal)))
    heir = bus.consumer(under_test.subscription(Effects("group")))

    with pytest.raises(LeaseLostError):
        await robbed.drain()
    await heir.drain()

    assert sorted(await under_test.values("group")) == [1, 2]


async def test_an_event_that_brings_the_connection_down_is_set_aside(
    under_test: BusUnderTest, db: Database, tenant_id: TenantId
) -> None:
    """An outage is nobody's fault, until it comes with the same events again and again."""

    async def crash(_: object) -> None:
        async with under_test.database.runtime() as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                "AND state = 'idle in transaction' AND application_name = 'tidings'"
            )

    group = Effects("group", before_commit=crash)
    consumer = under_test.bus.consumer(under_test.subscription(group))
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    async with running(consumer), asyncio.timeout(DEADLINE):
        while not await _parked(under_test):
            await asyncio.sleep(0.02)

    assert await under_test.values("group") == []


async def _parked(under_test: BusUnderTest) -> int:
    async with under_test.database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        count: int = await connection.fetchval("SELECT count(*) FROM kernel.bus_parked")
    return count
