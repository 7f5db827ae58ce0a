"""Views between processes: made once for all, passed on when whoever makes them fails or dies, forgotten when something changes."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.system import SHARED, now_clock, system_over
from tests.support.upstreams import HOTEL, OTHER_HOTEL, fault
from tests.support.valkey import Valkey, running_valkey
from tidings.backoffice.properties.access import PropertyAccess, PropertyId
from tidings.backoffice.view_cache.keys import board_key
from tidings.backoffice.view_cache.shared import SharedViews
from tidings.backoffice.views.model import BOARDS
from tidings.backoffice.views.read import PropertyViews
from tidings.bootstrap import System
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT, EventReceived
from tidings.kernel.events import new_event
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.postgres_bus.consumer import Consumer
from tidings.sandbox.property.simulator import PropertySimulator

_DEADLINE = 30.0
_CALLS = f"reservations/properties/{HOTEL}/in-house"


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    """The cache tier, as it is recommended."""
    with running_valkey("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru") as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return now_clock()


@pytest.fixture
async def simulator(clock: ManualClock) -> AsyncIterator[PropertySimulator]:
    async with PropertySimulator(clock) as running:
        yield running


@pytest.fixture
def access(clock: ManualClock) -> PropertyAccess:
    return PropertyAccess(tenant_id=TENANT.new(clock.now()), property_id=PropertyId(HOTEL))


@pytest.fixture
async def systems(
    fresh_database: TestDatabase, clock: ManualClock, simulator: PropertySimulator, valkey: Valkey
) -> AsyncIterator[list[System]]:
    """Two processes with one cache tier, that hear of changes."""
    made = [_system(fresh_database, clock, simulator, valkey) for _ in range(2)]
    async with AsyncExitStack() as stack:
        for system in made:
            await stack.enter_async_context(_hearing(system))
        yield made


def _system(
    database: TestDatabase, clock: ManualClock, simulator: PropertySimulator, valkey: Valkey
) -> System:
    return system_over(
        database,
        clock=clock,
        TIDINGS_UPSTREAM_URL=simulator.url,
        TIDINGS_UPSTREAM_TIMEOUT="10s",
        TIDINGS_CACHE_URL=valkey.url.reveal(),
    )


@asynccontextmanager
async def _hearing(system: System) -> AsyncIterator[None]:
    async with system:
        stop = asyncio.Event()
        _ = _views(system)
        running = asyncio.create_task(system.kernel.bus.wakeups.run(stop))
        async with asyncio.timeout(_DEADLINE):
            while not system.kernel.bus.wakeups.proved:
                await asyncio.sleep(0.01)
        yield
        stop.set()
        await running


def _views(system: System) -> PropertyViews:
    return system.backoffice.parts.get(PropertyViews)


async def _in_house(system: System, access: PropertyAccess) -> Any:
    return msgspec.json.decode(await _views(system).board(access, "in-house", None))


async def test_two_processes_and_a_hundred_requests_ask_once(
    systems: list[System], simulator: PropertySimulator, access: PropertyAccess
) -> None:
    fault(simulator, "slow", "reservations", seconds=0.1)

    boards = await asyncio.gather(*(_in_house(systems[n % 2], access) for n in range(100)))

    assert simulator.site.calls[_CALLS] == 1
    assert len({board["made_at"] for board in boards}) == 1


async def test_processes_of_their_own_ask_once(
    systems: list[System],
    fresh_database: TestDatabase,
    simulator: PropertySimulator,
    valkey: Valkey,
    access: PropertyAccess,
) -> None:
    """Apart from this one, with clocks of their own: the same board in two further processes at the same time."""
    fault(simulator, "slow", "reservations", seconds=0.4)
    place = (simulator.url, valkey.url.reveal(), fresh_database.runtime_url, SHARED.name, access.tenant_id)
    others = [
        subprocess.Popen(  # noqa: ASYNC220  # it starts in no time, and is waited for in a thread
            [sys.executable, "-c", _ANOTHER, *place, HOTEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]

    for other in others:
        assert other.stdout is not None
        assert await asyncio.to_thread(other.stdout.readline) == b"ready\n"
    said = await asyncio.gather(*(asyncio.to_thread(other.communicate, b"go\n") for other in others))

    assert [other.returncode for other in others] == [0, 0]
    assert [out for out, _ in said] == [b"50 1\n", b"50 1\n"]
    assert simulator.site.calls[_CALLS] == 1


#: Fifty requests at once, in a process of its own; how many answers, and how many different ones.
_ANOTHER = """
import asyncio, sys
from tidings import settings
from tidings.backoffice.properties.access import PropertyAccess, PropertyId
from tidings.backoffice.views.read import PropertyViews
from tidings.bootstrap import System

url, cache, database, folder, tenant_id, hotel = sys.argv[1:]

async def main():
    chosen = settings.load({"TIDINGS_DATA_DIR": folder, "TIDINGS_UPSTREAM_URL": url, "TIDINGS_CACHE_URL": cache, "TIDINGS_UPSTREAM_TIMEOUT": "10s"})
    system = System(chosen, runtime_url=database)
    async with system:
        views = system.backoffice.parts.get(PropertyViews)
        access = PropertyAccess(tenant_id=tenant_id, property_id=PropertyId(hotel))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        found = await asyncio.gather(*(views.board(access, "in-house", None) for _ in range(50)))
        print(len(found), len(set(found)))

