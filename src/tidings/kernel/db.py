"""Pools and transactions: the only place that sets a tenant or a role.

`TenantTx` exists only after its tenant was set for this very transaction, `TenantsTx` after its tenants were, `PlatformTx` and `WorkerTx` only
under their own database role. A store function that takes a `TenantTx` can't be called without a tenant.
Row-level security is the wall; these types are the signposts.

The settings travel in the same round trip as BEGIN, and they are all LOCAL: the end of the transaction
wipes them, so a connection goes back to the pool clean and needs no reset.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import asyncpg

from tidings.kernel import errors
from tidings.kernel.driver_errors import CUT_OFF, translated
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.mapping import check_columns
from tidings.kernel.outage import OUTAGE
from tidings.kernel.pool import Pool, PoolSettings
from tidings.kernel.sql import LOADED, Query

__all__ = [
    "CALLER_ROLES",
    "CallerRole",
    "Database",
    "PlatformTx",
    "PoolSettings",
    "Row",
    "TenantTx",
    "TenantsTx",
    "Tx",
    "WorkerTx",
    "translated",
]

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

_log = get_logger("database")
#: A server that is alive rolls back at once; another one must not keep a caller that was cancelled.
_ROLLBACK_SECONDS = 5.0

#: What a query gives back: `row["tenant_id"]`.
Row: TypeAlias = Mapping[str, Any]


class Tx:
    """A transaction under way.

    A query's parameters are given by name. What is not given is the attribute of that name of the transaction, such as
    `:tenant_id` of a tenant's transaction, or of a source.
    """

    def __init__(self, connection: asyncpg.Connection) -> None:
        #: The driver's connection, for the kernel's own files.
        self.connection = connection

    async def fetch(self, query: Query, *sources: object, **values: Any) -> list[Row]:
        """All rows."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            return list(await self.connection.fetch(query.text_for(arguments), *arguments))

    async def fetch_one(self, query: Query, *sources: object, **values: Any) -> Row | None:
        """The first row, if there is one."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            row: Row | None = await self.connection.fetchrow(query.text_for(arguments), *arguments)
            return row

    async def fetch_value(self, query: Query, *sources: object, **values: Any) -> Any:
        """The first column of the first row, or None."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            return await self.connection.fetchval(query.text_for(arguments), *arguments)

    async def execute(self, query: Query, *sources: object, **values: Any) -> int:
        """Run it; how many rows it touched."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            tag: str = await self.connection.execute(query.text_for(arguments), *arguments)
        count = tag.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A part that can fail alone."""
        with translated():
            await self.connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            # Where this fails the whole transaction has failed, and says so when it is to commit.
            with suppress(errors.DatabaseError), translated():
                await self.connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")
            raise
        with translated():
            await self.connection.execute("RELEASE SAVEPOINT part")


class TenantTx(Tx):
    """A transaction that sees one tenant's rows and the platform's shared ones."""

    def __init__(self, connection: asyncpg.Connection, tenant_id: TenantId) -> None:
        super().__init__(connection)
        #: Whose transaction this is.
        self.tenant_id = tenant_id

    def of(self, tenant_id: TenantId) -> "TenantTx":
        """The same transaction, where work on a set goes on tenant by tenant."""
        if tenant_id != self.tenant_id:
            raise ValueError(f"a transaction of {self.tenant_id} was asked for rows of {tenant_id}")
        return self


class TenantsTx(Tx):
    """A transaction that works on a set of rows of several tenants, and sees theirs and the platform's shared ones."""

    def __init__(self, connection: asyncpg.Connection, named: Collection[TenantId]) -> None:
        super().__init__(connection)
        #: Whose rows it may touch.
        self.named = named

    def of(self, tenant_id: TenantId) -> TenantTx:
        """The same transaction for one of its tenants, where work on a set goes on tenant by tenant."""
        if tenant_id not in self.named:
            raise ValueError(f"a transaction was asked for rows of {tenant_id}, which it does not name")
        return TenantTx(self.connection, tenant_id)


class PlatformTx(Tx):
    """A transaction of the platform itself: tenants, keys, registries, rows without a tenant."""

    #: The platform's rows have none.
    tenant_id: None = None


