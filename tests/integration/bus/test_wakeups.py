"""The LISTEN connection: lost, killed, or swallowed by a pooler."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from tests.support.bus import DEADLINE, BusUnderTest, Effects, running
from tests.support.postgres import TestServer
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import PostgresBus, Wakeups, WakeupSettings


async def _listening(wakeups: Wakeups) -> None:
    async with asyncio.timeout(DEADLINE):
        await wakeups.listening.wait()


async def _insist(publish: Callable[[], Awaitable[None]]) -> None:
    """As a client would; events that were committed after all are known by their ids."""
    async with asyncio.timeout(DEADLINE):
        while True:
            with contextlib.suppress(DatabaseError):
                return await publish()


async def test_each_event_wakes_an_idle_bus(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """The next look of everybody is ten minutes away: only notifications explain that the events arrive."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    async with running(bus, bus.relay("notification"), consumer):
        await _listening(bus.wakeups)
        assert bus.wakeups.poll_seconds == 600
        for value in range(10):
            await under_test.publish(tenant_id, [value])
            await under_test.wait_for("group", value + 1)


async def test_only_groups_that_want_an_event_are_woken_by_it(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """The others pass it by when they look next, for whatever reason; their place in the stream does not mind."""
    eager = bus.consumer(under_test.subscription(Effects("eager")))
    picky = bus.consumer(under_test.subscription(Effects("picky"), subjects=("rare.*.v1",)))
    async with running(bus, bus.relay("notification"), eager, picky):
        await _listening(bus.wakeups)
        await under_test.publish(tenant_id, [1])
        await under_test.wait_for("eager", 1)
        before = await _position(under_test, "picky")
        await under_test.publish(tenant_id, [2, 3])
        await under_test.wait_for("eager", 3)
        assert await _position(under_test, "picky") == before
        await under_test.publish(tenant_id, [4], subject="rare.thing.v1")
        await under_test.wait_for("picky", 1)
    assert [value for _, value in await under_test.effects("picky")] == [4]


async def _position(under_test: BusUnderTest, group: str) -> int:
    async with under_test.db.worker() as tx:
        return int(
            await tx.connection.fetchval(
                "SELECT position FROM kernel.bus_consumers WHERE group_name = $1", group
            )
        )


async def test_a_killed_listener_comes_back(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """Events go on arriving while it is away, and wake-ups come again afterwards."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    async with running(bus, bus.relay("notification"), consumer):
        await _listening(bus.wakeups)
        for value in range(3):
            async with under_test.database.runtime() as connection:
                killed = await connection.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'tidings wakeups' AND datname = current_database()"
                )
            assert len(killed) == 1
            await under_test.publish(tenant_id, [value])
            await under_test.wait_for("group", value + 1)
            await _listening(bus.wakeups)
        await under_test.publish(tenant_id, [3])
        await under_test.wait_for("group", 4)


async def test_everybody_looks_more_often_where_notifications_do_not_come(
    under_test: BusUnderTest, server: TestServer, db: Database, tenant_id: TenantId
) -> None:
    """A connection that hears nothing is found out by the proof, and is not relied on."""
    deaf_url = server.owner_url  # Another database of the same server: it listens and hears nothing.
    settings = WakeupSettings(slow_poll=600, fast_poll=0.05, check_every=0.2, check_timeout=0.2)
    wakeups = Wakeups(deaf_url, db, settings)
    bus = PostgresBus(under_test.database.runtime_url, db, clock=under_test.clock)
    bus.wakeups = wakeups
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    async with running(bus, bus.relay("notification"), consumer):
        for value in range(3):
            await under_test.publish(tenant_id, [value])
            await under_test.wait_for("group", value + 1)

    assert not wakeups.listening.is_set()
    assert wakeups.poll_seconds == 0.05


async def test_every_connection_may_be_lost_at_once(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """Relay and consumer wait it out, and nothing is lost or doubled."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    async with running(bus, bus.relay("notification"), consumer):
        for round_ in range(4):
            events = [under_test.event(tenant_id, round_ * 50 + n) for n in range(50)]
            await _insist(lambda events=events: under_test.commit(tenant_id, events))  # type: ignore[misc]
            async with under_test.database.runtime() as connection:
                await connection.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
                )
        await under_test.wait_for("group", 200)

    assert await under_test.values("group") == list(range(200))
