"""What waits is seen, days that are dropped are passed over, and clocks may be wrong."""

import asyncio
from datetime import UTC, datetime, timedelta

from tests.support.bus import DEADLINE, BusUnderTest, Effects, postgres_bus
from tests.support.postgres import TestDatabase
from tidings.kernel.bus import BusObserver, Subscription
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.events import envelope_of
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import PostgresBus
from tidings.operations.partitions import drop_old, make_missing


class Ear(BusObserver):
    def __init__(self) -> None:
        self.outboxes: dict[str, float] = {}
        self.groups: dict[str, float] = {}
        self.failures = 0
        self.fourth = asyncio.Event()

    def waiting(self, outbox: str, seconds: float) -> None:
        self.outboxes[outbox] = seconds

    def behind(self, group: str, seconds: float) -> None:
        self.groups[group] = seconds

    def failed(self, part: str) -> None:
        self.failures += 1
        if self.failures == 4:
            self.fourth.set()


async def test_what_waits_is_seen_by_somebody_who_does_not_move_it(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """First in the outbox, then on the stream, and then no more."""
    ear = Ear()
    bus = PostgresBus(under_test.database.runtime_url, under_test.db, clock=SystemClock(), observer=ear)
    relay, consumer = bus.relay("notification"), bus.consumer(under_test.subscription(Effects("group")))
    await consumer.register()
    await bus.backlog.look()
    assert (ear.outboxes, ear.groups) == ({"notification": 0.0}, {"group": 0.0})

    await under_test.publish(tenant_id, [1])
    await bus.backlog.look()
    assert ear.outboxes["notification"] > 0
    assert ear.groups == {"group": 0.0}

    await relay.drain()
    await bus.backlog.look()
    assert ear.outboxes == {"notification": 0.0}
    assert ear.groups["group"] > 0

    await consumer.drain()
    await bus.backlog.look()
    assert ear.groups == {"group": 0.0}


async def test_a_clock_that_is_set_back_hides_nothing(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """The last event read is of tomorrow, by a clock that was wrong; the next one is of today."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    await consumer.drain()
    async with under_test.database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        await connection.execute(
            "UPDATE kernel.bus_consumers SET published_at = published_at + INTERVAL '20 hours'"
        )

    await under_test.publish(tenant_id, [2])
    await under_test.relay()
    await consumer.drain()

    assert await under_test.values("group") == [1, 2]


async def test_a_group_whose_place_was_dropped_goes_on_with_what_is_kept(
    fresh_database: TestDatabase, fresh_db: Database, tenant_id: TenantId
) -> None:
    """It has been away for too long: the dropped day is missed, and nothing after it."""
    now = datetime.now(UTC)
    async with fresh_database.owner() as owner:
        await make_missing(owner, now - timedelta(days=9))
        async with postgres_bus(fresh_database, fresh_db, SystemClock()) as under_test:
            consumer = under_test.bus.consumer(under_test.subscription(Effects("group")))
            await consumer.drain()
            for position, days, value in ((1, 9, 1), (2, 8.9, 2)):
                await _place(under_test, tenant_id, position, now - timedelta(days=days), value)
            await owner.execute("SELECT setval('kernel.bus_positions', 2)")
            async with fresh_db.worker() as tx:
                await tx.connection.execute(
                    "UPDATE kernel.bus_consumers SET position = 1, published_at = $1",
                    now - timedelta(days=9),
                )

            assert await drop_old(owner, now)
            await under_test.publish(tenant_id, [3])
            await under_test.relay()
            await consumer.drain()

            assert await under_test.values("group") == [3]


async def test_an_outage_without_events_at_hand_speaks_against_no_event(under_test: BusUnderTest) -> None:
    """However long it lasts; it is told each time, with pauses in between."""
    ear = Ear()
    away = Database(under_test.database.runtime_url.replace("127.0.0.1", "127.0.0.2"))
    away._pool._open = True
    bus = PostgresBus(under_test.database.runtime_url, away, clock=SystemClock(), observer=ear)
    consumer = bus.consumer(
        Subscription(group="group", subjects=(">",), ledger="notification", on_tenant_events=Effects("group"))
    )
    stop = asyncio.Event()
    running = asyncio.create_task(consumer.run(stop))
    async with asyncio.timeout(DEADLINE):
        await ear.fourth.wait()
    stop.set()
    await running

    assert consumer._outages == 0


async def _place(
    under_test: BusUnderTest, tenant_id: TenantId, position: int, at: datetime, value: int
) -> None:
    event = under_test.event(tenant_id, value)
    async with under_test.db.worker() as tx:
        await tx.connection.execute(
            "INSERT INTO kernel.bus_events (position, published_at, id, tenant_id, subject, ordering_key, payload, envelope) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            position,
            at,
            event.id,
            tenant_id,
            event.subject,
            event.ordering_key,
            event.data,
            envelope_of(event),
        )