class WorkerTx(Tx):
    """A transaction that claims work across tenants, on tables that hold ids and no content."""


TxT = TypeVar("TxT", bound=Tx)


class _Transaction(Generic[TxT]):
    """`async with`: begins, commits at the end, rolls back on any exception.

    A class and not a generator, because every request passes here several times.
    """

    __slots__ = ("_begin", "_make", "_pool", "_tx")

    def __init__(self, pool: Pool, begin: str, make: "Callable[[asyncpg.Connection], TxT]") -> None:
        self._pool = pool
        self._begin = begin
        self._make = make

    async def __aenter__(self) -> TxT:
        connection = await self._pool.acquire()
        try:
            await self._begin_on(connection)
        except errors.DatabaseUnavailableError:
            # It may have died in the pool, with a restarted server. Nothing was done yet: try a new one.
            connection = await self._pool.renew(connection)
            await self._begin_on(connection, last=True)
        if OUTAGE.noticed:
            _log.warning("database_back", **OUTAGE.over())
        self._tx = self._make(connection)
        return self._tx

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._tx.connection
        try:
            if kind is None:
                with translated():
                    ended = await connection.execute("COMMIT")
                if ended != "COMMIT":
                    # The server's answer to a commit after a failed statement, the error of which was caught.
                    raise errors.DatabaseError("a statement had failed before: nothing was committed")
            elif isinstance(error, errors.DatabaseUnavailableError):
                # Dead, or the wrong server to talk to; the next one may be better.
                connection.terminate()
            else:
                await _roll_back(connection)
        finally:
            self._pool.release(connection)

    async def _begin_on(self, connection: asyncpg.Connection, *, last: bool = False) -> None:
        try:
            with translated():
                await connection.execute(self._begin, timeout=self._pool.answer_seconds)
        except BaseException as error:
            connection.terminate()
            if last or not isinstance(error, errors.DatabaseUnavailableError):
                self._pool.release(connection)
            raise


async def _roll_back(connection: asyncpg.Connection) -> None:
    # A connection whose rollback fails is cut off, so that no caller inherits its transaction.
    try:
        await connection.execute("ROLLBACK", timeout=_ROLLBACK_SECONDS)
    except (asyncpg.PostgresError, *CUT_OFF):
        connection.terminate()
    except asyncio.CancelledError:
        connection.terminate()
        raise


