"""The move from an outbox to the stream."""

import asyncio
import itertools

import pytest

from tests.support.bus import DEADLINE, BusUnderTest, quick, running
from tidings.kernel.bus import BusObserver, SubjectFilter
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import PostgresBus, Relay, RelaySettings, Wakeups, WakeupSettings
from tidings.kernel.postgres_bus.settled import SettledMark
from tidings.kernel.postgres_bus.wakeups import Rest


class FailureEar(BusObserver):
    """Hears who failed."""

    def __init__(self) -> None:
        self.failures: set[str] = set()
        self.heard = asyncio.Event()

    def failed(self, part: str) -> None:
        self.failures.add(part)
        self.heard.set()


async def _stream(under_test: BusUnderTest, tenant_id: TenantId) -> list[tuple[int, str]]:
    async with under_test.database.runtime() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        rows = await connection.fetch("SELECT position, payload FROM kernel.bus_events ORDER BY position")
    return [(row["position"], row["payload"]) for row in rows]


async def _outbox_rows(under_test: BusUnderTest) -> int:
    async with under_test.database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        count: int = await connection.fetchval("SELECT count(*) FROM notification.outbox")
    return count


async def test_events_are_moved_in_the_order_of_their_numbers(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """Across sets and transactions; nothing stays behind in the outbox."""
    for start in range(0, 250, 50):
        await under_test.publish(tenant_id, range(start, start + 50))

    assert await under_test.relay() == 250

    stream = await _stream(under_test, tenant_id)
    assert [payload for _, payload in stream] == [f'{{"value":{value}}}' for value in range(250)]
    assert await _outbox_rows(under_test) == 0


async def test_two_relays_of_two_outboxes_share_one_order(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """A reader that follows the stream while several relays write never meets a position below one it has seen."""
    outboxes = [Outbox("notification"), Outbox("chan"), Outbox("bff_backoffice")]
    seen: list[int] = []

    async def write(outbox: Outbox) -> None:
        for value in range(60):
            async with under_test.db.tenant(tenant_id) as tx:
                await outbox.append(tx, [under_test.event(tenant_id, value, key=outbox.schema)])

    async def read() -> None:
        async with under_test.database.runtime() as connection:
            while len(seen) < 180:
                async with connection.transaction():
                    await connection.execute("SET LOCAL ROLE tidings_worker")
                    rows = await connection.fetch(
                        "SELECT position FROM kernel.bus_events WHERE position > $1 ORDER BY position",
                        seen[-1] if seen else 0,
                    )
                seen.extend(row["position"] for row in rows)
                await asyncio.sleep(0)

    relays = [bus.relay(outbox.schema) for outbox in outboxes for _ in range(2)]
    async with asyncio.timeout(DEADLINE), running(bus, *relays):
        await asyncio.gather(read(), *(write(outbox) for outbox in outboxes))

    assert len(await _stream(under_test, tenant_id)) == len(seen) == 180


async def test_what_vacuum_may_not_take_is_not_waded_through(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """While a transaction forbids vacuum to clean up, the relay starts above what it has moved."""
    relay = bus.relay("notification")
    async with under_test.database.owner() as reader:
        await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await reader.fetchval("SELECT txid_current()")
        floors = []
        for _ in range(3):
            await under_test.publish(tenant_id, range(10))
            await relay.drain()
            floors.append(relay.settled.floor)

    assert floors[0] < floors[1] < floors[2]


async def test_a_slow_writer_keeps_the_floor_down(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """A number that was taken and is not yet visible is still found, however late it commits."""
    relay = bus.relay("notification")
    async with under_test.db.tenant(tenant_id) as slow:
        await under_test.outbox.append(slow, [under_test.event(tenant_id, 0)])
        for value in range(1, 6):
            await under_test.publish(tenant_id, [value])
            await relay.drain()
    await relay.drain()

    stream = await _stream(under_test, tenant_id)
    assert [payload for _, payload in stream] == [f'{{"value":{value}}}' for value in (1, 2, 3, 4, 5, 0)]


async def test_a_number_below_the_floor_is_found_all_the_same(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """A replica that took over may give out numbers that its predecessor had given out: late, not never."""
    relays = [
        Relay(
            under_test.db,
            "notification",
            wakeups=under_test.bus.wakeups,  # type: ignore[attr-defined]
            clock=SystemClock(),
            settings=RelaySettings(look_down_every=seconds),
        )
        for seconds in (3600.0, 0.0)
    ]
    seldom, always = relays
    await seldom.drain()
    for relay in relays:
        relay.settled = SettledMark(floor=2**40)
    await under_test.publish(tenant_id, [1])

    assert await seldom.drain() == 0
    assert await always.drain() == 1


async def test_writers_notify_only_while_the_relay_rests(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """NOTIFY makes commits wait for each other, so an awake relay is not called."""
    heard: list[str] = []
    relay = bus.relay("notification")
    async with under_test.database.runtime() as listener:
        await listener.add_listener("tidings_outbox", lambda *args: heard.append(args[3]))
        await under_test.publish(tenant_id, [1])
        await listener.fetchval("SELECT 1")
        assert heard == []

        async with running(bus, relay):
            async with asyncio.timeout(DEADLINE):
                # It may rise for a moment between our look and the insert, and need not be called then.
                for number in itertools.count(2):
                    await _until_somebody_rests(under_test)
                    await under_test.publish(tenant_id, [number])
                    await asyncio.sleep(0.2)
                    await listener.fetchval("SELECT 1")
                    if heard:
                        break

    assert set(heard) == {"notification"}


async def test_what_is_committed_just_before_the_rest_is_not_overslept(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """The writer saw the relay awake and called nobody; the next look is ten minutes away."""
    late = [1, 2, 3]

    class LateWriter(Wakeups):
        async def rest(self, outbox: str) -> Rest:
            if late and self.listening.is_set():
                await under_test.publish(tenant_id, [late.pop()])
            return await super().rest(outbox)

    bus = PostgresBus(under_test.database.runtime_url, under_test.db, clock=SystemClock())
    settings = WakeupSettings(slow_poll=600, fast_poll=0.02)
    bus.wakeups = LateWriter(under_test.database.runtime_url, under_test.db, settings)
    async with running(bus, bus.relay("notification")), asyncio.timeout(DEADLINE):
        while len(await _stream(under_test, tenant_id)) < 3:
            await asyncio.sleep(0.01)


async def test_a_day_without_a_partition_stops_nothing_for_good(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """Events wait in the outbox until somebody has made it; meanwhile the failure is told."""
    ear = FailureEar()
    relay = Relay(
        under_test.db,
        "notification",
        wakeups=under_test.bus.wakeups,  # type: ignore[attr-defined]
        clock=SystemClock(),
        observer=ear,
        settings=RelaySettings(longest_outage_pause=0.05),
    )
    async with under_test.database.owner() as owner:
        today, bounds = await owner.fetchrow(
            "SELECT c.oid::regclass::text, pg_get_expr(c.relpartbound, c.oid) FROM pg_class c "
            "JOIN pg_inherits ON inhrelid = c.oid WHERE inhparent = 'kernel.bus_events'::regclass "
            'AND c.relname LIKE \'%\' || to_char(now(), \'"y"YYYY"m"MM"d"DD\')'
        )
        await owner.execute(f"ALTER TABLE kernel.bus_events DETACH PARTITION {today}")
        async with running(relay):
            await under_test.publish(tenant_id, [1])
            async with asyncio.timeout(DEADLINE):
                await ear.heard.wait()
            assert ear.failures == {"relay_notification"}
            assert await _outbox_rows(under_test) == 1
            await owner.execute(f"ALTER TABLE kernel.bus_events ATTACH PARTITION {today} {bounds}")
            async with asyncio.timeout(DEADLINE):
                while not await _stream(under_test, tenant_id):
                    await asyncio.sleep(0.01)

    assert await _outbox_rows(under_test) == 0


async def test_the_relay_tells_how_much_and_how_late(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """The observer hears the outbox, the count and the wait of the oldest."""
    told: list[tuple[str, int, float]] = []

    class Ear(BusObserver):
        def relayed(self, outbox: str, count: int, lag_seconds: float) -> None:
            told.append((outbox, count, lag_seconds))

    bus = PostgresBus(under_test.database.runtime_url, under_test.db, clock=SystemClock(), observer=Ear())
    await under_test.publish(tenant_id, [1, 2, 3])

    await bus.relay("notification").drain()

    assert [(outbox, count) for outbox, count, _ in told] == [("notification", 3)]
    assert told[0][2] >= 0


@pytest.mark.parametrize("layout", ["one process", "two processes"])
async def test_a_reader_outside_who_waits_has_events_moved_at_once(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId, layout: str
) -> None:
    """Whichever process has the relay. Without one a set is gathered for an hour here, and it is again when the last one is gone."""
    hour = RelaySettings(gather=3600, courtesy=3600, stand_by=0.01)
    elsewhere = PostgresBus(
        under_test.database.runtime_url, under_test.db, clock=SystemClock(), settings=quick()
    )
    beside = bus if layout == "one process" else elsewhere
    relay = Relay(under_test.db, "notification", wakeups=beside.wakeups, clock=SystemClock(), settings=hour)
    async with running(bus, elsewhere):
        with bus.feed.listen(tenant_id, SubjectFilter((">",))):
            await _until(under_test, awaited=True)
            async with running(relay):
                for count in range(1, 6):
                    await under_test.publish(tenant_id, [count])
                    async with asyncio.timeout(DEADLINE):
                        while len(await _stream(under_test, tenant_id)) < count:
                            await asyncio.sleep(0.01)
                    await _until_somebody_rests(under_test)
        await _until(under_test, awaited=False)


async def test_readers_who_wait_hold_nobody_up_who_gathers_under_load(
    under_test: BusUnderTest, bus: PostgresBus
) -> None:
    """The longer events keep coming the longer a set is gathered, and never longer than without a reader."""
    relay = Relay(under_test.db, "notification", wakeups=bus.wakeups, clock=SystemClock())
    settings = RelaySettings()
    prompt = settings.prompt()
    apart = Relay(under_test.db, "notification", wakeups=bus.wakeups, clock=SystemClock(), settings=prompt)

    pauses = [relay.pause_after(moves, awaited=True) for moves in range(1, 2_000)]

    assert pauses[0] == settings.awaited
    assert pauses == sorted(pauses)
    assert pauses[-1] == settings.awaited_under_load < relay.pause_after(1, awaited=False)
    assert apart.pause_after(2_000, awaited=True) == prompt.gather


async def _until(under_test: BusUnderTest, *, awaited: bool) -> None:
    """Until it is known in the database whether somebody waits."""
    async with asyncio.timeout(DEADLINE), under_test.database.runtime() as connection:
        while True:
            found = await connection.fetchval(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7411004 AND granted "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            if bool(found) is awaited:
                return
            await asyncio.sleep(0.01)


async def _until_somebody_rests(under_test: BusUnderTest) -> None:
    async with asyncio.timeout(DEADLINE), under_test.database.runtime() as connection:
        while not await connection.fetchval(
            "SELECT EXISTS (SELECT FROM pg_locks JOIN pg_database d ON d.oid = database "
            "WHERE locktype = 'advisory' AND classid = 7411001 AND mode = 'ExclusiveLock' "
            "AND granted AND d.datname = current_database())"
        ):
            await asyncio.sleep(0.01)
