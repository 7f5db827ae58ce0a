"""Pools and transactions: the only place that sets a tenant or a role.

`TenantTx` exists only after its tenant was set for this very transaction, `TenantsTx` after its tenants were, `PlatformTx` and `WorkerTx` only
under their own database role. A store function that takes a `TenantTx` can't be called without a tenant.
Row-level security is the wall; these types are the signposts.

The settings travel in the same round trip as BEGIN, and they are all LOCAL: the end of the transaction
wipes them, so a connection goes back to the pool clean and needs no reset. In a transaction that is pipelined both travel with its
first statement, and COMMIT with the one that `commit_with_next` announces.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

import asyncpg

from tidings.kernel import errors
from tidings.kernel.driver_errors import CUT_OFF, translated
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.mapping import check_columns
from tidings.kernel.outage import OUTAGE
from tidings.kernel.pipelining import PipelineBrokenError, PipelinedConnection, rowless, series
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
#: Seconds after which a connection of the pool is not taken for alive.
_RESTED = 5.0
#: A server that is alive rolls back at once; another one must not keep a caller that was cancelled.
_ROLLBACK_SECONDS = 5.0

#: What a query gives back: `row["tenant_id"]`.
Row: TypeAlias = Mapping[str, Any]


class _Course:
    """How far a transaction has come on its connection."""

    __slots__ = ("commits_with_next", "connection", "lost", "over", "renew", "unsent")

    def __init__(
        self,
        connection: PipelinedConnection,
        unsent: Sequence[str] = (),
        renew: Callable[[PipelinedConnection], Awaitable[PipelinedConnection]] | None = None,
    ) -> None:
        self.connection = connection
        #: What begins it, until it is sent with the first statement.
        self.unsent = unsent
        #: A new connection in the place of one that was found dead by the first statement.
        self.renew = renew
        #: The next statement is the last one.
        self.commits_with_next = False
        #: It was committed with its last statement.
        self.over = False
        #: The connection was found dead, and there is no other.
        self.lost = False

    async def run(self, ask: str, text: str, arguments: Sequence[Any]) -> Any:
        """Have the driver run a statement; `ask` is the name of its method."""
        if self.over:
            raise errors.DatabaseError("the transaction was committed with the statement before")
        first, last = self.unsent, self.commits_with_next
        if not (first or last):
            return await getattr(self.connection, ask)(text, *arguments)
        self.unsent, self.commits_with_next = (), False
        try:
            with translated():
                return await self._pipelined(ask, text, arguments, first, last=last)
        except errors.DatabaseUnavailableError:
            # It may have died in the pool, with a restarted server. Unless it was to commit, nothing was done: try a new one.
            if last or not first or self.renew is None:
                raise
            self.lost = True
            self.connection = await self.renew(self.connection)
            self.lost, self.unsent = False, ()
            return await self._pipelined(ask, text, arguments, first, last=False)

    async def _pipelined(
        self, ask: str, text: str, arguments: Sequence[Any], first: Sequence[str], *, last: bool
    ) -> Any:
        connection = self.connection
        if not connection.has_prepared(text):
            # The next time it is; the commit then comes at the end of the block, as everywhere.
            if first:
                await connection.execute("; ".join(first))
            return await getattr(connection, ask)(text, *arguments)
        connection.wire.ride_along(series(first), rowless("COMMIT") if last else b"")
        try:
            result = await getattr(connection, ask)(text, *arguments)
        except PipelineBrokenError as error:
            connection.terminate()
            raise errors.DatabaseUnavailableError("a statement was not sent") from error
        except BaseException:
            if connection.wire.take_back():
                # A value that can't be sent, or a caller that was cancelled before: the server knows of nothing.
                self.unsent = first
            raise
        self.over = last
        return result


class Tx:
    """A transaction under way.

    A query's parameters are given by name. What is not given is the attribute of that name of the transaction, such as
    `:tenant_id` of a tenant's transaction, or of a source.
    """

    def __init__(self, course: _Course) -> None:
        self._course = course

    @classmethod
    def on(cls, connection: asyncpg.Connection) -> Self:
        """What was begun, or needs no beginning, on this connection."""
        return cls(_Course(connection))

    @property
    def connection(self) -> asyncpg.Connection:
        """The driver's connection, for the kernel's own files."""
        if self._course.unsent:
            raise RuntimeError("the transaction begins with its first statement")
        return self._course.connection

    def commit_with_next(self) -> None:
        """The next statement is the last one: COMMIT travels with it, and how many rows it touched is not known."""
        self._course.commits_with_next = True

    async def fetch(self, query: Query, *sources: object, **values: Any) -> list[Row]:
        """All rows."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            return list(await self._course.run("fetch", query.text_for(arguments), arguments))

    async def fetch_one(self, query: Query, *sources: object, **values: Any) -> Row | None:
        """The first row, if there is one."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            row: Row | None = await self._course.run("fetchrow", query.text_for(arguments), arguments)
            return row

    async def fetch_value(self, query: Query, *sources: object, **values: Any) -> Any:
        """The first column of the first row, or None."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            return await self._course.run("fetchval", query.text_for(arguments), arguments)

    async def execute(self, query: Query, *sources: object, **values: Any) -> int:
        """Run it; how many rows it touched."""
        with translated():
            arguments = query.arguments(values, self, *sources)
            tag: str = await self._course.run("execute", query.text_for(arguments), arguments)
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

    def __init__(self, course: _Course, tenant_id: TenantId) -> None:
        super().__init__(course)
        #: Whose transaction this is.
        self.tenant_id = tenant_id

    def of(self, tenant_id: TenantId) -> "TenantTx":
        """The same transaction, where work on a set goes on tenant by tenant."""
        if tenant_id != self.tenant_id:
            raise ValueError(f"a transaction of {self.tenant_id} was asked for rows of {tenant_id}")
        return self


