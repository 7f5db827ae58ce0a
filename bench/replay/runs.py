"""The two runs: every callback once and in order; and every callback twice, out of order, with much at work at once."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final

from bench.replay.history import Request
from bench.replay.world import CALLBACKS_BEGIN, World
from tidings.contracts.delivery import SendFirstSteps
from tidings.notify.dispatch import outcome
from tidings.notify.receipts import consumer
from tidings.router.callbacks.receive_callback import HookCall
from tidings.router.callbacks.sweep import settle_stuck

_JOBS: Final = 3
_CONNECTIONS: Final = 200
#: Requests are signed in so many portions, of so many at least; the clock stands still while one is taken.
_PORTIONS: Final = 40
_SMALLEST_PORTION: Final = 100
#: Of what was handed over, so much is taken by vendors only while they call back already.
_LATE: Final = 0.3
#: So many times in a row one of notify's consumers hears nothing.
_DEAF_FOR: Final = 10
_MOST_LOOKS: Final = 400
#: Requests with nobody in common that are under way at once in the ordered run.
_MOST_APART: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a run was."""

    #: Requests a second.
    accepted: float
    #: Events a second.
    applied: float


async def ordered(world: World) -> Pace:
    """Each once, in the order of its time: nobody is told of a second time before all that follows from the first is done."""
    for begun in await world.begin():
        await world.carry_out(begun)
    await world.clock.advance(CALLBACKS_BEGIN)
    await world.settle()
    job = world.job()
    taking = applying = 0.0
    events = 0
    for some in _apart(world.history.requests):
        calls = [world.side.call(one) for one in some]
        began = time.perf_counter()
        await asyncio.gather(*(world.desk.take(*call) for call in calls))
        taken = time.perf_counter()
        events += await job.drain()
        applying += time.perf_counter() - taken
        taking += taken - began
        await world.settle()
    await _close(world)
    return Pace(accepted=len(world.history.requests) / taking, applied=events / applying)


async def shuffled(world: World, *, seed: int) -> Pace:
    """Each twice, in any order, over many connections and with several jobs; some before their messages were taken."""
    luck = Random(seed)
    held: list[SendFirstSteps] = []
    for begun in await world.begin():
        if luck.random() < _LATE:
            held.append(begun)
        else:
            await world.carry_out(begun)
    await world.clock.advance(CALLBACKS_BEGIN)
    requests = [*world.history.requests, *world.history.requests]
    luck.shuffle(requests)
    size = max(_SMALLEST_PORTION, math.ceil(len(requests) / _PORTIONS))
    portions = [requests[place : place + size] for place in range(0, len(requests), size)]
    taking = signing = 0.0
    began = time.perf_counter()
    async with _at_work(world, luck):
        for place, portion in enumerate(portions):
            started = time.perf_counter()
            calls = [world.side.call(one) for one in portion]
            signed = time.perf_counter()
            now = math.ceil(len(held) / (len(portions) - place))
            late, held = held[:now], held[now:]
            await asyncio.gather(_take(world, calls), *(world.carry_out(one) for one in late))
            taking += time.perf_counter() - signed
            signing += signed - started
            # Who waits for a message looks again soon.
            await world.clock.advance(timedelta(seconds=0.3))
        await _until_applied(world)
    applied = await count_applied(world)
    whole = time.perf_counter() - began - signing
    await _close(world)
    return Pace(accepted=len(requests) / taking, applied=applied / whole)


async def _take(world: World, calls: Sequence[tuple[str, str, HookCall]]) -> None:
    waiting = iter(calls)

    async def connection() -> None:
        for call in waiting:
            await world.desk.take(*call)

    await asyncio.gather(*(connection() for _ in range(_CONNECTIONS)))


@asynccontextmanager
async def _at_work(world: World, luck: Random) -> AsyncIterator[None]:
    """Jobs that apply and die at times, ladders that go on and a notify that hears of it, all at the same time."""
    stop = asyncio.Event()

    async def tell() -> None:
        # What came back is heard of before what was delivered, and the other way round.
        deaf: str | None = outcome.GROUP
        while not stop.is_set():
            for _ in range(_DEAF_FOR):
                await world.tell_notify(deaf=deaf)
                await asyncio.sleep(0.01)
            deaf = luck.choice((None, outcome.GROUP, consumer.GROUP))

    tasks = [asyncio.create_task(world.job(luck).run(stop)) for _ in range(_JOBS)]
    tasks += [asyncio.create_task(world.due.run(stop)), asyncio.create_task(tell())]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)


async def _until_applied(world: World) -> None:
    looks, before = 0, -1
    while (left := await count_open(world)) and looks < _MOST_LOOKS:
        looks = looks + 1 if left == before else 0
        before = left
        if not await count_open(world, "queued"):
            # The others look for their messages again when their time has come.
            await world.clock.advance(timedelta(seconds=1))
        await asyncio.sleep(0.05)
    if left:
        raise AssertionError(f"{left} events never found their messages")


async def _close(world: World) -> None:
    """What follows from the last ones, and what is closed later."""
    await world.settle()
    await world.clock.advance(timedelta(minutes=2))
    while await settle_stuck(world.db, world.clock, limit=1000):
        pass
    await world.settle()


def _apart(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """In their order, cut where somebody would be there twice."""
    some: list[Request] = []
    people: set[int] = set()
    for one in requests:
        if some and (len(some) >= _MOST_APART or people & one.people):
            yield some
            some, people = [], set()
        some.append(one)
        people |= one.people
    if some:
        yield some


async def count_open(world: World, *statuses: str) -> int:
    """Events that wait for somebody (`queued`), or for their message (`late_correlate`)."""
    async with world.db.worker() as tx:
        found: int = await tx.connection.fetchval(
            "SELECT count(*) FROM chan.webhook_inbound_events WHERE status = ANY ($1::text[])",
            list(statuses or ("queued", "late_correlate")),
        )
    return found


async def count_applied(world: World) -> int:
    """Events that found their messages."""
    async with world.db.worker() as tx:
        found: int = await tx.connection.fetchval(
            "SELECT count(*) FROM chan.webhook_inbound_events WHERE status = 'applied' AND tenant_id = ANY ($1)",
            world.tenants,
        )
    return found
