"""The migrations that this release brings, applied by the runner."""

from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.operations.migrations.compatibility import check_servable
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER, discover
from tidings.operations.migrations.emergency_down import migrate_down
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.schema_dump import SCHEMA_PATH, difference, dump_schema
from tidings.operations.migrations.status import check_schema
from tidings.operations.partitions import make_missing


async def test_an_empty_database_becomes_servable(blank_database: TestDatabase) -> None:
    """All files apply, nothing is left to do, and the code serves the result."""
    outcome = await migrate_up(blank_database.owner_url)

    assert len(outcome.applied) == len(discover())
    async with blank_database.owner() as owner:
        await make_missing(owner, SystemClock().now())  # as `tidings migrate up` does
    assert await check_schema(blank_database.owner_url) == []
    async with blank_database.runtime() as runtime:
        await check_servable(runtime)


async def test_every_file_can_be_undone_and_applied_again(blank_database: TestDatabase) -> None:
    """Down to nothing and up again gives the same schema."""
    await migrate_up(blank_database.owner_url)
    before = await dump_schema(blank_database.owner_url)

    for migration in reversed(discover()):
        await migrate_down(blank_database.owner_url, migration.number, reason="drill")
    await migrate_up(blank_database.owner_url)

    assert difference(before, await dump_schema(blank_database.owner_url)) == ""


async def test_every_file_can_be_run_twice(blank_database: TestDatabase) -> None:
    """Each tolerates being executed again, as the seeds ask; the ledger is made to forget them."""
    await migrate_up(blank_database.owner_url)
    before = await dump_schema(blank_database.owner_url)
    async with blank_database.owner() as owner:
        await owner.execute("DELETE FROM kernel.schema_migrations")

    outcome = await migrate_up(blank_database.owner_url)

    assert len(outcome.applied) == len(discover())
    assert difference(before, await dump_schema(blank_database.owner_url)) == ""


async def test_the_committed_schema_is_up_to_date(blank_database: TestDatabase) -> None:
    """`schema.sql` shows what the migrations make; on a mismatch run `tidings migrate dump`."""
    assert SCHEMA_PATH.parent == MIGRATIONS_FOLDER
    await migrate_up(blank_database.owner_url)
    async with blank_database.owner() as owner:
        newer_server = owner.get_server_version().major > 16

    fresh = await dump_schema(blank_database.owner_url)

    # Postgres 18 writes NOT NULL as named constraints: the text is compared on the version that made it.
    assert newer_server or difference(SCHEMA_PATH.read_text(encoding="utf-8"), fresh) == ""
