"""Pools and transactions: the only place that sets a tenant or a role.

`TenantTx` exists only after its tenant was set for this very transaction, `PlatformTx` and `WorkerTx` only
under their own database role. A store function that takes a `TenantTx` can't be called without a tenant.
Row-level security is the wall; these types are the signposts.

The settings travel in the same round trip as BEGIN, and they are all LOCAL: the end of the transaction
wipes them, so a connection goes back to the pool clean and needs no reset.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from tidings.kernel import errors
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.sql import LOADED, Query

CallerRole = Literal[
    "platform.channel.admin", "platform.support", "tenant.admin", "tenant.support", "tenant.viewer"
]
CALLER_ROLES: tuple[CallerRole, ...] = (
    "platform.channel.admin",
    "platform.support",
    "tenant.admin",
    "tenant.support",
    "tenant.viewer",
)

#: What a query gives back: `row["tenant_id"]`.
Row: TypeAlias = Mapping[str, Any]


class _Connection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg ships no types
    """A connection that is given back without the driver's reset round trip; see the module's docstring."""

    def get_reset_query(self) -> str:
        return ""


class Tx:
    """A transaction under way."""

    def __init__(self, connection: "PoolConnectionProxy | asyncpg.Connection") -> None:
        self._connection = connection

    async def fetch(self, query: Query, **values: Any) -> list[Row]:
        """All rows."""
        with translated():
            return list(await self._connection.fetch(query.text, *query.arguments(values)))

    async def fetch_one(self, query: Query, **values: Any) -> Row | None:
        """The first row, if there is one."""
        with translated():
            row: Row | None = await self._connection.fetchrow(query.text, *query.arguments(values))
            return row

    async def fetch_value(self, query: Query, **values: Any) -> Any:
        """The first column of the first row, or None."""
        with translated():
            return await self._connection.fetchval(query.text, *query.arguments(values))

    async def execute(self, query: Query, **values: Any) -> int:
        """Run it; how many rows it touched."""
        with translated():
            tag: str = await self._connection.execute(query.text, *query.arguments(values))
        count = tag.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A part that can fail alone."""
        with translated():
            await self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            with translated():
                await self._connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")
            raise
        with translated():
            await self._connection.execute("RELEASE SAVEPOINT part")


class TenantTx(Tx):
    """A transaction that sees one tenant's rows and the platform's shared ones."""

    def __init__(self, connection: "PoolConnectionProxy | asyncpg.Connection", tenant_id: TenantId) -> None:
        super().__init__(connection)
        #: Whose transaction this is.
        self.tenant_id = tenant_id


class PlatformTx(Tx):
    """A transaction of the platform itself: tenants, keys, registries, rows without a tenant."""


