"""What every implementation of hot state promises. Each test has a tenant of its own, so the store may be shared."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
import pytest_asyncio

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase, TestServer
from tests.support.valkey import Valkey, running_valkey
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.hot_state import HotState, Take
from tidings.kernel.hot_state_takeover import TakeoverHotState
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.limit_windows import FixedWindow, Limit, SlidingWindow, TokenBucket
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.redis_hot_state import RedisHotState, RedisServer
from tidings.kernel.secrets import Secret

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Two:
    """The same store seen from two processes, on one clock."""

    one: HotState
    other: HotState
    clock: ManualClock
    #: The sorts of rows that it has to sweep; what it keeps elsewhere goes by itself.
    swept: set[str]


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


def _local(databases: list[Database], clock: ManualClock, _: Valkey) -> list[HotState]:
    return [LocalHotState(each, clock) for each in databases]


def _redis(_: list[Database], clock: ManualClock, valkey: Valkey) -> list[HotState]:
    return [RedisHotState(RedisServer(valkey.url), clock) for _ in range(2)]


def _takeover(databases: list[Database], clock: ManualClock, valkey: Valkey) -> list[HotState]:
    return [TakeoverHotState(valkey.url, each, clock) for each in databases]


def _taken_over(databases: list[Database], clock: ManualClock, _: Valkey) -> list[HotState]:
    # Nobody listens there.
    nowhere = Secret("redis://127.0.0.1:1/0")
    return [TakeoverHotState(nowhere, each, clock) for each in databases]


#: How it is made, and the sorts of rows that it has to sweep.
_IMPLEMENTATIONS: dict[
    str, tuple[Callable[[list[Database], ManualClock, Valkey], list[HotState]], set[str]]
] = {
    "postgres": (_local, {"hot_limits", "hot_presence", "hot_seen", "hot_leases"}),
    "redis": (_redis, set()),
    "redis with postgres behind it": (_takeover, {"hot_seen", "hot_leases"}),
    "postgres in place of redis": (_taken_over, {"hot_limits", "hot_presence", "hot_seen", "hot_leases"}),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(server: TestServer, worker_database: TestDatabase) -> AsyncIterator[dict[str, TestDatabase]]:
    """Who counts is agreed on by all of a database, so those who go by different servers have one each."""
    async with server.clone() as with_redis, server.clone() as without_redis:
        yield dict(
            zip(
                _IMPLEMENTATIONS,
                (worker_database, worker_database, with_redis, without_redis),
                strict=True,
            )
        )


@pytest.fixture(params=list(_IMPLEMENTATIONS))
async def two(
    request: pytest.FixtureRequest, stores: dict[str, TestDatabase], valkey: Valkey
) -> AsyncIterator[Two]:
    """Every implementation there is."""
    clock = ManualClock(SystemClock().now().replace(second=0, microsecond=0))
    make, swept = _IMPLEMENTATIONS[request.param]
    databases = [Database(stores[request.param].runtime_url) for _ in range(2)]
    for each in databases:
        await each.open()
    states = make(databases, clock, valkey)
    yield Two(states[0], states[1], clock, swept)
    for state in states:
        if isinstance(state, TakeoverHotState):
            await state.close()
    for each in databases:
        await each.close()


def take(limit: Limit, key: str = "email", amount: int = 1) -> Take:
    return Take(key=key, limit=limit, amount=amount)


LIMITS = [
    FixedWindow(10, MINUTE),
    SlidingWindow(10, MINUTE),
    TokenBucket(10, 10, MINUTE),
]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: type(limit).__name__)
async def test_hammering_a_limit_from_two_processes_never_passes_it(
    two: Two, tenant_id: TenantId, limit: Limit
) -> None:
    """Forty at once for ten places: ten get one, and each knows when to come again."""
    asked = [
        process.limits.take(tenant_id, [[take(limit)]]) for _ in range(20) for process in (two.one, two.other)
    ]

    taken = [one for (one,) in await asyncio.gather(*asked)]

    assert sum(one.granted for one in taken) == 10
    refused = [one for one in taken if not one.granted]
    assert all(one.refused_by == ("email",) for one in refused)
    assert all(one.retry_at is not None and one.retry_at > two.clock.now() for one in refused)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: type(limit).__name__)
async def test_who_comes_again_when_told_is_let_in(two: Two, tenant_id: TenantId, limit: Limit) -> None:
    """Not a moment earlier."""
    await two.one.limits.take(tenant_id, [[take(limit, amount=10)]])
    (refused,) = await two.one.limits.take(tenant_id, [[take(limit)]])
    assert refused.retry_at is not None

    await two.clock.advance(refused.retry_at - two.clock.now() - timedelta(microseconds=1))
    (early,) = await two.other.limits.take(tenant_id, [[take(limit)]])
    await two.clock.advance(timedelta(microseconds=1))
    (then,) = await two.other.limits.take(tenant_id, [[take(limit)]])

    assert (early.granted, then.granted) == (False, True)


async def test_a_fixed_window_opens_at_its_mark(two: Two, tenant_id: TenantId) -> None:
    """All of it again, however late in the last window it was used up."""
    limit = FixedWindow(3, MINUTE)
    await two.clock.advance(timedelta(seconds=59))
    await two.one.limits.take(tenant_id, [[take(limit, amount=3)]])

    await two.clock.advance(timedelta(seconds=1))
    (taken,) = await two.one.limits.take(tenant_id, [[take(limit, amount=3)]])

    assert taken.granted


async def test_a_sliding_window_has_no_mark(two: Two, tenant_id: TenantId) -> None:
    """Each place comes free a window after it was taken."""
    limit = SlidingWindow(3, MINUTE)
    await two.clock.advance(timedelta(seconds=59))
    await two.one.limits.take(tenant_id, [[take(limit, amount=2)]])
    await two.clock.advance(timedelta(seconds=30))
    await two.one.limits.take(tenant_id, [[take(limit)]])

    await two.clock.advance(timedelta(seconds=30))
    (both, third) = await two.one.limits.take(tenant_id, [[take(limit, amount=2)], [take(limit)]])

    assert (both.granted, third.granted) == (True, False)


async def test_a_bucket_fills_evenly(two: Two, tenant_id: TenantId) -> None:
    """Six a minute is one every ten seconds."""
    limit = TokenBucket(6, 6, MINUTE)
    await two.one.limits.take(tenant_id, [[take(limit, amount=6)]])

    await two.clock.advance(timedelta(seconds=20))
    taken = await two.one.limits.take(tenant_id, [[take(limit)] for _ in range(3)])

    assert [one.granted for one in taken] == [True, True, False]


async def test_a_group_is_taken_whole_or_not_at_all(two: Two, tenant_id: TenantId) -> None:
    """The tenant keeps its place when the recipient has none."""
    tenant = FixedWindow(2, MINUTE)
    recipient = FixedWindow(1, MINUTE)
    group = [take(tenant, "tenant"), take(recipient, "recipient:1")]

    first, second = await two.one.limits.take(tenant_id, [group, group])
    (third,) = await two.other.limits.take(tenant_id, [[take(tenant, "tenant")]])

    assert (first.granted, second.granted, third.granted) == (True, False, True)
    assert second.refused_by == ("recipient:1",)


async def test_a_key_named_twice_in_a_group_counts_twice(two: Two, tenant_id: TenantId) -> None:
    """Two of one are not one."""
    limit = FixedWindow(1, MINUTE)

    (taken,) = await two.one.limits.take(tenant_id, [[take(limit), take(limit)]])

    assert not taken.granted


async def test_more_than_a_limit_holds_is_never_granted(two: Two, tenant_id: TenantId) -> None:
    """There is no time to come again."""
    (taken,) = await two.one.limits.take(tenant_id, [[take(FixedWindow(2, MINUTE), amount=3)]])

    assert (taken.granted, taken.retry_at) == (False, None)


async def test_many_keys_at_once_from_both_sides(two: Two, tenant_id: TenantId) -> None:
    """In opposite orders; nobody waits for the other for ever."""
    limit = FixedWindow(1000, MINUTE)
    forwards = [[take(limit, f"key-{number}")] for number in range(100)]

    await asyncio.gather(
        *(two.one.limits.take(tenant_id, forwards) for _ in range(5)),
        *(two.other.limits.take(tenant_id, forwards[::-1]) for _ in range(5)),
    )
    rest = await two.one.limits.take(tenant_id, [[take(limit, "key-7", 990)], [take(limit, "key-7")]])

    assert [one.granted for one in rest] == [True, False]


async def test_tenants_and_the_platform_do_not_share_a_limit(two: Two, tenant_id: TenantId) -> None:
    """The same key is three limits."""
    limit = FixedWindow(1, MINUTE)
    key = f"shared-{tenant_id}"
    other = TENANT.new(SystemClock().now())

    taken = [
        await two.one.limits.take(owner, [[take(limit, key)], [take(limit, key)]])
        for owner in (tenant_id, other, None)
    ]

    assert [[one.granted for one in pair] for pair in taken] == [[True, False]] * 3


async def test_bad_wishes_are_refused_by_name(two: Two, tenant_id: TenantId) -> None:
    """A negative amount would give back; an empty key is nobody's."""
    for wish in (take(FixedWindow(1, MINUTE), amount=-1), take(FixedWindow(1, MINUTE), "")):
        with pytest.raises(BadValueError):
            await two.one.limits.take(tenant_id, [[wish]])


