"""A cluster of three servers, and a user with no more rights than it needs."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.bus import DEADLINE, BusUnderTest, Effects, emptied, quick, running
from tests.support.free_port import free_port
from tests.support.nats import NatsServer, running_nats
from tests.support.postgres import TestDatabase
from tidings.kernel.bus import EVERYTHING
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.outbox import Outbox
from tidings.kernel.secrets import Secret

EVENTS = 3_000
LANES = 20


@contextmanager
def _cluster() -> Iterator[list[NatsServer]]:
    routes = [free_port() for _ in range(3)]
    with tempfile.TemporaryDirectory(prefix="tidings-nats-") as folder:
        servers = []
        for number, port in enumerate(routes):
            config = (
                f"server_name: n{number}\n"
                f'cluster {{ name: c, listen: "127.0.0.1:{port}", '
                f"routes: [{', '.join(f'nats://127.0.0.1:{one}' for one in routes)}] }}"
            )
            place = Path(folder) / str(number)
            place.mkdir()
            servers.append(NatsServer(place, config=config))
        try:
            for server in servers:
                server.start()
            yield servers
        finally:
            for server in servers:
                server.kill()


def _bus(url: str, database: TestDatabase, db: Database) -> BusUnderTest:
    clock = SystemClock()
    bus = NatsBus(
        database.runtime_url, db, parse_address(Secret(url)), clock=clock, settings=quick(batch=200)
    )
    return BusUnderTest(
        bus=bus, db=db, database=database, clock=clock, outbox=Outbox("notification"), url=url
    )


async def _ready(bus: NatsBus) -> None:
    """A new cluster needs some seconds until it has leaders."""
    async with asyncio.timeout(DEADLINE * 2):
        while True:
            try:
                await bus.stream.ensure()
            except TidingsError:
                await asyncio.sleep(0.2)
            else:
                return


async def _leader(bus: NatsBus) -> int:
    while True:
        try:
            answer = await bus.stream.ask("STREAM.INFO.cluster")
            return int(answer["cluster"]["leader"][1:])
        except (TidingsError, KeyError):
            await asyncio.sleep(0.1)


async def test_the_leader_of_the_stream_is_killed_in_the_middle(
    worker_database: TestDatabase, db: Database, tenant_id: TenantId
) -> None:
    """Sets are cut off anywhere, by a leader that dies with them: each event is applied once, lanes in their order."""
    with _cluster() as servers:
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
        under_test = _bus(f"nats://{hosts}?replicas=3&prefix=cluster", worker_database, db)
        bus = under_test.bus
        assert isinstance(bus, NatsBus)
        async with emptied(worker_database):
            await _ready(bus)
            consumer = bus.consumer(under_test.subscription(Effects("group")))

            async def write() -> None:
                for start in range(0, EVENTS, 100):
                    events = [
                        under_test.event(tenant_id, n // LANES, key=f"key-{n % LANES}")
                        for n in range(start, start + 100)
                    ]
                    await under_test.commit(tenant_id, events)

            async def disturb() -> None:
                for share in (0.2, 0.6):
                    while len(await under_test.effects("group")) < EVENTS * share:
                        await asyncio.sleep(0.05)
                    leader = servers[await _leader(bus)]
                    leader.kill()
                    await asyncio.sleep(1)
                    leader.start()

            async with running(bus, bus.relay("notification"), consumer), asyncio.timeout(DEADLINE * 6):
                await asyncio.gather(write(), disturb())
                while len(found := await under_test.effects("group")) < EVENTS:
                    await asyncio.sleep(0.05)
            await bus.close()

    by_lane = defaultdict(list)
    for lane, value in found:
        by_lane[lane].append(value)
    assert len(by_lane) == LANES
    assert set(map(tuple, by_lane.values())) == {tuple(range(EVENTS // LANES))}


async def test_the_rights_that_the_docs_name_are_enough(
    worker_database: TestDatabase, db: Database, tenant_id: TenantId
) -> None:
    """For relay, consumer, backlog and feed; a call that is refused would be an error or a silence here."""
    config = (
        "authorization { users: ["
        '{ user: "tidings", password: "p", permissions: { publish: ["$JS.API.>", "$JS.ACK.>", "house.>"],'
        ' subscribe: ["_INBOX_house.>"] } }'
        "] }"
    )
    with running_nats(config=config, login="tidings:p@") as server:
        under_test = _bus(server.url(prefix="house").reveal(), worker_database, db)
        bus = under_test.bus
        assert isinstance(bus, NatsBus)
        async with emptied(worker_database):
            consumer = bus.consumer(under_test.subscription(Effects("group")))
            after = await bus.feed.cursor("now")
            async with running(bus, bus.relay("notification"), consumer):
                with bus.feed.listen(tenant_id, EVERYTHING) as called:
                    await under_test.publish(tenant_id, [1, 2])
                    await under_test.wait_for("group", 2)
                    async with asyncio.timeout(DEADLINE):
                        await called.wait()
            page = await bus.feed.read(tenant_id, EVERYTHING, after=after, limit=5)
            await bus.backlog.look()
            await bus.close()

    assert [event.payload()["value"] for event in page.events] == [1, 2]
