"""The app is rolled back, not the schema: an old release starts on a newer schema that allows it."""

from pathlib import Path

import pytest

from tests.support.migration_files import Watcher, write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.compatibility import SchemaRange, check_servable, oldest_release
from tidings.operations.migrations.errors import SchemaTooNew
from tidings.operations.migrations.history import MigrationState, compare
from tidings.operations.migrations.ledger import read_ledger
from tidings.operations.migrations.release import Release
from tidings.operations.migrations.runner import migrate_up

OLD = {"0001_pre_one.sql": "CREATE SCHEMA chan;"}
ADDS = {"0002_pre_two.sql": "-- tidings: oldest-release=1.0.0\nCREATE TABLE chan.two (id int);"}
REMOVES = {"0003_post_three.sql": "-- tidings: oldest-release=1.1.0\nDROP TABLE chan.two;"}
#: What the code of 1.0 knows.
OF_OLD = SchemaRange(oldest=1, newest=1)
YESTERDAY = Release(1, 0, 0)


async def test_an_old_release_starts_on_a_schema_that_allows_it(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """What a newer release has added is in nobody's way."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, OLD | ADDS))

    async with blank_database.runtime() as runtime:
        await check_servable(runtime, OF_OLD, YESTERDAY)
        rows = await read_ledger(runtime)

    assert oldest_release(rows) == YESTERDAY


async def test_a_release_that_the_schema_does_not_allow_is_refused(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """The refusal names the oldest release that may start, whichever file asks for it."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, OLD | ADDS | REMOVES))

    async with blank_database.runtime() as runtime:
        with pytest.raises(
            SchemaTooNew,
            match=r"schema is 0003, this release \(1\.0\.0\) knows up to 0001, and the oldest release that works on "
            r"0003_post_three is 1\.1\.0\. Start 1\.1\.0 or a later release\.",
        ):
            await check_servable(runtime, OF_OLD, YESTERDAY)
        await check_servable(runtime, OF_OLD, Release(1, 1, 0))
        await check_servable(runtime, OF_OLD, Release(1, 2, 3))


async def test_a_half_applied_newer_file_counts_too(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Its statements are in the database from the first one on."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, OLD | ADDS | REMOVES))
    async with blank_database.owner() as owner, blank_database.runtime() as runtime:
        await owner.execute("UPDATE kernel.schema_migrations SET finished_at = NULL WHERE number = 3")

        with pytest.raises(SchemaTooNew):
            await check_servable(runtime, OF_OLD, YESTERDAY)


async def test_the_old_release_finds_nothing_to_migrate(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Its `migrate up` (and so its `tidings up`) says that the database is ahead, and changes nothing."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path / "new", OLD | ADDS))
    old = write_migrations(tmp_path / "old", OLD)
    watcher = Watcher()

    outcome = await migrate_up(blank_database.owner_url, folder=old, release=YESTERDAY, report=watcher)

    assert outcome.applied == ()
    assert watcher.lines() == [
        "the database is ahead of this release (1.0.0): 0002_pre_two came with a newer one, and works with 1.0.0 "
        "or later"
    ]
    with pytest.raises(SchemaTooNew, match=r"Start 1\.0\.0 or a later release"):
        await migrate_up(blank_database.owner_url, folder=old, release=Release(0, 9, 0))


async def test_a_ledger_of_before_is_read_and_completed(blank_database: TestDatabase, tmp_path: Path) -> None:
    """A database whose ledger does not know releases yet can be read by all and migrated on."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, OLD))
    async with blank_database.owner() as owner, blank_database.runtime() as runtime:
        await owner.execute("ALTER TABLE kernel.schema_migrations DROP COLUMN oldest_release")
        await check_servable(runtime, OF_OLD, YESTERDAY)
        with pytest.raises(SchemaTooNew, match="does not say that an older release works on it"):
            await check_servable(runtime, SchemaRange(oldest=0, newest=0), YESTERDAY)

    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, ADDS))

    async with blank_database.runtime() as runtime:
        rows = await read_ledger(runtime)
    assert [row.oldest_release for row in rows] == [None, YESTERDAY]
    assert [s.state for s in compare([], rows, YESTERDAY)] == [MigrationState.UNKNOWN, MigrationState.AHEAD]