async def test_presence_is_seen_by_all_until_it_runs_out(two: Two, tenant_id: TenantId) -> None:
    """Said here, seen there; repeated, it lasts; said to be over, it is."""
    await two.one.presence.touch(tenant_id, [("r1", "ws-1"), ("r1", "ws-2"), ("r2", "ws-1")], MINUTE)
    await two.clock.advance(timedelta(seconds=59))
    await two.other.presence.touch(tenant_id, [("r1", "ws-2")], MINUTE)

    before = await two.other.presence.present(tenant_id, ["r1", "r2", "r3"])
    await two.clock.advance(timedelta(seconds=1))
    after = await two.other.presence.present(tenant_id, ["r1", "r2"])
    await two.other.presence.leave(tenant_id, [("r1", "ws-2")])
    at_last = await two.one.presence.present(tenant_id, ["r1"])

    assert before == {"r1": {"ws-1", "ws-2"}, "r2": {"ws-1"}, "r3": set()}
    assert after == {"r1": {"ws-2"}, "r2": set()}
    assert at_last == {"r1": set()}


async def test_presence_of_one_tenant_is_not_seen_by_another(two: Two, tenant_id: TenantId) -> None:
    """Nor by the platform."""
    await two.one.presence.touch(tenant_id, [("r1", "ws-1")], MINUTE)

    for other in (TENANT.new(SystemClock().now()), None):
        assert await two.one.presence.present(other, ["r1"]) == {"r1": set()}