asyncio.run(main())
"""


async def test_a_leader_that_fails_frees_the_others(
    systems: list[System], simulator: PropertySimulator, access: PropertyAccess
) -> None:
    first = _views(systems[0]).cache
    # So that the other one goes on because of the lease, and not because it waits no longer.
    _views(systems[1]).cache._patience = 2 * _DEADLINE

    async def fail() -> Any:
        await asyncio.sleep(0.1)
        raise RuntimeError("the leader's own fault")

    short, sources = BOARDS["in-house"]
    leading = asyncio.create_task(first.get(board_key(access, "in-house", short, None, sources), fail))
    await asyncio.sleep(0.05)

    async with asyncio.timeout(_DEADLINE):
        board = await _in_house(systems[1], access)

    assert board["stays"]
    with pytest.raises(RuntimeError):
        await leading


async def test_a_leader_that_dies_holds_nobody_up_for_long(
    systems: list[System], simulator: PropertySimulator, access: PropertyAccess
) -> None:
    key = f"sf:lock:wb:ih:{access.tenant_id}:{access.property_id}"
    held = await systems[0].kernel.hot_state.leases.acquire(
        access.tenant_id, key, "a process that was killed", timedelta(seconds=5)
    )
    assert held is not None
    _views(systems[1]).cache._patience = 1.0

    async with asyncio.timeout(_DEADLINE):
        board = await _in_house(systems[1], access)

    assert board["stays"]
    assert simulator.site.calls[_CALLS] == 1


async def test_a_dead_cache_costs_time_and_nothing_else(
    systems: list[System], simulator: PropertySimulator, valkey: Valkey, access: PropertyAccess
) -> None:
    valkey.kill()
    try:
        boards = [await _in_house(system, access) for system in systems]
        metrics = systems[0].kernel.metrics.render().decode()
    finally:
        valkey.start("--maxmemory-policy", "allkeys-lru")

    assert all(board["stays"] for board in boards)
    assert simulator.site.calls[_CALLS] == 2
    assert "tidings_view_cache_away 1.0" in metrics


async def test_what_lies_in_the_cache_can_be_read_and_written_by_us_alone(
    systems: list[System], simulator: PropertySimulator, valkey: Valkey, access: PropertyAccess
) -> None:
    board = await _in_house(systems[0], access)
    guest = board["stays"][0]["guest"].encode()
    key = f"wb:ih:{access.tenant_id}:{HOTEL}"

    kept = valkey.say(("GET", key))
    assert len(kept) > 100
    assert guest not in kept

    # Another's words, and a view of another property, are no views of this one.
    valkey.say(("SET", key, "{}"))
    other = PropertyAccess(tenant_id=access.tenant_id, property_id=PropertyId(OTHER_HOTEL))
    await _in_house(systems[0], other)
    assert (await _in_house(systems[1], access))["property"]["id"] == HOTEL
    valkey.say(("COPY", f"wb:ih:{access.tenant_id}:{OTHER_HOTEL}", key, "REPLACE"))
    assert (await _in_house(systems[1], access))["property"]["id"] == HOTEL


async def test_an_event_is_heard_once_by_every_process(
    systems: list[System],
    simulator: PropertySimulator,
    access: PropertyAccess,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marked: list[Any] = []
    mark = SharedViews.mark

    async def counted(self: SharedViews, changes: Any, word: str) -> None:
        marked.extend(changes)
        await mark(self, changes, word)

    monkeypatch.setattr(SharedViews, "mark", counted)
    consumers = [system.backoffice.jobs()["view_invalidation"] for system in systems]
    await _drain(consumers)
    for system in systems:
        await _in_house(system, access)
    assert simulator.site.calls[_CALLS] == 1

    await _tell(systems[0], access.tenant_id, "upstream.reservations.changed", OTHER_HOTEL)
    await _tell(systems[0], access.tenant_id, "something.else.changed", HOTEL)
    await _drain(consumers)
    for system in systems:
        await _in_house(system, access)
    assert simulator.site.calls[_CALLS] == 1

    await _tell(systems[0], access.tenant_id, "upstream.reservations.changed", HOTEL)
    await _drain(consumers)
    await _drain(consumers)
    async with asyncio.timeout(_DEADLINE):
        while simulator.site.calls[_CALLS] == 1:
            for system in systems:
                await _in_house(system, access)
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)
    for system in systems:
        await _in_house(system, access)

    assert simulator.site.calls[_CALLS] == 2, "one process made it anew, and the other one found it"
    assert [change.subject for change in marked] == [OTHER_HOTEL, HOTEL]


async def _tell(system: System, tenant_id: TenantId, kind: str, subject: str) -> None:
    event = new_event(
        EVENT_RECEIVED_SUBJECT,
        EventReceived(event_id="evt_1", type=kind, source="/pms", time=system.clock.now(), subject=subject),
        tenant_id=tenant_id,
        ordering_key="pms",
        source="/tidings/notify",
        clock=system.clock,
    )
    async with system.db.tenant(tenant_id) as tx:
        await system.kernel.outbox.append(tx, [event])
    await system.kernel.bus.relay("notification").drain()


async def _drain(consumers: list[Any]) -> None:
    for consumer in consumers:
        assert isinstance(consumer, Consumer)
        while await consumer.drain():
            pass
