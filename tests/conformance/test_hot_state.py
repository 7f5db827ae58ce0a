"""What every implementation of hot state promises. Each test has a tenant of its own, so the store may be shared."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase, TestServer
from tests.support.valkey import Valkey, running_valkey
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.hot_state import HotState, Leases, Take
from tidings.kernel.hot_state_takeover import TakeoverHotState
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.limit_windows import FixedWindow, Limit, SlidingWindow, TokenBucket
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.redis_hot_state.limits import RedisLimits
from tidings.kernel.redis_hot_state.server import RedisServer
from tidings.kernel.secrets import Secret

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Two:
    """The same store seen from two processes, on one clock."""

    one: HotState
    other: HotState
    clock: ManualClock
    database: Database
    #: The tables that it has to sweep; what it keeps elsewhere goes by itself.
    swept: set[str]


class RedisAlone:
    """Limits in Redis and nothing behind them."""

    #: Leases are in Postgres, also where limits are in Redis.
    leases: Leases

    def __init__(self, url: Secret, clock: ManualClock) -> None:
        self.limits = RedisLimits(RedisServer(url), clock)

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        return {}


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


def _local(databases: list[Database], clock: ManualClock, _: Valkey) -> list[HotState]:
    return [LocalHotState(each, clock) for each in databases]


def _redis(_: list[Database], clock: ManualClock, valkey: Valkey) -> list[HotState]:
    return [RedisAlone(valkey.url, clock) for _ in range(2)]


def _takeover(databases: list[Database], clock: ManualClock, valkey: Valkey) -> list[HotState]:
    return [TakeoverHotState(valkey.url, each, clock) for each in databases]


def _taken_over(databases: list[Database], clock: ManualClock, _: Valkey) -> list[HotState]:
    # Nobody listens there.
    nowhere = Secret("redis://127.0.0.1:1/0")
    return [TakeoverHotState(nowhere, each, clock) for each in databases]


#: How it is made, and the tables that it has to sweep.
_IMPLEMENTATIONS: dict[
    str, tuple[Callable[[list[Database], ManualClock, Valkey], list[HotState]], set[str]]
] = {
    "postgres": (_local, {"hot_limits", "hot_presence", "hot_leases"}),
    "redis": (_redis, set()),
    "redis with postgres behind it": (_takeover, {"hot_presence", "hot_leases"}),
    "postgres in place of redis": (_taken_over, {"hot_limits", "hot_presence", "hot_leases"}),
}

#: Everything but limits is in Postgres.
in_postgres = pytest.mark.parametrize(
    "two", [name for name in _IMPLEMENTATIONS if name != "redis"], indirect=True
)


@pytest.fixture(scope="module")
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
    yield Two(states[0], states[1], clock, databases[0], swept)
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


async def test_groups_of_several_tenants_are_answered_as_each_tenants_alone(
    two: Two, tenant_id: TenantId
) -> None:
    """In the order given, under keys of the same name; what another process has taken counts."""
    other = TENANT.new(SystemClock().now())
    limit = FixedWindow(2, MINUTE)
    await two.other.limits.take(other, [[take(limit)]])
    wishes = [
        (tenant_id, [take(limit)]),
        (other, [take(limit)]),
        (tenant_id, [take(limit), Take(key="more", limit=FixedWindow(1, MINUTE))]),
        (other, [take(limit), Take(key="more", limit=FixedWindow(1, MINUTE))]),
        (tenant_id, [take(limit)]),
        (other, []),
    ]
    taken = await two.one.limits.take_of(wishes)
    assert [one.granted for one in taken] == [True, True, True, False, False, True]
    assert (taken[3].refused_by, taken[4].refused_by) == (("email",), ("email",))
    (mine,) = await two.other.limits.take(tenant_id, [[Take(key="more", limit=FixedWindow(1, MINUTE))]])
    (theirs,) = await two.other.limits.take(other, [[Take(key="more", limit=FixedWindow(1, MINUTE))]])
    assert (mine.granted, theirs.granted) == (False, True)


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


@in_postgres
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


@in_postgres
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


@in_postgres
async def test_what_has_run_out_is_swept(two: Two, tenant_id: TenantId) -> None:
    """And only that; what is still good is still there."""
    await two.one.leases.acquire(tenant_id, "old", "me", MINUTE)
    held = await two.one.leases.acquire(tenant_id, "new", "me", 10 * MINUTE)
    async with two.database.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO kernel.hot_presence (key, member, expires_at) VALUES ('test', $1, $2)",
            tenant_id,
            two.clock.now() + MINUTE,
        )
    await two.one.limits.take(
        tenant_id, [[take(SlidingWindow(1, MINUTE))], [take(SlidingWindow(1, 5 * MINUTE))]]
    )
    await two.clock.advance(MINUTE)

    swept = await two.other.sweep()
    again = await two.other.sweep()

    assert two.swept <= {sort for sort, count in swept.items() if count}
    assert all(count == 0 for count in again.values())
    assert held is not None
    assert await two.one.leases.renew(held, MINUTE) is not None
    (full,) = await two.one.limits.take(tenant_id, [[take(SlidingWindow(1, 5 * MINUTE))]])
    assert not full.granted