async def test_a_key_passes_once(two: Two, tenant_id: TenantId) -> None:
    """Of all who bring it at the same time, from both sides, one is first."""
    keys = [f"event-{number}" for number in range(20)]

    answers = await asyncio.gather(
        *(process.dedupe.first_time(tenant_id, keys, MINUTE) for process in (two.one, two.other) * 5)
    )

    assert sorted(key for answer in answers for key in answer) == sorted(keys)


async def test_a_key_passes_again_when_its_time_is_over(two: Two, tenant_id: TenantId) -> None:
    """And the time does not start anew when it is refused."""
    await two.one.dedupe.first_time(tenant_id, ["a"], MINUTE)
    await two.clock.advance(timedelta(seconds=59))
    early = await two.other.dedupe.first_time(tenant_id, ["a", "b"], MINUTE)
    await two.clock.advance(timedelta(seconds=1))

    then = await two.other.dedupe.first_time(tenant_id, ["a", "b"], MINUTE)

    assert (early, then) == ({"b"}, {"a"})


async def test_the_cache_remembers_for_a_while(two: Two, tenant_id: TenantId) -> None:
    """Until the time is over, or it is told to forget; and each tenant for itself."""
    await two.one.cache.set(tenant_id, {"a": b"1", "b": b"2"}, MINUTE)
    await two.one.cache.delete(tenant_id, ["b"])

    known = await two.one.cache.get(tenant_id, ["a", "b", "c"])
    strange = await two.one.cache.get(None, ["a"])
    await two.clock.advance(MINUTE)
    late = await two.one.cache.get(tenant_id, ["a"])

    assert (known, strange, late) == ({"a": b"1"}, {}, {})


