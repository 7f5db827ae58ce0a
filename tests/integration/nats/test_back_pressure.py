"""A group that is slow: what is sent to it ahead is bounded, and it is told what it is behind."""

import asyncio

from tests.support.bus import DEADLINE, BusUnderTest, Effects, quick, running
from tests.support.hanging_proxy import HangingProxy
from tests.support.nats import NatsServer
from tidings.kernel.bus import BusObserver
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.secrets import Secret

_BATCH = 50


class _Ear(BusObserver):
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def behind(self, group: str, seconds: float) -> None:
        self.seconds[group] = seconds


async def test_a_slow_group_holds_a_few_sets_and_no_more(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """5,000 events wait at the server, four sets of 50 are on their way; then all are applied, in order."""
    go_on = asyncio.Event()
    group = Effects("group")

    async def wait(_: object) -> None:
        await go_on.wait()

    group.before_commit = wait
    slow = NatsBus(
        under_test.database.runtime_url,
        under_test.db,
        bus.connection.address,
        clock=SystemClock(),
        settings=quick(batch=_BATCH),
    )
    for start in range(0, 5_000, 500):
        await under_test.publish(tenant_id, range(start, start + 500))
    await under_test.relay()
    consumer = slow.consumer(under_test.subscription(group))
    async with running(slow, consumer):
        async with asyncio.timeout(DEADLINE):
            while group.calls == 0:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        info = await bus.stream.ask(f"CONSUMER.INFO.{bus.stream.name}.group")
        assert info["num_ack_pending"] <= info["config"]["max_ack_pending"] == 4 * _BATCH
        assert info["num_ack_pending"] <= 3 * _BATCH
        assert info["num_pending"] >= 5_000 - 4 * _BATCH
        assert await under_test.effects("group") == []
        go_on.set()
        await under_test.wait_for("group", 5_000)
    await slow.close()

    assert await under_test.values("group") == list(range(5_000))


async def test_a_group_that_nobody_reads_for_is_seen_to_be_behind(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """By its cursor and the events that it wants; those that it does not want don't count."""
    ear = _Ear()
    watching = NatsBus(
        under_test.database.runtime_url,
        under_test.db,
        bus.connection.address,
        clock=SystemClock(),
        observer=ear,
    )
    for name, subject in {"wants": "thing.>", "others": "other.>"}.items():
        consumer = watching.consumer(under_test.subscription(Effects(name), subjects=(subject,)))
        await consumer.register()
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    await asyncio.sleep(0.01)

    await watching.backlog.look()
    assert ear.seconds["others"] == 0
    assert ear.seconds["wants"] > 0
    await watching.consumer(under_test.subscription(Effects("wants"))).drain()
    await watching.backlog.look()
    assert ear.seconds == {"others": 0, "wants": 0}
    await watching.close()


async def test_a_set_waits_for_what_the_server_says_is_on_its_way(
    nats_server: NatsServer, under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """Over a connection on which each event comes by itself, forty that wait are one set all the same."""
    proxy = await HangingProxy.start("127.0.0.1", nats_server.port)
    slow = NatsBus(
        under_test.database.runtime_url,
        under_test.db,
        parse_address(Secret(f"nats://127.0.0.1:{proxy.port}?prefix={bus.stream.name}")),
        clock=SystemClock(),
        settings=quick(batch=_BATCH),
    )
    await under_test.publish(tenant_id, range(40))
    await under_test.relay()
    group = Effects("group")
    consumer = slow.consumer(under_test.subscription(group))
    await slow.stream.ensure()
    proxy.piece = 400

    async with running(slow, consumer):
        await under_test.wait_for("group", 40)
        proxy.piece = None

    assert group.calls == 1
    assert await under_test.values("group") == list(range(40))
    await slow.close()
    await proxy.stop()


async def test_what_was_said_to_come_and_does_not_is_not_waited_for_for_long(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """The rest is purged while the reader has the lease: what was there is applied, and what comes later too."""
    group = Effects("group")
    slow = NatsBus(
        under_test.database.runtime_url,
        under_test.db,
        bus.connection.address,
        clock=SystemClock(),
        settings=quick(batch=5),
    )
    purged = asyncio.Event()

    async def purge(_: object) -> None:
        if not purged.is_set():
            await bus.stream.ask(f"STREAM.PURGE.{bus.stream.name}")
            purged.set()

    group.before_commit = purge
    await under_test.publish(tenant_id, range(200))
    await under_test.relay()
    async with running(slow, slow.consumer(under_test.subscription(group)), bus.relay("notification")):
        async with asyncio.timeout(DEADLINE):
            await purged.wait()
            await under_test.publish(tenant_id, [1_000])
            while 1_000 not in await under_test.values("group"):
                await asyncio.sleep(0.02)
    await slow.close()


async def test_an_acknowledgement_comes_after_the_commit(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """The durable consumer shows an operator where the group is."""
    await under_test.publish(tenant_id, range(10))
    await under_test.relay()
    await bus.consumer(under_test.subscription(Effects("group"))).drain()

    async with asyncio.timeout(DEADLINE):
        while True:
            info = await bus.stream.ask(f"CONSUMER.INFO.{bus.stream.name}.group")
            if info["num_ack_pending"] == 0:
                break
            await asyncio.sleep(0.01)
    assert info["config"]["durable_name"] == "group"
    assert info["num_pending"] == 0
