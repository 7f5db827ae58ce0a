"""Pending files are applied in order, once, each with its ledger row."""

from pathlib import Path

import asyncpg
import pytest

from tests.support.migration_files import Watcher, write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.errors import (
    ChangedHalfwayError,
    ChangedMigrationError,
    SchemaTooNew,
    StatementFailedError,
)
from tidings.operations.migrations.history import MigrationState
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.status import check_schema, read_status

FIRST = {"0001_pre_things.sql": "CREATE SCHEMA notification; CREATE TABLE notification.things (id int);"}
SECOND = {"0002_post_more.sql": "ALTER TABLE notification.things ADD COLUMN name text;"}


async def test_everything_is_applied_once(blank_database: TestDatabase, tmp_path: Path) -> None:
    """A second run finds nothing to do."""
    folder = write_migrations(tmp_path, FIRST | SECOND)

    first = await migrate_up(blank_database.owner_url, folder=folder, by="ada@host")
    second = await migrate_up(blank_database.owner_url, folder=folder)

    assert [migration.number for migration in first.applied] == [1, 2]
    assert second.applied == ()
    async with blank_database.owner() as owner:
        rows = await owner.fetch("SELECT * FROM kernel.schema_migrations ORDER BY number")
        log = await owner.fetch("SELECT action, number, by FROM kernel.schema_migrations_log ORDER BY entry")
    assert [(row["number"], row["slug"], row["statements_done"]) for row in rows] == [
        (1, "things", 2),
        (2, "more", 1),
    ]
    assert all(row["finished_at"] >= row["started_at"] and row["applied_by"] == "ada@host" for row in rows)
    assert [tuple(entry) for entry in log] == [("applied", 1, "ada@host"), ("applied", 2, "ada@host")]


