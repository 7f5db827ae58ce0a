"""Redis is killed, hangs, refuses or lies: callers notice nothing, and no limit is passed."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.integration.hot_state.conftest import Changes, Start
from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.valkey import Valkey, running_valkey
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import DegradedError
from tidings.kernel.hot_state import Take
from tidings.kernel.hot_state_takeover import AgreementSettings, TakeoverHotState
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import FixedWindow, Limit, SlidingWindow, TokenBucket, micros, to_micros
from tidings.kernel.secrets import Secret

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


async def _until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def _take(state: TakeoverHotState, tenant_id: TenantId | None, limit: Limit, amount: int = 1) -> bool:
    (taken,) = await state.limits.take(tenant_id, [[Take(key="x", limit=limit, amount=amount)]])
    return taken.granted


async def test_killed_in_the_middle_of_a_run(start: Start, valkey: Valkey, tenant_id: TenantId) -> None:
    """Two processes, many tasks, windows of a second and of a day; Redis dies twice and comes back empty each time."""
    second, day = FixedWindow(100, timedelta(seconds=1)), FixedWindow(2500, DAY)
    processes = [await start(), await start()]
    clock = SystemClock()
    granted: Counter[tuple[str, int]] = Counter()
    stop = asyncio.Event()
    hands: set[str | None] = set()

    async def task(state: TakeoverHotState) -> None:
        while not stop.is_set():
            before = clock.now()
            taken = await state.limits.take(
                tenant_id,
                [[Take(key="second", limit=second)], [Take(key="day", limit=day)], [Take(key="rare", limit=day, amount=25)]],
            )  # fmt: skip
            hands.add(state.leader)
            # A call that waited for a change may have been granted in a later window than it began in.
            windows = {to_micros(at) // micros(second.window) for at in (before, clock.now())}
            if taken[0].granted and len(windows) == 1:
                granted["second", windows.pop()] += 1
            granted["day", 0] += taken[1].granted
            granted["rare", 0] += 25 * taken[2].granted
            await asyncio.sleep(0.005)

    tasks = [asyncio.create_task(task(state)) for state in processes * 4]
    for _ in range(2):
        await _until(lambda: all(state.leader == "redis" for state in processes))
        await asyncio.sleep(0.4)
        valkey.kill()
        await _until(lambda: all(state.leader == "postgres" for state in processes))
        await asyncio.sleep(0.4)
        valkey.start()
    await _until(lambda: all(state.leader == "redis" for state in processes))
    await asyncio.sleep(0.4)
    stop.set()
    await asyncio.gather(*tasks)

    assert hands == {"redis", "postgres"}
    for (name, window), count in granted.items():
        assert count <= 1.1 * (100 if name == "second" else 2500), (name, window)
    assert granted["rare", 0] == 2500  # used up early, and not opened again by any of the changes


async def test_what_was_used_up_stays_used_up(start: Start, valkey: Valkey, tenant_id: TenantId) -> None:
    """For every kind of limit, through both changes, in both processes, to the last one."""
    one, other = await start(), await start()
    limits: list[Limit] = [FixedWindow(10, DAY), SlidingWindow(10, DAY), TokenBucket(10, 1, DAY)]
    for limit in limits:
        assert await _take(one, tenant_id, limit, 4)
        assert await _take(other, tenant_id, limit, 3)
        assert await _take(one, None, limit, 9)

    valkey.kill()
    there = [await _take(state, tenant_id, limit, 2) for limit in limits for state in (one, other)]
    platform = [await _take(state, None, limit) for limit in limits for state in (other, one)]
    assert one.leader == other.leader == "postgres"
    valkey.start()
    await _until(lambda: one.leader == other.leader == "redis")
    back = [await _take(state, tenant_id, limit) for limit in limits for state in (other, one)]
    late = [await _take(one, None, limit) for limit in limits]

    assert there == [True, False] * 3
    assert platform == [True, False] * 3
    assert back == [True, False] * 3
    assert late == [False] * 3


async def test_a_dead_redis_costs_the_first_call_a_moment_and_the_others_nothing(
    start: Start, valkey: Valkey, tenant_id: TenantId
) -> None:
    """Nobody waits for its time limit again and again: Redis is asked by the keeper alone."""
    state = await start(call_seconds=2.0)
    limit = FixedWindow(1000, DAY)
    await _take(state, tenant_id, limit)
    valkey.hang()
    try:
        await _take(state, tenant_id, limit)
        assert state.leader == "postgres"
        async with asyncio.timeout(30):  # a fraction of forty times two seconds
            for _ in range(40):
                await _take(state, tenant_id, limit)
    finally:
        valkey.go_on()


async def test_a_redis_that_hung_and_goes_on_with_what_it_knew(
    start: Start, valkey: Valkey, tenant_id: TenantId
) -> None:
    """Its old numbers are not read again: what counts is what Postgres knew last."""
    one, other = await start(), await start()
    limit = FixedWindow(10, DAY)
    assert await _take(one, tenant_id, limit, 3)
    assert await _take(other, tenant_id, limit, 3)

    valkey.hang()
    assert await _take(one, tenant_id, limit, 3)
    assert (one.leader, await _take(other, tenant_id, limit, 2)) == ("postgres", False)
    valkey.go_on()
    await _until(lambda: one.leader == other.leader == "redis")

    assert [await _take(other, tenant_id, limit), await _take(one, tenant_id, limit)] == [True, False]


async def test_a_redis_that_was_never_there_is_seen_before_anybody_needs_it(
    start: Start, valkey: Valkey
) -> None:
    valkey.kill()
    state = await start()

    with pytest.raises(DegradedError, match="ConnectionError"):
        await state.check()

    assert state.leader == "postgres"


async def test_a_redis_that_restarts_between_two_calls(
    start: Start, valkey: Valkey, tenant_id: TenantId
) -> None:
    """It answers again before anybody saw it gone, and knows nothing: it is known by its run id."""
    state = await start(settings=AgreementSettings(heartbeat=30, timeout=60))
    limit = FixedWindow(10, DAY)
    assert await _take(state, tenant_id, limit, 9)

    valkey.kill()
    valkey.start()
    await asyncio.sleep(0.2)  # so that the client has seen its old connection end
    taken = [await _take(state, tenant_id, limit), await _take(state, tenant_id, limit)]

    assert taken == [True, False]


@pytest.mark.parametrize(
    "ail",
    [
        ("CONFIG", "SET", "maxmemory", "1"),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("CONFIG", "SET", "requirepass", "another"),
    ],
    ids=["out of memory", "a replica", "wrong password"],
)
async def test_a_redis_that_refuses(
    start: Start, valkey: Valkey, tenant_id: TenantId, ail: tuple[str, ...]
) -> None:
    """Out of memory, read-only, locked: it is alive, and of no use."""
    state = await start()
    limit = FixedWindow(10, DAY)
    assert await _take(state, tenant_id, limit, 9)

    assert valkey.say(ail, ("CLIENT", "KILL", "TYPE", "normal")).startswith(b":")
    taken = [await _take(state, tenant_id, limit), await _take(state, tenant_id, limit)]

    assert taken == [True, False]
    await asyncio.sleep(1.0)  # twice as long as a Redis has to be well
    assert state.leader == "postgres"
    with pytest.raises(DegradedError) as told:
        await state.check()
    assert "another" not in str(told.value)
    assert "127.0.0.1" not in str(told.value)


async def test_one_process_that_cannot_reach_redis_takes_all_to_postgres(
    start: Start, tenant_id: TenantId
) -> None:
    """They count in one place or not at all; and nobody goes back before that one can."""
    limit = FixedWindow(10, DAY)
    changes = Changes()
    well = await start(changes=changes)
    assert await _take(well, tenant_id, limit, 6)
    cut_off = await start(url=Secret("redis://127.0.0.1:1/0"))

    assert await _take(cut_off, tenant_id, limit, 4)
    assert not await _take(well, tenant_id, limit)

    await asyncio.sleep(1.5)  # three times as long as a Redis has to be well
    assert changes == ["redis", "postgres"]
    await cut_off.close()
    await _until(lambda: changes == ["redis", "postgres", "redis"])
    assert not await _take(well, tenant_id, limit)


async def test_nobody_counts_in_redis_while_one_still_counts_in_postgres(
    start: Start, valkey: Valkey, fresh_db: Database, tenant_id: TenantId
) -> None:
    """One process hangs in a take for longer than a dead one is waited for; the other waits for it."""
    day, minute = FixedWindow(10, DAY), FixedWindow(10, MINUTE)
    valkey.kill()
    one, other = await start(), await start()
    assert await _take(one, tenant_id, day)
    assert await _take(other, tenant_id, day)

    async with fresh_db.tenant(tenant_id) as tx:
        await tx.connection.execute("SELECT FROM kernel.hot_limits FOR UPDATE")
        hangs = asyncio.create_task(_take(one, tenant_id, day, 8))
        await asyncio.sleep(0.1)
        valkey.start()
        await _until(lambda: other.leader == "redis")
        waits = asyncio.create_task(_take(other, tenant_id, minute))
        await asyncio.sleep(2.0)  # twice as long as a dead process is waited for
        assert (hangs.done(), waits.done()) == (False, False)

    assert await asyncio.wait_for(hangs, 10)
    assert await asyncio.wait_for(waits, 10)
    assert not await _take(other, tenant_id, day)
    assert other.leader == "redis"


async def test_a_process_that_was_killed_is_not_waited_for(
    start: Start, valkey: Valkey, fresh_db: Database, tenant_id: TenantId
) -> None:
    """Its sign of life runs out, and the others go on."""
    state = await start()
    await _take(state, tenant_id, FixedWindow(10, DAY))
    async with fresh_db.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO kernel.hot_presence (key, member, expires_at) "
            "SELECT key, 'gone', expires_at FROM kernel.hot_presence WHERE key LIKE 'hot_state:hand:%'"
        )

    valkey.kill()
    async with asyncio.timeout(10):
        assert await _take(state, tenant_id, FixedWindow(10, DAY))

    assert state.leader == "postgres"


async def test_takes_are_noted_in_postgres_while_redis_is_well(
    start: Start, fresh_db: Database, tenant_id: TenantId
) -> None:
    """So that a process and Redis may die together; windows that are over by then cost nothing."""
    state = await start()
    await _take(state, tenant_id, FixedWindow(10, DAY), 7)

    async def noted() -> int:
        async with fresh_db.tenant(tenant_id) as tx:
            return int(
                await tx.connection.fetchval("SELECT coalesce(sum(amounts[1]), 0) FROM kernel.hot_limits")
            )

    async with asyncio.timeout(10):
        while not await noted():
            await asyncio.sleep(0.02)
    assert await noted() == 7
    assert state.leader == "redis"


async def test_a_process_that_ends_notes_what_it_took(
    start: Start, fresh_database: TestDatabase, valkey: Valkey, tenant_id: TenantId
) -> None:
    """An orderly end loses nothing, even when Redis is killed right after."""
    limit = SlidingWindow(5, DAY)
    db = Database(fresh_database.runtime_url)
    await db.open()
    ends = TakeoverHotState(valkey.url, db, SystemClock())
    assert await _take(ends, tenant_id, limit, 5)
    await ends.close()
    await db.close()
    valkey.kill()

    assert not await _take(await start(), tenant_id, limit)


async def test_clocks_that_differ(start: Start, valkey: Valkey, tenant_id: TenantId) -> None:
    """A process whose clock is behind does not open an old window again, in whichever store."""
    now = SystemClock().now().replace(second=0, microsecond=0)
    ahead, behind = ManualClock(now + timedelta(seconds=1)), ManualClock(now - timedelta(seconds=1))
    limit = FixedWindow(10, MINUTE)
    one, other = await start(clock=ahead), await start(clock=behind)

    assert await _take(one, tenant_id, limit, 8)
    assert not await _take(other, tenant_id, limit, 3)
    assert await _take(other, tenant_id, limit, 1)
    valkey.kill()

    assert not await _take(other, tenant_id, limit, 2)
    assert await _take(one, tenant_id, limit, 1)
    assert not await _take(one, tenant_id, limit, 1)


async def test_a_password_is_used_and_never_shown(tenant_id: TenantId, start: Start) -> None:
    """With the right one Redis counts."""
    with running_valkey("--requirepass", "hunter22") as locked:
        state = await start(url=Secret(f"valkey://:hunter22@127.0.0.1:{locked.port}/0"))

        assert await _take(state, tenant_id, FixedWindow(1, DAY))

        assert state.leader == "redis"
        assert "hunter22" not in repr(vars(state))


async def test_a_redis_that_falls_again_and_again_has_to_be_well_longer(
    start: Start, valkey: Valkey, tenant_id: TenantId
) -> None:
    """Twice as long each time, in every process; otherwise all would change hands every few seconds."""
    changes = Changes()
    state = await start(settings=AgreementSettings(heartbeat=0.1, timeout=1.0, steady=0.4), changes=changes)
    waited: list[float] = []
    for fall in range(3):
        await _take(state, tenant_id, FixedWindow(10, DAY))
        valkey.kill()
        valkey.start()
        await _until(lambda fall=fall: len(changes) == 2 * fall + 2)  # type: ignore[misc]
        began = time.monotonic()
        await _until(lambda fall=fall: len(changes) == 2 * fall + 3)  # type: ignore[misc]
        waited.append(time.monotonic() - began)

    assert changes == ["redis", *["postgres", "redis"] * 3]
    # The wait begins a moment before a test can see it.
    assert waited[0] >= 0.35
    assert waited[1] >= 0.7
    assert waited[2] >= 1.5


async def test_the_first_question_of_several_tenants_starts_the_heartbeat(
    start: Start, tenant_id: TenantId
) -> None:
    """Or a process that only asks for sets would never learn that Redis is back."""
    state = await start(url=Secret("redis://127.0.0.1:1/0"))
    take = Take(key="x", limit=FixedWindow(1, DAY))
    (taken,) = await state.limits.take_of([(tenant_id, [take])])
    assert taken.granted
    assert "hot state heartbeat" in {task.get_name() for task in asyncio.all_tasks()}