class Database:
    """The runtime role's pool, and the transactions that come out of it."""

    def __init__(self, url: str, pool: PoolSettings | None = None) -> None:
        self._pool = Pool(url, pool or PoolSettings())

    async def open(self) -> None:
        """Connect; a `DatabaseUnavailableError` where that fails."""
        await self._pool.open()

    async def close(self) -> None:
        """Drop all connections."""
        await self._pool.close()

    def tenant(
        self, tenant_id: TenantId, *, caller_role: CallerRole | None = None, by_index: bool = False
    ) -> _Transaction[TenantTx]:
        """A transaction for one tenant.

        `by_index`: every statement is planned once, for any values, and finds its rows by index. For sets on large
        tables: planning for the values at hand takes longer than the work, as soon as there are many months, and a
        plan that was chosen while a month was empty is the wrong one for ever after.
        """
        return _Transaction(
            self._pool,
            _begin("app.tenant_id", [tenant_id], caller_role, by_index=by_index),
            lambda connection: TenantTx(connection, tenant_id),
        )

    def tenants(
        self,
        tenant_ids: Iterable[TenantId],
        *,
        caller_role: CallerRole | None = None,
        by_index: bool = False,
        briefly: bool = False,
    ) -> _Transaction[TenantsTx]:
        """A transaction for a set of rows of these tenants, built from the rows; a row of any other tenant is refused.

        Every statement in it carries the tenant of each row, and joins on it. Of several tenants none waits long for a
        lock on a row of another: the transaction ends with a `DatabaseBusyError`, and the caller goes on tenant by tenant. `briefly`: so does a set of one,
        because sets of others wait behind it.
        """
        named = frozenset(tenant_ids)
        begin = _begin("app.tenant_ids", sorted(named), caller_role, by_index=by_index)
        if briefly or len(named) > 1:
            begin += _BRIEFLY
        return _Transaction(self._pool, begin, lambda connection: TenantsTx(connection, named))

    def platform(self, *, caller_role: CallerRole | None = None) -> _Transaction[PlatformTx]:
        """A transaction of the platform role."""
        return _Transaction(
            self._pool, f"BEGIN; SET LOCAL ROLE tidings_platform{_narrow(caller_role)}", PlatformTx
        )

    def scoped(
        self, tenant_id: TenantId | None, *, caller_role: CallerRole | None = None
    ) -> _Transaction[TenantTx] | _Transaction[PlatformTx]:
        """A transaction of that tenant; of the platform where it is None."""
        if tenant_id is None:
            return self.platform(caller_role=caller_role)
        return self.tenant(tenant_id, caller_role=caller_role)

    def worker(self, *, claims: bool = False) -> _Transaction[WorkerTx]:
        """A transaction of the worker role.

        `claims`: it takes rows from a queue. Those are found by index whatever the statistics say, because a queue is
        empty one moment and long the next; and a claim need not be on disk, because one that is lost is made again.
        """
        return _Transaction(self._pool, _BEGIN_CLAIM if claims else _BEGIN_WORKER, WorkerTx)

    async def ping(self) -> None:
        """Ask the server for a sign of life."""
        async with _Transaction(self._pool, "BEGIN READ ONLY", Tx):
            pass

    async def check_statements(self) -> None:
        """At the boot: whether the schema fits every loaded statement, in one round trip."""
        statements = [query.text for loaded in LOADED for query in loaded]
        checks = [f"PREPARE check_{n} AS {text}\n; DEALLOCATE check_{n}" for n, text in enumerate(statements)]
        try:
            async with _Transaction(self._pool, "BEGIN READ ONLY", Tx) as tx:
                await tx.connection.execute(";\n".join(checks))
        except (asyncpg.PostgresError, errors.DatabaseError):
            # One by one: the error then names the query.
            await self.prepare_all()

    async def prepare_all(self, queries: Sequence[Query] | None = None) -> int:
        """Prepare every loaded statement, and compare its columns with the type of its rows; how many there were."""
        statements = queries if queries is not None else [q for loaded in LOADED for q in loaded]
        async with _Transaction(self._pool, "BEGIN READ ONLY", Tx) as tx:
            for query in statements:
                try:
                    prepared = await tx.connection.prepare(query.text)
                except asyncpg.PostgresError as error:
                    raise errors.DatabaseError(f"query {query.name} misfits the schema: {error}") from error
                check_columns(query, [attribute.name for attribute in prepared.get_attributes()])
        return len(statements)


#: How long a set of several tenants waits for a lock.
_BRIEFLY = "; SET LOCAL lock_timeout = '100ms'"
_BEGIN_WORKER = "BEGIN; SET LOCAL ROLE tidings_worker"
#: One plan for all values, of index look-ups and nested loops alone. A cached plan keeps to what held when it was made.
_BY_INDEX = ",".join(
    f"set_config('{name}','{value}',true)"
    for name, value in {
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
    }.items()
)
_BEGIN_CLAIM = f"{_BEGIN_WORKER}; SET LOCAL synchronous_commit = off; SELECT {_BY_INDEX}"


def _begin(
    setting: Literal["app.tenant_id", "app.tenant_ids"],
    tenant_ids: Iterable[TenantId],
    caller_role: CallerRole | None,
    *,
    by_index: bool,
) -> str:
    # Literals, because the simple protocol takes BEGIN and the settings in one trip. They are checked to
    # be free of anything but the letters of an id or a role, whatever the caller passed.
    named = ",".join(TENANT.parse(tenant_id, field="tenant_id") for tenant_id in tenant_ids)
    plans = f",{_BY_INDEX}" if by_index else ""
    return f"BEGIN; SELECT set_config('{setting}','{named}',true){plans}{_narrow(caller_role)}"


def _narrow(caller_role: CallerRole | None) -> str:
    if caller_role is None:
        return ""
    if caller_role not in CALLER_ROLES:
        raise errors.BadValueError("caller_role", f"must be one of {', '.join(CALLER_ROLES)}")
    return f"; SELECT set_config('app.caller_role','{caller_role}',true)"
