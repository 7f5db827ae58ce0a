"""The emergency command undoes exactly the latest migration, and leaves a trace."""

from pathlib import Path

import pytest

from tests.support.migration_files import write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.emergency_down import migrate_down
from tidings.operations.migrations.errors import (
    BadDirectiveError,
    DownRefusedError,
    SchemaTooNew,
    StatementFailedError,
)
from tidings.operations.migrations.history import MigrationState
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.status import read_status

FILES = {
    "0001_pre_one.sql": "CREATE SCHEMA IF NOT EXISTS kernel; CREATE SCHEMA chan;",
    "0002_pre_two.sql": "CREATE TABLE chan.two (id int);",
    "down/0001_one.sql": "DROP SCHEMA kernel CASCADE; DROP SCHEMA chan;",
    "down/0002_two.sql": "DROP TABLE chan.two;",
}


async def test_the_latest_is_undone_and_can_come_again(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Ledger row gone, reason logged, and `up` applies it anew."""
    folder = write_migrations(tmp_path, FILES)
    await migrate_up(blank_database.owner_url, folder=folder)

    await migrate_down(blank_database.owner_url, 2, reason=" it hurts ", folder=folder, by="ada")

    async with blank_database.owner() as owner:
        assert await owner.fetchval("SELECT to_regclass('chan.two')") is None
        entry = await owner.fetchrow("SELECT * FROM kernel.schema_migrations_log ORDER BY entry DESC LIMIT 1")
        assert (entry["action"], entry["number"], entry["by"], entry["reason"]) == (
            "reverted",
            2,
            "ada",
            "it hurts",
        )
    assert [m.number for m in (await migrate_up(blank_database.owner_url, folder=folder)).applied] == [2]


async def test_even_the_first_leaves_its_trace(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Its down file takes the ledger's schema along; ledger and log are made again for the entry."""
    folder = write_migrations(tmp_path, {name: sql for name, sql in FILES.items() if "two" not in name})
    await migrate_up(blank_database.owner_url, folder=folder)

    await migrate_down(blank_database.owner_url, 1, reason="start over", folder=folder)

    async with blank_database.owner() as owner:
        assert await owner.fetchval("SELECT reason FROM kernel.schema_migrations_log") == "start over"
    assert len((await migrate_up(blank_database.owner_url, folder=folder)).applied) == 1


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ((1, "why not"), "and the latest is 0002, not 0001"),
        ((3, "why not"), "not 0003"),
        ((2, "  "), "needs a reason"),
    ],
)
async def test_everything_else_is_refused(
    blank_database: TestDatabase, tmp_path: Path, wanted: tuple[int, str], message: str
) -> None:
    """And nothing was changed."""
    number, reason = wanted
    folder = write_migrations(tmp_path, FILES)
    await migrate_up(blank_database.owner_url, folder=folder)

    with pytest.raises(DownRefusedError, match=message):
        await migrate_down(blank_database.owner_url, number, reason=reason, folder=folder)

    async with blank_database.owner() as owner:
        assert await owner.fetchval("SELECT max(number) FROM kernel.schema_migrations") == 2


async def test_a_missing_down_file_and_an_empty_database(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """Both are told plainly."""
    folder = write_migrations(tmp_path, {"0001_pre_one.sql": "SELECT 1;"})

    with pytest.raises(DownRefusedError, match="none is applied"):
        await migrate_down(blank_database.owner_url, 1, reason="x", folder=folder)
    await migrate_up(blank_database.owner_url, folder=folder)
    with pytest.raises(DownRefusedError, match=r"0001_pre_one has no down file.*down/0001_one\.sql"):
        await migrate_down(blank_database.owner_url, 1, reason="x", folder=folder)


async def test_a_newer_database_is_not_undone(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Only the release that made a change knows the way back."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path / "new", FILES))
    old = write_migrations(tmp_path / "old", {"0001_pre_one.sql": FILES["0001_pre_one.sql"]})

    with pytest.raises(SchemaTooNew):
        await migrate_down(blank_database.owner_url, 1, reason="x", folder=old)


async def test_a_failing_down_file_changes_nothing(blank_database: TestDatabase, tmp_path: Path) -> None:
    """File and ledger go together, backwards too."""
    folder = write_migrations(
        tmp_path, FILES | {"down/0002_two.sql": "DROP TABLE chan.two; SELECT nonsense;"}
    )
    await migrate_up(blank_database.owner_url, folder=folder)

    with pytest.raises(StatementFailedError, match=r"down/0002_two\.sql, line 1: .*Nothing was undone"):
        await migrate_down(blank_database.owner_url, 2, reason="x", folder=folder)

    async with blank_database.owner() as owner:
        assert await owner.fetchval("SELECT to_regclass('chan.two') IS NOT NULL")
        assert await owner.fetchval("SELECT max(number) FROM kernel.schema_migrations") == 2


async def test_a_down_file_without_transaction(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Broken off, the migration counts as half-applied: the same command, or `up`, brings it to an end."""
    forward = "-- tidings: transaction=off\nCREATE TABLE IF NOT EXISTS chan.two (id int);"
    back = (
        "-- tidings: transaction=off\nDROP TABLE IF EXISTS chan.two;\n"
        "DROP INDEX CONCURRENTLY IF EXISTS chan.none;\nDELETE FROM chan.obstacle;"
    )
    folder = write_migrations(tmp_path, FILES | {"0002_pre_two.sql": forward, "down/0002_two.sql": back})
    await migrate_up(blank_database.owner_url, folder=folder)

    with pytest.raises(StatementFailedError, match=r"down/0002_two\.sql, line 4: .*counts as half-applied"):
        await migrate_down(blank_database.owner_url, 2, reason="x", folder=folder)

    states = [standing.state for standing in await read_status(blank_database.owner_url, folder=folder)]
    assert states == [MigrationState.APPLIED, MigrationState.HALF_APPLIED]
    await migrate_up(blank_database.owner_url, folder=folder)
    async with blank_database.owner() as owner:
        assert await owner.fetchval("SELECT to_regclass('chan.two') IS NOT NULL")
        await owner.execute("CREATE TABLE chan.obstacle ()")
    await migrate_down(blank_database.owner_url, 2, reason="x", folder=folder)
    states = [standing.state for standing in await read_status(blank_database.owner_url, folder=folder)]
    assert states == [MigrationState.APPLIED, MigrationState.PENDING]


async def test_a_down_file_builds_no_index(blank_database: TestDatabase, tmp_path: Path) -> None:
    """The directive is for going forward."""
    online = "-- tidings: transaction=off\n-- tidings: online\nCREATE INDEX i ON chan.two (id);"
    folder = write_migrations(tmp_path, FILES | {"down/0002_two.sql": online})
    await migrate_up(blank_database.owner_url, folder=folder)

    with pytest.raises(BadDirectiveError, match=r"down/0002_two\.sql: a down file builds no index"):
        await migrate_down(blank_database.owner_url, 2, reason="x", folder=folder)