class TenantsTx(Tx):
    """A transaction that works on a set of rows of several tenants, and sees theirs and the platform's shared ones."""

    def __init__(self, course: _Course, named: Collection[TenantId]) -> None:
        super().__init__(course)
        #: Whose rows it may touch.
        self.named = named

    def of(self, tenant_id: TenantId) -> TenantTx:
        """The same transaction for one of its tenants, where work on a set goes on tenant by tenant."""
        if tenant_id not in self.named:
            raise ValueError(f"a transaction was asked for rows of {tenant_id}, which it does not name")
        return TenantTx(self._course, tenant_id)


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

    __slots__ = ("_begin", "_course", "_make", "_pipelined", "_pool")

    def __init__(
        self, pool: Pool, begin: Sequence[str], make: Callable[[_Course], TxT], *, pipelined: bool = False
    ) -> None:
        self._pool = pool
        self._begin = begin
        self._make = make
        self._pipelined = pipelined

    async def __aenter__(self) -> TxT:
        connection = await self._pool.acquire()
        # One that has rested for long may lead to a server that is gone: BEGIN finds it out, and in less time than a statement may take.
        if self._pipelined and connection.seconds_idle < _RESTED:
            self._course = _Course(connection, self._begin, self._pool.renew)
            return self._make(self._course)
        try:
            await self._begin_on(connection)
        except errors.DatabaseUnavailableError:
            # It may have died in the pool, with a restarted server. Nothing was done yet: try a new one.
            connection = await self._pool.renew(connection)
            await self._begin_on(connection, last=True)
        _tell_of_return()
        self._course = _Course(connection)
        return self._make(self._course)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        course = self._course
        if course.lost:
            return
        connection = course.connection
        try:
            if isinstance(error, errors.DatabaseUnavailableError):
                # Dead, or the wrong server to talk to; the next one may be better.
                connection.terminate()
            elif course.over:
                _tell_of_return()
            elif course.unsent:
                pass  # Nothing was asked of the server.
            elif kind is None:
                with translated():
                    ended = await connection.execute("COMMIT")
                if ended != "COMMIT":
                    # The server's answer to a commit after a failed statement, the error of which was caught.
                    raise errors.DatabaseError("a statement had failed before: nothing was committed")
                _tell_of_return()
            else:
                await _roll_back(connection)
        finally:
            self._pool.release(connection)

    async def _begin_on(self, connection: PipelinedConnection, *, last: bool = False) -> None:
        try:
            with translated():
                await connection.execute("; ".join(self._begin), timeout=self._pool.answer_seconds)
        except BaseException as error:
            connection.terminate()
            if last or not isinstance(error, errors.DatabaseUnavailableError):
                self._pool.release(connection)
            raise


def _tell_of_return() -> None:
    if OUTAGE.noticed:
        _log.warning("database_back", **OUTAGE.over())