class WorkerTx(Tx):
    """A transaction that claims work across tenants, on tables that hold ids and no content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """How a process talks to Postgres."""

    #: Connections kept open even when idle; the first request does not wait for one.
    min_size: int = 2
    #: Connections at most; more requests than that wait in line.
    max_size: int = 10
    #: A statement that takes longer is cancelled and answered as busy.
    statement_timeout: timedelta = timedelta(seconds=30)
    #: A statement that waits longer for a lock is cancelled and answered as busy.
    lock_timeout: timedelta = timedelta(seconds=5)
    #: A transaction that idles longer is ended by the server: somebody forgot it.
    idle_in_transaction_timeout: timedelta = timedelta(seconds=60)
    #: How long to wait for a connection, to the server or out of the pool.
    acquire_timeout: timedelta = timedelta(seconds=10)


class Database:
    """The runtime role's pool, and the transactions that come out of it."""

    def __init__(self, url: str, pool: PoolSettings | None = None) -> None:
        self._url = url
        self._settings = pool or PoolSettings()
        self._pool: asyncpg.Pool | None = None

    async def open(self) -> None:
        """Connect; a `DatabaseUnavailableError` where that fails."""
        settings = self._settings
        with translated():
            self._pool = await asyncpg.create_pool(
                self._url,
                min_size=settings.min_size,
                max_size=settings.max_size,
                timeout=settings.acquire_timeout.total_seconds(),
                connection_class=_Connection,
                server_settings={
                    "application_name": "tidings",
                    "timezone": "UTC",
                    "statement_timeout": _milliseconds(settings.statement_timeout),
                    "lock_timeout": _milliseconds(settings.lock_timeout),
                    "idle_in_transaction_session_timeout": _milliseconds(
                        settings.idle_in_transaction_timeout
                    ),
                },
            )

    async def close(self) -> None:
        """Give all connections back, and drop them where that takes too long."""
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        try:
            await asyncio.wait_for(pool.close(), 5)
        except TimeoutError:
            pool.terminate()

    @asynccontextmanager
    async def tenant(
        self, tenant_id: TenantId, *, caller_role: CallerRole | None = None
    ) -> AsyncIterator[TenantTx]:
        """A transaction for one tenant; committed at the end, rolled back on any exception."""
        async with self._transaction(_begin_tenant(tenant_id, caller_role)) as connection:
            yield TenantTx(connection, tenant_id)

    @asynccontextmanager
    async def platform(self) -> AsyncIterator[PlatformTx]:
        """A transaction of the platform role."""
        async with self._transaction("BEGIN; SET LOCAL ROLE tidings_platform") as connection:
            yield PlatformTx(connection)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[WorkerTx]:
        """A transaction of the worker role."""
        async with self._transaction("BEGIN; SET LOCAL ROLE tidings_worker") as connection:
            yield WorkerTx(connection)

    async def ping(self) -> None:
        """Ask the server for a sign of life."""
        with translated():
            await self._require_pool().fetchval("SELECT 1")

    async def prepare_all(self, queries: Sequence[Query] | None = None) -> int:
        """Prepare every loaded statement, so that a typo is found at the boot; how many there were."""
        statements = queries if queries is not None else [q for loaded in LOADED for q in loaded]
        async with self._acquire() as connection:
            for query in statements:
                try:
                    await connection.prepare(query.text)
                except asyncpg.PostgresError as error:
                    raise errors.DatabaseError(
                        f"query {query.name} does not fit the schema: {error}"
                    ) from error
        return len(statements)

    def _require_pool(self) -> asyncpg.Pool:
        if self._pool is None:
            raise errors.DatabaseUnavailableError("the pool is not open")
        return self._pool

    @asynccontextmanager
    async def _acquire(self) -> AsyncIterator[PoolConnectionProxy]:
        pool = self._require_pool()
        timeout = self._settings.acquire_timeout.total_seconds()
        with translated():
            connection = await pool.acquire(timeout=timeout)
        try:
            yield connection
        finally:
            await pool.release(connection)

    @asynccontextmanager
    async def _transaction(self, begin: str) -> AsyncIterator[PoolConnectionProxy]:
        async with self._acquire() as connection:
            with translated():
                await connection.execute(begin)
            try:
                yield connection
            except BaseException:
                # A connection whose rollback fails is closed, so that nobody inherits its transaction.
                try:
                    await asyncio.shield(connection.execute("ROLLBACK"))
                except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, asyncio.CancelledError):
                    connection.terminate()
                raise
            with translated():
                await connection.execute("COMMIT")


def _begin_tenant(tenant_id: TenantId, caller_role: CallerRole | None) -> str:
    # Literals, because the simple protocol takes BEGIN and the settings in one trip. Both are checked to
    # be free of anything but the letters of an id or a role, whatever the caller passed.
    tenant = TENANT.parse(tenant_id, field="tenant_id")
    if caller_role is not None and caller_role not in CALLER_ROLES:
        raise errors.BadValueError("caller_role", f"must be one of {', '.join(CALLER_ROLES)}")
    role = f", set_config('app.caller_role','{caller_role}',true)" if caller_role else ""
    return f"BEGIN; SELECT set_config('app.tenant_id','{tenant}',true){role}"


def _milliseconds(duration: timedelta) -> str:
    return str(int(duration.total_seconds() * 1000))


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into ours; nobody else catches asyncpg's."""
    try:
        yield
    except asyncpg.PostgresError as error:
        raise _ours(error) from _without_values(error)
    except (asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise errors.DatabaseUnavailableError(f"the database can't be reached: {error}") from error


_BUSY = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.TooManyConnectionsError,
)
_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)


def _ours(error: asyncpg.PostgresError) -> errors.DatabaseError:
    match error:
        case asyncpg.UniqueViolationError():
            return errors.AlreadyExistsError(error.constraint_name or "")
        case asyncpg.ForeignKeyViolationError():
            return errors.MissingReferenceError(error.constraint_name or "")
        case asyncpg.CheckViolationError() | asyncpg.NotNullViolationError():
            return errors.ConstraintError(error.constraint_name or error.column_name or "")
        case asyncpg.InsufficientPrivilegeError():
            return errors.NotPermittedError(f"the database refused: {error.args[0]}")
    name = type(error).__name__
    if isinstance(error, _BUSY):
        return errors.DatabaseBusyError(f"the database is busy ({name}); try again")
    if isinstance(error, _UNAVAILABLE):
        return errors.DatabaseUnavailableError(f"the database can't be reached: {error.args[0]}")
    return errors.DatabaseError(f"the database refused the statement ({name})")


def _without_values(error: asyncpg.PostgresError) -> asyncpg.PostgresError:
    # DETAIL quotes the failing row, addresses and all; it must not reach a log through the chain.
    error.detail = None
    error.where = None
    return error
