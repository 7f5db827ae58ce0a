"""A database that migrations can't run on is refused with the remedy, before anything is changed."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.support.migration_files import write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.compatibility import SchemaRange, check_servable
from tidings.operations.migrations.errors import (
    DatabaseUnreachableError,
    NotTheOwnerError,
    ReadOnlyServerError,
    RolesMissingError,
    SchemaTooNew,
    SchemaTooOld,
    StatementFailedError,
)
from tidings.operations.migrations.roles import ROLES, roles_sql
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.session import open_connection
from tidings.operations.migrations.statements import split
from tidings.operations.migrations.status import read_status

ONE = {"0001_pre_one.sql": "CREATE SCHEMA notification;"}
TWO = {"0002_pre_two.sql": "SELECT 1;"}


async def test_another_role_than_the_owner_is_refused(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Whoever does not own the schemas is told who does; nobody is advised to make the runtime role an owner."""
    folder = write_migrations(tmp_path, ONE)

    with pytest.raises(NotTheOwnerError, match="is tidings_runtime, and migrations run as tidings_owner"):
        await migrate_up(blank_database.runtime_url, folder=folder)
    await migrate_up(blank_database.owner_url, folder=folder)
    with pytest.raises(
        NotTheOwnerError, match="belongs to tidings_owner, and this connection is tidings_runtime"
    ):
        await migrate_up(blank_database.runtime_url, folder=folder)


async def test_a_server_that_takes_no_writes_is_told_apart(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """A replica's URL is a likely mistake; the message leads to the primary."""
    async with blank_database.owner() as owner:
        await owner.execute(f'ALTER DATABASE "{blank_database.name}" SET default_transaction_read_only = on')

    with pytest.raises(
        ReadOnlyServerError, match=r"read only, and migrations write\. Connect to the primary"
    ):
        await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, ONE))


async def test_an_unreachable_database_is_named_without_its_password(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """Passwords do not end up in terminals and logs."""
    folder = write_migrations(tmp_path, ONE)
    parts = urlsplit(blank_database.owner_url)
    closed = f"postgresql://tidings_owner:s3cret@{parts.hostname}:1/nowhere"
    wrong = urlunsplit(parts._replace(netloc=f"tidings_owner:s3cret@{parts.hostname}:{parts.port}"))

    for url, message in ((closed, ":1/nowhere"), (wrong, "password authentication failed")):
        with pytest.raises(DatabaseUnreachableError, match=message) as failure:
            await read_status(url, folder=folder)
        assert "s3cret" not in str(failure.value)


async def test_a_lost_connection_is_told(blank_database: TestDatabase) -> None:
    """Whenever the server goes away, the operator reads that running again is enough."""
    async with blank_database.owner() as owner:
        with pytest.raises(DatabaseUnreachableError, match=r"was lost: .*Run the command again"):
            async with open_connection(blank_database.owner_url) as connection:
                await owner.execute("SELECT pg_terminate_backend($1)", connection.get_server_pid())
                await connection.fetchval("SELECT 1")


def test_missing_roles_say_how_to_make_them() -> None:
    """The message leads to the command that prints the SQL."""
    error = RolesMissingError(("tidings_worker", "tidings_platform"))

    assert "lacks the roles tidings_worker, tidings_platform" in str(error)
    assert "`tidings migrate roles`" in str(error)


async def test_the_roles_script_can_run_again(blank_database: TestDatabase) -> None:
    """Where the roles exist it changes nothing, so that even the owner may run it."""
    async with blank_database.owner() as owner:
        before = await owner.fetch("SELECT * FROM pg_roles WHERE rolname LIKE 'tidings%' ORDER BY 1")

        await owner.execute(roles_sql())

        assert await owner.fetch("SELECT * FROM pg_roles WHERE rolname LIKE 'tidings%' ORDER BY 1") == before
    assert {row["rolname"] for row in before} == set(ROLES)


def test_the_roles_script_suits_single_user_mode() -> None:
    """There a statement ends at a semicolon with an empty line, so none may stand inside one."""
    pieces = [piece for piece in roles_sql().split(";\n\n") if piece.strip()]

    assert len(pieces) == len(split(roles_sql()).statements)


async def test_the_range_of_schemas(blank_database: TestDatabase, tmp_path: Path) -> None:
    """The serving role refuses a schema that is older or newer than its code."""
    async with blank_database.runtime() as runtime:
        with pytest.raises(SchemaTooOld, match=r"its schema is 0000.*`tidings migrate up`"):
            await check_servable(runtime, SchemaRange(oldest=1, newest=2))

        await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, ONE | TWO))

        await check_servable(runtime, SchemaRange(oldest=1, newest=2))
        await check_servable(runtime, SchemaRange(oldest=2, newest=2))
        with pytest.raises(SchemaTooOld, match="needs at least 0003"):
            await check_servable(runtime, SchemaRange(oldest=3, newest=4))
        with pytest.raises(SchemaTooNew, match=r"its schema is 0002.*up to 0001.*0002_pre_two does not say"):
            await check_servable(runtime, SchemaRange(oldest=1, newest=1))


async def test_a_half_applied_migration_is_not_served(blank_database: TestDatabase, tmp_path: Path) -> None:
    """The code may need what the missing statements bring."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, ONE | TWO))
    async with blank_database.owner() as owner, blank_database.runtime() as runtime:
        await owner.execute("UPDATE kernel.schema_migrations SET finished_at = NULL WHERE number = 2")

        with pytest.raises(SchemaTooOld):
            await check_servable(runtime, SchemaRange(oldest=2, newest=2))


async def test_unqualified_names_are_refused(blank_database: TestDatabase, tmp_path: Path) -> None:
    """A file can't pick up, or leave behind, objects in `public` by chance."""
    folder = write_migrations(tmp_path, {"0001_pre_bare.sql": "CREATE TABLE bare ();"})

    with pytest.raises(StatementFailedError, match="permission denied"):
        await migrate_up(blank_database.owner_url, folder=folder)
