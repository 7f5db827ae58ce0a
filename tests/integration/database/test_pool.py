"""The pool keeps count whatever happens to those who use it."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from tests.support.postgres import TestDatabase
from tidings.kernel import errors
from tidings.kernel.db import Database
from tidings.kernel.pool import Pool, PoolSettings
from tidings.kernel.sql import Query

MOST = 4
#: How long a test waits for something that happens in milliseconds.
DEADLINE = 30.0

_SLEEP = Query(
    name="sleep", why="Time for something to happen.", text="SELECT pg_sleep($1)", parameters=("seconds",)
)


@pytest.fixture
async def pool(fresh_database: TestDatabase) -> AsyncIterator[Pool]:
    made = Pool(fresh_database.runtime_url, PoolSettings(min_size=1, max_size=MOST))
    await made.open()
    yield made
    await made.close()


async def _backends(database: TestDatabase) -> set[int]:
    """The server's side of the pool's connections."""
    async with database.runtime() as connection:
        rows = await connection.fetch(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'tidings' AND datname = current_database()"
        )
    return {row["pid"] for row in rows}


async def _use_all(pool: Pool) -> None:
    """Every connection that the pool may have can be had at once, and works."""
    async with asyncio.timeout(DEADLINE):
        held = [await pool.acquire() for _ in range(MOST)]
        assert await asyncio.gather(*(one.fetchval("SELECT 1") for one in held)) == [1] * MOST
        for one in held:
            pool.release(one)


@pytest.mark.parametrize("seed", range(3))
async def test_it_keeps_count_through_cancellations_and_killed_backends(
    fresh_database: TestDatabase, seed: int
) -> None:
    """Many more users than connections, cancelled at any moment, over backends that die at any moment."""
    luck = random.Random(seed)
    db = Database(fresh_database.runtime_url, PoolSettings(min_size=1, max_size=MOST))
    await db.open()
    outcomes: list[str] = []

    async def use() -> None:
        try:
            async with db.platform() as tx:
                await tx.fetch_value(_SLEEP, seconds=luck.choice((0.0, 0.001, 0.01)))
                if luck.random() < 0.2:
                    raise LookupError
            outcomes.append("done")
        except (LookupError, errors.DatabaseUnavailableError):
            outcomes.append("failed")

    async def use_and_give_up() -> None:
        task = asyncio.create_task(use())
        await asyncio.sleep(luck.random() * 0.02)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def kill_some(killer: asyncpg.Connection) -> None:
        for _ in range(40):
            await killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidings' "
                "AND datname = current_database() AND random() < 0.2"
            )
            await asyncio.sleep(0.005)

    try:
        async with asyncio.timeout(DEADLINE), fresh_database.runtime() as killer:
            users = (use() if luck.random() < 0.5 else use_and_give_up() for _ in range(400))
            await asyncio.gather(kill_some(killer), *users)

        pool = db._pool
        await _use_all(pool)
        assert pool._size == len(pool._idle) == MOST
        assert not pool._waiting
        assert "done" in outcomes
        async with asyncio.timeout(DEADLINE):
            while len(await _backends(fresh_database)) != MOST:
                await asyncio.sleep(0.01)
    finally:
        await db.close()


async def test_a_cancellation_that_comes_with_the_connection_is_not_lost(pool: Pool) -> None:
    """The one who was to have it ends, and the next in line gets it."""
    held = [await pool.acquire() for _ in range(MOST)]
    first, second = asyncio.create_task(pool.acquire()), asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)

    pool.release(held[0])
    first.cancel()

    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second is held[0]
    for connection in held:
        pool.release(connection)


async def test_those_who_wait_go_on_when_a_connection_can_not_be_made(
    fresh_database: TestDatabase,
) -> None:
    """Each of them tries for itself; nobody waits for a place that nobody holds."""
    pool = Pool(
        fresh_database.runtime_url.replace("127.0.0.1", "127.0.0.2"), PoolSettings(min_size=1, max_size=1)
    )
    pool._open = True

    async with asyncio.timeout(DEADLINE):
        ends = await asyncio.gather(*(pool.acquire() for _ in range(5)), return_exceptions=True)

    assert [type(end) for end in ends] == [errors.DatabaseUnavailableError] * 5
    assert (pool._size, list(pool._waiting)) == (0, [])


async def test_closing_while_it_is_used(fresh_database: TestDatabase) -> None:
    """Those who wait are told, those who work may finish, and it can be opened again."""
    pool = Pool(fresh_database.runtime_url, PoolSettings(min_size=2, max_size=2))
    await pool.open()
    used, idle = await pool.acquire(), await pool.acquire()
    waiting = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)

    await pool.close()

    with pytest.raises(errors.DatabaseUnavailableError, match="closing"):
        await waiting
    assert await used.fetchval("SELECT 1") == 1
    pool.release(used)
    pool.release(idle)
    assert used.is_closed()
    assert pool._size == 0
    await pool.open()
    assert pool._size == 2
    await pool.close()


async def test_nobody_waits_longer_than_told(fresh_database: TestDatabase) -> None:
    """Busy, and its place in the line is given up."""
    pool = Pool(
        fresh_database.runtime_url,
        PoolSettings(min_size=1, max_size=1, acquire_timeout=timedelta(seconds=0.5)),
    )
    await pool.open()
    held = await pool.acquire()

    with pytest.raises(errors.DatabaseBusyError):
        await pool.acquire()

    assert not pool._waiting
    pool.release(held)
    await pool.close()


async def test_a_transaction_survives_a_pool_full_of_dead_connections(fresh_database: TestDatabase) -> None:
    """After a restart of the server the first request gets a new connection, not the next dead one."""
    db = Database(fresh_database.runtime_url, PoolSettings(min_size=MOST, max_size=MOST))
    await db.open()
    async with fresh_database.runtime() as killer:
        # The driver has not read a word of it when the next transaction begins.
        await killer.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidings' "
            "AND datname = current_database()"
        )

        async with db.platform() as tx:
            assert await tx.connection.fetchval("SELECT 1") == 1
    await db.close()
