"""A worker that was killed is noticed within seconds; one that is slow, paused or cut off for a moment is not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg

from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.presence import Presence, PresenceSettings
from tidings.kernel.errors import DatabaseBusyError

_QUICK = PresenceSettings(beat=0.05, silence=timedelta(milliseconds=200), orphans_every=30.0)


@asynccontextmanager
async def _present(presence: Presence) -> AsyncIterator[asyncio.Task[None]]:
    stop = asyncio.Event()
    task = asyncio.create_task(presence.run(stop))
    await asyncio.wait_for(presence.known.wait(), 10)
    try:
        yield task
    finally:
        stop.set()
        await asyncio.wait_for(task, 10)


async def _known(db: Database) -> set[str]:
    async with db.worker() as tx:
        return {r["id"] for r in await tx.connection.fetch("SELECT id FROM kernel.workers")}


def _presence(database: TestDatabase, db: Database, freed: list[int] | None = None) -> Presence:
    async def free(_: WorkerTx) -> int:
        if freed is not None:
            freed.append(1)
        return 0

    presence = Presence(database.runtime_url, db, clock=SystemClock(), settings=_QUICK)
    presence.rescue([free], on_rescue=lambda _: None)
    return presence


async def _eventually(condition: Callable[[], Awaitable[bool]], seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.02)


async def test_a_worker_is_known_while_it_runs_and_gone_when_it_ends(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    presence = _presence(fresh_database, fresh_db)
    async with _present(presence):
        assert await _known(fresh_db) == {presence.id}
    assert await _known(fresh_db) == set()


async def test_workers_know_how_many_they_are(fresh_database: TestDatabase, fresh_db: Database) -> None:
    one, other = _presence(fresh_database, fresh_db), _presence(fresh_database, fresh_db)

    async def counts(*expected: int) -> bool:
        return [presence.workers for presence in (one, other)][: len(expected)] == list(expected)

    async with _present(one):
        assert await counts(1)
        async with _present(other):
            await _eventually(lambda: counts(2, 2))
        await _eventually(lambda: counts(1))


async def test_one_that_is_killed_is_buried_and_its_claims_are_freed(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    freed: list[int] = []
    living = _presence(fresh_database, fresh_db, freed)
    killed = _presence(fresh_database, fresh_db)
    async with _present(living):
        task = asyncio.create_task(killed.run(asyncio.Event()))
        await asyncio.wait_for(killed.known.wait(), 10)
        before = len(freed)
        task.cancel()  # As kill -9 does: no farewell, and the connection is gone.
        await asyncio.gather(task, return_exceptions=True)

        async def buried() -> bool:
            return await _known(fresh_db) == {living.id} and len(freed) > before

        await _eventually(buried)


async def test_one_that_is_paused_keeps_its_lock_and_its_claims(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    paused = await asyncpg.connect(fresh_database.runtime_url)
    await paused.execute("SET ROLE tidings_worker")
    await paused.execute("SELECT pg_advisory_lock(4711)")
    await paused.execute(
        "INSERT INTO kernel.workers (id, lock_key, seen_at) VALUES ('wrk_' || repeat('0', 26), 4711, now() - interval '1 hour')"
    )
    living = _presence(fresh_database, fresh_db)
    async with _present(living):
        await asyncio.sleep(0.5)
        assert len(await _known(fresh_db)) == 2
        await paused.close()

        async def buried() -> bool:
            return await _known(fresh_db) == {living.id}

        await _eventually(buried)


async def test_one_whose_connection_is_cut_comes_back_under_the_same_name(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    presence = _presence(fresh_database, fresh_db)
    async with _present(presence):
        name = presence.id
        somebody = await asyncpg.connect(fresh_database.runtime_url)
        cut = await somebody.fetchval(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE application_name = 'tidings worker' AND datname = current_database()"
        )
        await somebody.close()
        assert cut == 1

        async def back() -> bool:
            return presence.known.is_set() and await _known(fresh_db) == {name}

        await asyncio.sleep(0.1)
        await _eventually(back)
        assert presence.id == name


async def test_one_that_was_taken_for_dead_gets_another_name(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    presence = _presence(fresh_database, fresh_db)
    async with _present(presence):
        first = presence.id
        async with fresh_db.worker() as tx:
            await tx.connection.execute("DELETE FROM kernel.workers")

        async def renamed() -> bool:
            return (
                presence.known.is_set() and presence.id != first and await _known(fresh_db) == {presence.id}
            )

        await _eventually(renamed)


async def test_a_locked_row_costs_a_worker_neither_its_presence_nor_the_other_searches(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    searched: list[bool] = []

    async def busy(_: WorkerTx) -> int:
        raise DatabaseBusyError("a row is locked; try again")

    async def free(_: WorkerTx) -> int:
        searched.append(presence.known.is_set())
        return 0

    presence = _presence(fresh_database, fresh_db)
    presence.rescue([busy, free], on_rescue=lambda _: None)

    async def twice() -> bool:
        return len(searched) > 1

    async with _present(presence):
        await _eventually(twice)
    assert all(searched)