async def test_the_log_can_only_grow(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Not even the owner changes an entry by accident."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, FIRST))

    async with blank_database.owner() as owner:
        for statement in (
            "UPDATE kernel.schema_migrations_log SET by = 'nobody'",
            "DELETE FROM kernel.schema_migrations_log",
            "TRUNCATE kernel.schema_migrations_log",
        ):
            with pytest.raises(asyncpg.PostgresError, match="append-only"):
                await owner.execute(statement)


async def test_the_runtime_role_reads_the_ledger_and_no_more(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """The serving process checks the version with its own role."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, FIRST))

    async with blank_database.runtime() as runtime:
        assert await runtime.fetchval("SELECT max(number) FROM kernel.schema_migrations") == 1
        for statement in (
            "UPDATE kernel.schema_migrations SET number = 2",
            "DELETE FROM kernel.schema_migrations",
            "SELECT 1 FROM kernel.schema_migrations_log",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await runtime.execute(statement)


async def test_a_failing_file_leaves_nothing(blank_database: TestDatabase, tmp_path: Path) -> None:
    """The error names file and line; the files before it stay; the corrected file goes through."""
    broken = "CREATE TABLE notification.more (id int);\n\nSELECT nonsense;"
    folder = write_migrations(tmp_path, FIRST | {"0002_pre_more.sql": broken})

    with pytest.raises(
        StatementFailedError, match=r"0002_pre_more\.sql, line 3: .*nonsense.*Nothing of this file"
    ):
        await migrate_up(blank_database.owner_url, folder=folder)

    states = [standing.state for standing in await read_status(blank_database.owner_url, folder=folder)]
    assert states == [MigrationState.APPLIED, MigrationState.PENDING]
    write_migrations(tmp_path, {"0002_pre_more.sql": "CREATE TABLE notification.more (id int);"})
    assert len((await migrate_up(blank_database.owner_url, folder=folder)).applied) == 1


async def test_a_failing_file_without_transaction_goes_on(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """Statements that are done are not repeated, and the file may not change in between."""
    stepwise = (
        "-- tidings: transaction=off\nCREATE TABLE notification.a ();\nINSERT INTO notification.b VALUES (1);"
    )
    folder = write_migrations(tmp_path, FIRST | {"0002_pre_steps.sql": stepwise})

    with pytest.raises(StatementFailedError, match=r"line 3: .*goes on with this statement"):
        await migrate_up(blank_database.owner_url, folder=folder)

    found = {
        finding.subject: finding.kind
        for finding in await check_schema(blank_database.owner_url, folder=folder)
    }
    assert found == {"0002_pre_steps": "half-applied"}
    write_migrations(tmp_path, {"0002_pre_steps.sql": stepwise + "\nSELECT 1;"})
    with pytest.raises(
        ChangedHalfwayError, match=r"0002_pre_steps\.sql was changed while it is half-applied"
    ):
        await migrate_up(blank_database.owner_url, folder=folder)
    write_migrations(tmp_path, {"0002_pre_steps.sql": stepwise})
    async with blank_database.owner() as owner:
        await owner.execute("CREATE TABLE notification.b (id int)")
    watcher = Watcher()
    await migrate_up(blank_database.owner_url, folder=folder, report=watcher)
    assert "0002_pre_steps: going on after statement 1" in watcher.lines()
    async with blank_database.owner() as owner:
        log = await owner.fetch(
            "SELECT action FROM kernel.schema_migrations_log WHERE number = 2 ORDER BY entry"
        )
    assert [entry["action"] for entry in log] == ["started", "resumed", "applied"]


async def test_a_tampered_file_is_named(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Nothing runs after a file that differs from what was applied."""
    folder = write_migrations(tmp_path, FIRST)
    await migrate_up(blank_database.owner_url, folder=folder)
    write_migrations(tmp_path, {"0001_pre_things.sql": "SELECT 1;"} | SECOND)

    with pytest.raises(ChangedMigrationError, match=r"0001_pre_things\.sql was changed"):
        await migrate_up(blank_database.owner_url, folder=folder)

    findings = {f.subject: f.kind for f in await check_schema(blank_database.owner_url, folder=folder)}
    assert findings == {"0001_pre_things": "changed", "0002_post_more": "pending"}


async def test_a_newer_database_is_left_alone(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Yesterday's release says so and changes nothing."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path / "new", FIRST | SECOND))

    with pytest.raises(SchemaTooNew, match="The database is newer than this Tidings"):
        await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path / "old", FIRST))


async def test_phases_stop_at_each_other(blank_database: TestDatabase, tmp_path: Path) -> None:
    """`pre`, then the new code, then `post`."""
    folder = write_migrations(tmp_path, FIRST | SECOND)
    watcher = Watcher()

    early = await migrate_up(blank_database.owner_url, folder=folder, phase="post")
    pre = await migrate_up(blank_database.owner_url, folder=folder, phase="pre", report=watcher)
    post = await migrate_up(blank_database.owner_url, folder=folder, phase="post")

    assert early.applied == ()
    assert early.stopped_before is not None
    assert [migration.number for migration in pre.applied] == [1]
    assert "stopped before 0002_post_more: start the new code everywhere" in watcher.lines()[-1]
    assert [migration.number for migration in post.applied] == [2]
    assert post.stopped_before is None


async def test_settings_of_one_file_end_with_it(blank_database: TestDatabase, tmp_path: Path) -> None:
    """A SET in one file must not change the meaning of the next."""
    folder = write_migrations(
        tmp_path,
        FIRST
        | {
            "0002_pre_path.sql": "SET search_path = notification; CREATE TABLE a ();",
            "0003_pre_role.sql": "SET LOCAL ROLE tidings_breakglass; SELECT 1;",
            "0004_pre_bare.sql": "CREATE TABLE b ();",
        },
    )

    with pytest.raises(StatementFailedError, match=r"0004_pre_bare\.sql"):
        await migrate_up(blank_database.owner_url, folder=folder)


async def test_status_of_an_empty_database_creates_nothing(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """Looking changes nothing."""
    folder = write_migrations(tmp_path, FIRST)

    standings = await read_status(blank_database.owner_url, folder=folder)

    assert [standing.state for standing in standings] == [MigrationState.PENDING]
    async with blank_database.owner() as owner:
        assert await owner.fetchval("SELECT to_regnamespace('kernel')") is None
