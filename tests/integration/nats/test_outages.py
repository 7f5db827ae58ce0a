"""NATS is killed, hangs, comes back; a stream is deleted: events are late, and none is lost or applied twice."""

import asyncio
import random
from collections import defaultdict

import pytest
from structlog.testing import capture_logs

from tests.integration.nats.conftest import nats_of
from tests.support.bus import DEADLINE, BusUnderTest, Effects, quick, running
from tests.support.nats import NatsServer
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import DegradedError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.secrets import Secret

EVENTS = 10_000


async def test_a_server_killed_in_the_middle_delays_and_loses_nothing(
    killable: BusUnderTest, own_server: NatsServer, tenant_id: TenantId
) -> None:
    """`kill -9` three times during 10,000 events of 40 lanes: each is applied once, and every lane in its order."""
    tenants = [tenant_id, *(TENANT.new(killable.clock.now()) for _ in range(3))]
    counts: dict[tuple[TenantId, str], int] = defaultdict(int)
    luck = random.Random(3)

    async def write() -> None:
        for _ in range(0, EVENTS, 50):
            tenant = luck.choice(tenants)
            events = []
            for _ in range(50):
                key = f"key-{luck.randrange(10)}"
                counts[tenant, key] += 1
                events.append(killable.event(tenant, counts[tenant, key], key=key))
            await killable.commit(tenant, events)

    async def disturb() -> None:
        for share in (0.1, 0.4, 0.7):
            async with asyncio.timeout(DEADLINE * 4):
                while len(await killable.effects("group")) < EVENTS * share:
                    await asyncio.sleep(0.02)
            own_server.kill()
            await asyncio.sleep(luck.random() * 0.5)
            own_server.start()

    bus = killable.bus
    runners = [
        *(bus.relay("notification") for _ in range(2)),
        *(bus.consumer(killable.subscription(Effects("group"))) for _ in range(2)),
    ]
    async with running(bus, *runners), asyncio.timeout(DEADLINE * 6):
        await asyncio.gather(write(), disturb())
        while len(found := await killable.effects("group")) < EVENTS:
            await asyncio.sleep(0.05)

    by_lane = defaultdict(list)
    for lane, value in found:
        by_lane[lane].append(value)
    assert by_lane == {f"{tenant}/{key}": list(range(1, n + 1)) for (tenant, key), n in counts.items()}


async def test_a_server_that_hangs_is_given_up_and_taken_up_again(
    killable: BusUnderTest, own_server: NatsServer, tenant_id: TenantId
) -> None:
    """It keeps its connections and says nothing; what is published meanwhile waits in the outbox."""
    consumer = killable.bus.consumer(killable.subscription(Effects("group")))
    async with running(killable.bus, killable.bus.relay("notification"), consumer):
        await killable.publish(tenant_id, [1])
        await killable.wait_for("group", 1)
        own_server.hang()
        await killable.publish(tenant_id, [2, 3])
        with pytest.raises(DegradedError, match="events wait in the outbox"):
            async with asyncio.timeout(DEADLINE):
                while await nats_of(killable).check() is not None:
                    await asyncio.sleep(0.1)
        own_server.go_on()
        await killable.wait_for("group", 3)

    assert await killable.values("group") == [1, 2, 3]


async def test_without_a_server_events_are_written_and_wait(
    killable: BusUnderTest, own_server: NatsServer, tenant_id: TenantId
) -> None:
    """Writers notice nothing; the log has one line of it, not one for every try."""
    own_server.kill()
    consumer = killable.bus.consumer(killable.subscription(Effects("group")))
    with capture_logs() as lines:
        async with running(killable.bus, killable.bus.relay("notification"), consumer):
            await killable.publish(tenant_id, [1, 2])
            with pytest.raises(DegradedError, match="can't be reached"):
                await nats_of(killable).check()
            await asyncio.sleep(1)
            own_server.start()
            await killable.wait_for("group", 2)

    assert [line["event"] for line in lines].count("nats_away") == 1


async def test_a_process_that_cannot_reach_nats_leaves_the_group_to_those_that_can(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """It does not even ask for the lease; one that had it lets it go."""
    cut_off = NatsBus(
        under_test.database.runtime_url,
        under_test.db,
        parse_address(Secret("nats://127.0.0.1:1")),
        clock=SystemClock(),
        settings=quick(),
    )
    lonely = cut_off.consumer(under_test.subscription(Effects("group")))
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    async with running(cut_off, lonely):
        await under_test.publish(tenant_id, range(5))
        await under_test.relay()
        async with running(bus, consumer):
            await under_test.wait_for("group", 5)
    await cut_off.close()


async def test_a_stream_that_is_deleted_is_made_anew_and_said_aloud(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """What was on it and unread is lost; what comes is read by all, because its numbers go on."""
    read, unread = (bus.consumer(under_test.subscription(Effects(name))) for name in ("read", "unread"))
    await unread.register()
    await under_test.publish(tenant_id, [1, 2])
    await under_test.relay()
    await read.drain()
    await bus.stream.ask(f"STREAM.DELETE.{bus.stream.name}")
    await under_test.publish(tenant_id, [3, 4])

    with capture_logs() as lines:
        async with running(bus, bus.relay("notification"), read, unread):
            await under_test.wait_for("read", 4)
            await under_test.wait_for("unread", 2)

    (said,) = [line for line in lines if line["event"] == "bus_stream_lost"]
    assert said["log_level"] == "error"
    assert said["groups_behind"] == "unread"
    assert await under_test.values("read") == [1, 2, 3, 4]
    assert await under_test.values("unread") == [3, 4]


async def test_a_stream_deleted_under_running_readers_is_made_anew(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """Nothing is restarted."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    async with running(bus, bus.relay("notification"), consumer):
        await under_test.publish(tenant_id, [1])
        await under_test.wait_for("group", 1)
        await bus.stream.ask(f"STREAM.DELETE.{bus.stream.name}")
        await under_test.publish(tenant_id, [2])
        await under_test.wait_for("group", 2)


async def test_a_stream_that_lost_its_last_events_gives_out_no_number_twice(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """As after a power cut without fsync: readers are past those numbers, and would not see what comes under them."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    await under_test.publish(tenant_id, [1, 2, 3])
    await under_test.relay()
    await consumer.drain()
    state = await bus.stream.state()
    assert state is not None
    # The same stream, as it was when it had one event.
    await bus.stream.ask(f"STREAM.DELETE.{bus.stream.name}")
    config = {**state.config, "first_seq": state.last - 2}
    await bus.stream.ask(f"STREAM.CREATE.{bus.stream.name}", **config)
    client = await bus.connection.client()
    await client.request(f"{bus.stream.name}._.old.v1", b"{}")
    bus.stream.forget()
    await under_test.publish(tenant_id, [4, 5])

    with capture_logs() as lines:
        await under_test.relay()
        await consumer.drain()

    assert "bus_stream_lost" in {line["event"] for line in lines}
    assert await under_test.values("group") == [1, 2, 3, 4, 5]