async def test_a_lease_has_one_holder(two: Two, tenant_id: TenantId) -> None:
    """Of ten who want it one gets it; the next gets it when it runs out, with a higher fence."""
    asked = await asyncio.gather(
        *(process.leases.acquire(tenant_id, "job", f"holder-{n}", MINUTE) for n, process in enumerate((two.one, two.other) * 5))
    )  # fmt: skip
    (held,) = [lease for lease in asked if lease is not None]

    assert await two.one.leases.acquire(tenant_id, "job", "newcomer", MINUTE) is None
    await two.clock.advance(MINUTE)
    taken_over = await two.other.leases.acquire(tenant_id, "job", "newcomer", MINUTE)

    assert taken_over is not None
    assert taken_over.fence > held.fence
    assert await two.one.leases.renew(held, MINUTE) is None


async def test_a_lease_is_renewed_while_it_holds_and_released_by_its_holder_alone(
    two: Two, tenant_id: TenantId
) -> None:
    """One that ran out must be asked for again, even when nobody took it."""
    held = await two.one.leases.acquire(tenant_id, "job", "me", MINUTE)
    assert held is not None
    await two.clock.advance(timedelta(seconds=59))
    renewed = await two.one.leases.renew(held, MINUTE)
    await two.clock.advance(timedelta(seconds=59))
    assert renewed is not None
    assert renewed.fence == held.fence
    assert await two.other.leases.acquire(tenant_id, "job", "you", MINUTE) is None

    await two.one.leases.release(renewed)
    yours = await two.other.leases.acquire(tenant_id, "job", "you", MINUTE)
    await two.one.leases.release(renewed)

    assert yours is not None
    assert await two.one.leases.acquire(tenant_id, "job", "me", MINUTE) is None
    await two.clock.advance(MINUTE)
    assert await two.other.leases.renew(yours, MINUTE) is None


async def test_many_who_ask_at_once_share_one_flight(two: Two) -> None:
    """It is made once, and again for the next who asks."""
    made = 0
    go = asyncio.Event()

    async def make() -> int:
        nonlocal made
        made += 1
        await go.wait()
        return made

    asked = [asyncio.create_task(two.one.single_flight.do("x", make)) for _ in range(5)]
    await asyncio.sleep(0)
    go.set()

    assert await asyncio.gather(*asked) == [1] * 5
    assert await two.one.single_flight.do("x", make) == 2


async def test_all_on_a_flight_share_its_error(two: Two) -> None:
    """And the next one tries again."""

    async def fail() -> int:
        await asyncio.sleep(0)
        raise LookupError("gone")

    async def succeed() -> int:
        return 1

    asked = [two.one.single_flight.do("x", fail) for _ in range(3)]
    results = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(result) for result in results] == [LookupError] * 3
    assert await two.one.single_flight.do("x", succeed) == 1


async def test_who_gives_up_does_not_take_it_from_the_others(two: Two) -> None:
    """Only when the last one has gone is the work stopped."""
    go, begun, stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def make() -> int:
        begun.set()
        try:
            await go.wait()
        except asyncio.CancelledError:
            stopped.set()
            raise
        return 1

    first, second = (asyncio.create_task(two.one.single_flight.do("x", make)) for _ in range(2))
    await begun.wait()
    first.cancel()
    await asyncio.wait([first])
    assert not stopped.is_set()
    second.cancel()
    await asyncio.wait([second])

    await asyncio.wait_for(stopped.wait(), 5)


async def test_what_has_run_out_is_swept(two: Two, tenant_id: TenantId) -> None:
    """And only that; what is still good is still there."""
    await two.one.dedupe.first_time(tenant_id, ["old"], MINUTE)
    await two.one.dedupe.first_time(tenant_id, ["new"], 10 * MINUTE)
    await two.one.presence.touch(tenant_id, [("r", "old")], MINUTE)
    await two.one.leases.acquire(tenant_id, "old", "me", MINUTE)
    await two.one.limits.take(
        tenant_id, [[take(SlidingWindow(1, MINUTE))], [take(SlidingWindow(1, 5 * MINUTE))]]
    )
    await two.clock.advance(MINUTE)

    swept = await two.other.sweep()
    again = await two.other.sweep()

    assert two.swept <= {sort for sort, count in swept.items() if count}
    assert all(count == 0 for count in again.values())
    assert await two.one.dedupe.first_time(tenant_id, ["new"], MINUTE) == set()
    (full,) = await two.one.limits.take(tenant_id, [[take(SlidingWindow(1, 5 * MINUTE))]])
    assert not full.granted
