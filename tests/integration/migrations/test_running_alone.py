"""Two runs never work at once, and a run never makes everybody wait behind it."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.migration_files import RunnerProcess, Watcher, write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.errors import StayedBusyError
from tidings.operations.migrations.progress import Began, Busy, IndexProgress, WaitingForOther
from tidings.operations.migrations.retry_policy import LockRetryPolicy
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.status import check_schema

TABLE = {"0001_pre_table.sql": "CREATE SCHEMA chan; CREATE TABLE chan.busy (id int);"}
COLUMN = {"0002_pre_column.sql": "CREATE TABLE chan.first (); ALTER TABLE chan.busy ADD COLUMN name text;"}
STEPS = {
    "0002_pre_column.sql": "-- tidings: transaction=off\nALTER TABLE chan.busy ADD COLUMN IF NOT EXISTS "
    "name text;"
}
INDEX = {
    "0003_post_index.sql": "-- tidings: transaction=off\n-- tidings: online\nCREATE INDEX by_id ON "
    "chan.busy (id);"
}
QUICK = LockRetryPolicy(lock_timeout=timedelta(milliseconds=50), attempts=3, pause=timedelta(milliseconds=10))
STUBBORN = LockRetryPolicy(
    lock_timeout=timedelta(milliseconds=50), attempts=1000, pause=timedelta(milliseconds=10)
)


async def test_two_processes_at_once(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Both succeed, and every file was applied by one of them."""
    folder = write_migrations(tmp_path, TABLE | COLUMN | INDEX)

    runners = [await RunnerProcess.start(blank_database.owner_url, folder) for _ in range(2)]
    ends = [await runner.finish() for runner in runners]

    assert [code for code, _ in ends] == [0, 0], ends
    assert "".join(output for _, output in ends).count("0003_post_index: done") == 1
    assert await check_schema(blank_database.owner_url, folder=folder) == []


async def test_a_waiting_run_does_not_block_an_online_index(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """The second waits without a snapshot, for which the first one's index would wait in turn."""
    folder = write_migrations(tmp_path, TABLE | INDEX | {"0002_pre_column.sql": "SELECT 1;"})
    await migrate_up(blank_database.owner_url, folder=folder, phase="pre")
    first, second = Watcher(), Watcher()
    async with blank_database.owner() as writer:
        transaction = writer.transaction()
        await transaction.start()
        await writer.execute("INSERT INTO chan.busy VALUES (1)")

        async with asyncio.TaskGroup() as tasks:
            one = tasks.create_task(migrate_up(blank_database.owner_url, folder=folder, report=first))
            await first.heard(Began)
            other = tasks.create_task(migrate_up(blank_database.owner_url, folder=folder, report=second))
            await second.heard(WaitingForOther)
            await transaction.commit()
            await first.heard(IndexProgress)

    assert len(one.result().applied) == 1
    assert other.result().applied == ()
    assert second.lines()[0].startswith("another migration is running (process ")


@pytest.mark.parametrize("change", [COLUMN, STEPS])
async def test_a_busy_table_is_asked_again(
    blank_database: TestDatabase, tmp_path: Path, change: dict[str, str]
) -> None:
    """The run steps back, and goes through once the table is free."""
    folder = write_migrations(tmp_path, TABLE)
    await migrate_up(blank_database.owner_url, folder=folder)
    write_migrations(tmp_path, change)
    watcher = Watcher()
    async with blank_database.owner() as reader, blank_database.owner() as other:
        transaction = reader.transaction()
        await transaction.start()
        await reader.execute("LOCK TABLE chan.busy IN ACCESS SHARE MODE")

        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(
                migrate_up(blank_database.owner_url, folder=folder, lock_retry=STUBBORN, report=watcher)
            )
            await watcher.heard(Busy)
            # Whoever comes now is served between two attempts, although the lock is still held.
            await other.execute("INSERT INTO chan.busy VALUES (1)")
            assert not run.done()
            await transaction.commit()

        assert len(run.result().applied) == 1


async def test_a_table_that_stays_busy(blank_database: TestDatabase, tmp_path: Path) -> None:
    """In the end the run gives up, names the line, and has changed nothing."""
    folder = write_migrations(tmp_path, TABLE)
    await migrate_up(blank_database.owner_url, folder=folder)
    write_migrations(tmp_path, COLUMN)
    async with blank_database.owner() as reader, reader.transaction():
        await reader.execute("LOCK TABLE chan.busy IN ACCESS SHARE MODE")

        with pytest.raises(StayedBusyError, match=r"0002_pre_column\.sql, line 1: .* 3 attempts of 0\.05 s"):
            await migrate_up(blank_database.owner_url, folder=folder, lock_retry=QUICK)

        assert await reader.fetchval("SELECT to_regclass('chan.first')") is None
