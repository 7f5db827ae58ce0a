"""A run killed at any statement is finished by running it again."""

from pathlib import Path

import asyncpg
import pytest

from tests.support.migration_files import RunnerProcess, until, write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.status import check_schema

SETUP = {
    "0001_pre_setup.sql": "CREATE SCHEMA chan; CREATE TABLE chan.dawdle (seconds int);"
    "INSERT INTO chan.dawdle VALUES (600);"
}
# It sleeps while the table has a row, so that the same file is slow once and quick later.
SLEEP = "SELECT pg_sleep(seconds) FROM chan.dawdle;"


async def asleep(owner: asyncpg.Connection) -> bool:
    """Whether a statement of this database is sleeping."""
    found: bool = await owner.fetchval(
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = "
        "'PgSleep'"
    )
    return found


async def test_a_transactional_file(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Nothing of the killed attempt is left; the next run does it whole."""
    folder = write_migrations(
        tmp_path, SETUP | {"0002_pre_half.sql": f"CREATE TABLE chan.half (id int); {SLEEP} SELECT 1;"}
    )
    runner = await RunnerProcess.start(blank_database.owner_url, folder)
    async with blank_database.owner() as owner:
        await until(lambda: asleep(owner))

        await runner.kill()

        await owner.execute("DELETE FROM chan.dawdle")
        outcome = await migrate_up(blank_database.owner_url, folder=folder)
        assert [migration.number for migration in outcome.applied] == [2]
        assert await owner.fetchval("SELECT to_regclass('chan.half') IS NOT NULL")
    assert await check_schema(blank_database.owner_url, folder=folder) == []


async def test_a_file_without_transaction(blank_database: TestDatabase, tmp_path: Path) -> None:
    """The statements before the kill stay and are not repeated; the rest follows."""
    steps = (
        "-- tidings: transaction=off\n"
        f"CREATE TABLE chan.once (id int);\nINSERT INTO chan.once VALUES (1);\n{SLEEP}\n"
        "INSERT INTO chan.once VALUES (2);"
    )
    folder = write_migrations(tmp_path, SETUP | {"0002_pre_steps.sql": steps})
    runner = await RunnerProcess.start(blank_database.owner_url, folder)
    async with blank_database.owner() as owner:
        await until(lambda: asleep(owner))

        await runner.kill()

        assert (
            await owner.fetchval("SELECT statements_done FROM kernel.schema_migrations WHERE number = 2") == 2
        )
        await owner.execute("DELETE FROM chan.dawdle")
        await migrate_up(blank_database.owner_url, folder=folder)
        assert [row["id"] for row in await owner.fetch("SELECT id FROM chan.once ORDER BY id")] == [1, 2]
    assert await check_schema(blank_database.owner_url, folder=folder) == []


@pytest.mark.parametrize("server_notices", [True, False])
async def test_an_online_index_on_partitions(
    blank_database: TestDatabase, tmp_path: Path, server_notices: bool
) -> None:
    """Killed inside one partition's build, it is repaired, completed and attached by the next run."""
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_tree.sql": "CREATE SCHEMA chan; CREATE TABLE chan.tree (id int) PARTITION BY RANGE "
            "(id);"
            + "".join(
                f"CREATE TABLE chan.tree_{n} PARTITION OF chan.tree FOR VALUES FROM ({n}0) TO ({n}9);"
                for n in range(1, 5)
            )
        },
    )
    await migrate_up(blank_database.owner_url, folder=folder)
    write_migrations(
        tmp_path,
        {
            "0002_post_index.sql": "-- tidings: transaction=off\n-- tidings: online\n"
            "CREATE INDEX tree_by_id ON chan.tree (id);"
        },
    )
    async with blank_database.owner() as owner, blank_database.owner() as writer:
        # An open write makes the concurrent build of the third partition wait, with its index invalid.
        writing = writer.transaction()
        await writing.start()
        await writer.execute("INSERT INTO chan.tree_3 VALUES (31)")
        runner = await RunnerProcess.start(blank_database.owner_url, folder)
        await until(
            lambda: owner.fetchval(
                "SELECT count(*) > 0 FROM pg_stat_progress_create_index "
                "WHERE relid = 'chan.tree_3'::regclass AND phase LIKE 'waiting for writers%'"
            )
        )

        await runner.kill()
        if server_notices:  # otherwise its side of the connection lives on for a while, and holds the lock
            await owner.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'tidings migrate'"
            )

        findings = {finding.kind for finding in await check_schema(blank_database.owner_url, folder=folder)}
        assert findings == {"half-applied", "invalid-index"}
        await writing.rollback()
        await migrate_up(blank_database.owner_url, folder=folder)
        attached = await owner.fetchval(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'chan.tree_by_id'::regclass"
        )
        indexes = await owner.fetchval("SELECT count(*) FROM pg_indexes WHERE schemaname = 'chan'")
    assert (attached, indexes) == (4, 5)
    assert await check_schema(blank_database.owner_url, folder=folder) == []