async def _roll_back(connection: PipelinedConnection) -> None:
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
            lambda course: TenantTx(course, tenant_id),
        )

    def tenants(
        self,
        tenant_ids: Iterable[TenantId],
        *,
        caller_role: CallerRole | None = None,
        by_index: bool = False,
        briefly: bool = False,
        pipelined: bool = False,
    ) -> _Transaction[TenantsTx]:
        """A transaction for a set of rows of these tenants, built from the rows; a row of any other tenant is refused.

        Every statement in it carries the tenant of each row, and joins on it. Of several tenants none waits long for a
        lock on a row of another: the transaction ends with a `DatabaseBusyError`, and the caller goes on tenant by tenant. `briefly`: so does a set of one,
        because sets of others wait behind it. `pipelined`: it begins with its first statement, in one trip.
        """
        named = frozenset(tenant_ids)
        begin = _begin("app.tenant_ids", sorted(named), caller_role, by_index=by_index)
        if briefly or len(named) > 1:
            begin.append(_BRIEFLY)
        return _Transaction(self._pool, begin, lambda course: TenantsTx(course, named), pipelined=pipelined)

    def platform(self, *, caller_role: CallerRole | None = None) -> _Transaction[PlatformTx]:
        """A transaction of the platform role."""
        return _Transaction(
            self._pool, ["BEGIN", "SET LOCAL ROLE tidings_platform", *_narrow(caller_role)], PlatformTx
        )

    def scoped(
        self, tenant_id: TenantId | None, *, caller_role: CallerRole | None = None
    ) -> _Transaction[TenantTx] | _Transaction[PlatformTx]:
        """A transaction of that tenant; of the platform where it is None."""
        if tenant_id is None:
            return self.platform(caller_role=caller_role)
        return self.tenant(tenant_id, caller_role=caller_role)

    def worker(self, *, claims: bool = False, pipelined: bool = False) -> _Transaction[WorkerTx]:
        """A transaction of the worker role.

        `claims`: it takes rows from a queue. Those are found by index whatever the statistics say, because a queue is
        empty one moment and long the next; and a claim need not be on disk, because one that is lost is made again.
        """
        return _Transaction(
            self._pool, _BEGIN_CLAIM if claims else _BEGIN_WORKER, WorkerTx, pipelined=pipelined
        )

    async def ping(self) -> None:
        """Ask the server for a sign of life."""
        async with _Transaction(self._pool, ["BEGIN READ ONLY"], Tx):
            pass

    async def check_statements(self) -> None:
        """At the boot: whether the schema fits every loaded statement, in one round trip."""
        statements = [query.text for loaded in LOADED for query in loaded]
        checks = [f"PREPARE check_{n} AS {text}\n; DEALLOCATE check_{n}" for n, text in enumerate(statements)]
        try:
            async with _Transaction(self._pool, ["BEGIN READ ONLY"], Tx) as tx:
                await tx.connection.execute(";\n".join(checks))
        except (asyncpg.PostgresError, errors.DatabaseError):
            # One by one: the error then names the query.
            await self.prepare_all()

    async def prepare_all(self, queries: Sequence[Query] | None = None) -> int:
        """Prepare every loaded statement, and compare its columns with the type of its rows; how many there were."""
        statements = queries if queries is not None else [q for loaded in LOADED for q in loaded]
        async with _Transaction(self._pool, ["BEGIN READ ONLY"], Tx) as tx:
            for query in statements:
                try:
                    prepared = await tx.connection.prepare(query.text)
                except asyncpg.PostgresError as error:
                    raise errors.DatabaseError(f"query {query.name} misfits the schema: {error}") from error
                check_columns(query, [attribute.name for attribute in prepared.get_attributes()])
        return len(statements)


#: How long a set of several tenants waits for a lock.
_BRIEFLY = "SET LOCAL lock_timeout = '100ms'"
_BEGIN_WORKER = ("BEGIN", "SET LOCAL ROLE tidings_worker")
#: One plan for all values, of index look-ups and nested loops alone. A cached plan keeps to what held when it was made.
_BY_INDEX = (
    "SET LOCAL plan_cache_mode = force_generic_plan",
    *(f"SET LOCAL enable_{way} = off" for way in ("seqscan", "bitmapscan", "hashjoin", "mergejoin")),
)
_BEGIN_CLAIM = (*_BEGIN_WORKER, "SET LOCAL synchronous_commit = off", *_BY_INDEX)


def _begin(
    setting: Literal["app.tenant_id", "app.tenant_ids"],
    tenant_ids: Iterable[TenantId],
    caller_role: CallerRole | None,
    *,
    by_index: bool,
) -> list[str]:
    # Literals, because they travel without parameters. They are checked to be free of anything but the letters of an id
    # or a role, whatever the caller passed.
    named = ",".join(TENANT.parse(tenant_id, field="tenant_id") for tenant_id in tenant_ids)
    plans = _BY_INDEX if by_index else ()
    return ["BEGIN", f"SET LOCAL {setting} = '{named}'", *plans, *_narrow(caller_role)]


def _narrow(caller_role: CallerRole | None) -> list[str]:
    if caller_role is None:
        return []
    if caller_role not in CALLER_ROLES:
        raise errors.BadValueError("caller_role", f"must be one of {', '.join(CALLER_ROLES)}")
    return [f"SET LOCAL app.caller_role = '{caller_role}'"]
