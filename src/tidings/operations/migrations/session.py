"""Opens the one connection of a run: settings, checks of the database, and the lock against other runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

import asyncpg

from tidings.kernel.sql import Queries
from tidings.operations.migrations.errors import (
    DatabaseUnreachableError,
    NotTheOwnerError,
    ReadOnlyServerError,
    RolesMissingError,
    ServerTooOldError,
)
from tidings.operations.migrations.progress import ProgressWarning, Report, WaitingForOther
from tidings.operations.migrations.roles import OWNER_ROLE, ROLES

#: The schemas that the connected role must own where they exist.
SCHEMAS: Final = ("kernel", "notification", "notification_platform", "chan", "bff_backoffice")
OLDEST_POSTGRES: Final = 15
_QUERIES = Queries.beside(__file__)
# Any number will do; it has to stay the same in every release.
_LOCK_KEY: Final = 7_430_221_508_664_051
_LOCK_POLL_SECONDS: Final = 0.2
_SETTINGS: Final = (
    "RESET ROLE",
    "RESET ALL",
    # Files name their schemas. A table that an attacker planted in `public` must not be picked up by chance.
    "SET search_path = pg_catalog, pg_temp",
    "SET statement_timeout = 0",
    "SET idle_in_transaction_session_timeout = 0",
    "SET client_min_messages = warning",
    "SET timezone = 'UTC'",
)


@asynccontextmanager
async def open_connection(url: str) -> AsyncIterator[asyncpg.Connection]:
    """Connect for reading the ledger: no lock, no checks."""
    where = describe(url)
    try:
        connection = await asyncpg.connect(url, server_settings={"application_name": "tidings migrate"})
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise DatabaseUnreachableError(
            f"Can't connect to {where}: {str(error) or type(error).__name__}. "
            "Check the owner's database URL and that Postgres is running."
        ) from error
    try:
        await settle(connection)
        yield connection
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
        # The driver's internal error: the server's farewell came while nothing was being asked.
        if not connection.is_closed() and not isinstance(error, asyncpg.InternalClientError):
            raise
        raise DatabaseUnreachableError(
            f"The connection to {where} was lost: {str(error) or type(error).__name__}. "
            "Run the command again; it goes on where this one ended."
        ) from error
    finally:
        await _close(connection)


@asynccontextmanager
async def open_runner(url: str, report: Report) -> AsyncIterator[asyncpg.Connection]:
    """Connect for changing the schema: after the checks, and alone."""
    async with open_connection(url) as connection:
        connection.add_log_listener(
            lambda _connection, message: report(ProgressWarning(text=str(message.message)))
        )
        await check_database(connection, report)
        await _take_lock(connection, report)
        yield connection  # the lock ends with the session, however the session ends


async def settle(connection: asyncpg.Connection) -> None:
    """Undo whatever an earlier file has set in the session."""
    for setting in _SETTINGS:
        await connection.execute(setting)
    # By itself the server finishes a long statement for a client that was killed. Not every system can watch.
    with suppress(asyncpg.PostgresError):
        await connection.execute("SET client_connection_check_interval = '2s'")


async def check_database(connection: asyncpg.Connection, report: Report) -> None:
    """Refuse a database that migrations can't, or must not, run on."""
    version = connection.get_server_version()
    if version.major < OLDEST_POSTGRES:
        raise ServerTooOldError(
            f"This server is Postgres {version.major}. Tidings needs {OLDEST_POSTGRES} or newer: upgrade "
            "the server."
        )
    present = {row["rolname"] for row in await connection.fetch(_QUERIES.roles_present.text, list(ROLES))}
    if missing := tuple(role for role in ROLES if role not in present):
        raise RolesMissingError(missing)
    who = await connection.fetchrow(_QUERIES.who_am_i.text)
    if who["is_replica"] or who["is_read_only"]:
        kind = "a replica" if who["is_replica"] else "set to read only"
        raise ReadOnlyServerError(
            f"This server is {kind}, and migrations write. Connect to the primary: "
            "set TIDINGS_OWNER_DATABASE_URL."
        )
    for row in await connection.fetch(_QUERIES.schema_owners.text, list(SCHEMAS)):
        if row["owner"] != who["name"]:
            raise NotTheOwnerError(
                f"The schema {row['schema']} belongs to {row['owner']}, and this connection is "
                f"{who['name']}. "
                f"Connect as {row['owner']}: set TIDINGS_OWNER_DATABASE_URL."
            )
    if who["is_superuser"]:
        report(
            ProgressWarning(
                text=f"{who['name']} is a superuser, whom row-level security does not bind; "
                "migrations should run as tidings_owner"
            )
        )
    elif who["name"] != OWNER_ROLE:
        # The policies name the owner, and what another role would own it could not seed.
        raise NotTheOwnerError(
            f"This connection is {who['name']}, and migrations run as {OWNER_ROLE}. "
            "Set TIDINGS_OWNER_DATABASE_URL."
        )
    if not who["may_create"]:
        raise NotTheOwnerError(
            f"{who['name']} may not create schemas in the database {who['database']}. As an administrator: "
            f'ALTER DATABASE "{who["database"]}" OWNER TO {who["name"]};'
        )


def describe(url: str) -> str:
    """Where a URL points, without its password."""
    try:
        parts = urlsplit(url)
        port = parts.port or 5432
    except ValueError:
        return "the owner's database (its URL can't be read)"
    return f"{parts.hostname or 'local socket'}:{port}{parts.path}"


async def _take_lock(connection: asyncpg.Connection, report: Report) -> None:
    """Wait until no other run is under way.

    We ask again and again instead of waiting inside Postgres: a waiting statement holds a snapshot, and the
    other run's CREATE INDEX CONCURRENTLY would wait for that snapshot for ever.
    """
    told = False
    while not await connection.fetchval(_QUERIES.try_lock.text, _LOCK_KEY):
        if not told:
            holder = await connection.fetchval(_QUERIES.lock_holder.text, _LOCK_KEY)
            report(WaitingForOther(holder=holder or "it is just ending"))
            told = True
        await asyncio.sleep(_LOCK_POLL_SECONDS)


async def _close(connection: asyncpg.Connection) -> None:
    try:
        await connection.close(timeout=10)
    except (
        TimeoutError,
        OSError,
        asyncpg.PostgresError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,
    ):
        connection.terminate()
