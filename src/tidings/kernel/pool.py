"""A small pool of driver connections, made for transactions that clean up after themselves.

The driver's own pool wraps each connection in a proxy, gives it back inside a task of its own and resets it
with a round trip. Our transactions leave nothing behind, so none of that is needed, and it cost a third of a
short transaction (`bench/transactions.py`).
"""

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from tidings.kernel.driver_errors import CUT_OFF, translated
from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError
from tidings.kernel.pipelining import PipelinedConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """How a process talks to Postgres."""

    #: Connections opened at the start; the first requests do not wait for one.
    min_size: int = 2
    #: Connections at most; more work than that waits in line.
    max_size: int = 16
    #: A statement that takes longer is cancelled by the server and answered as busy. A server that has not
    #: answered `PATIENCE` later is taken for gone.
    statement_timeout: timedelta = timedelta(seconds=30)
    #: A statement that waits longer for a lock is cancelled and answered as busy.
    lock_timeout: timedelta = timedelta(seconds=5)
    #: A transaction that idles longer is ended by the server: the code that began it forgot it.
    idle_in_transaction_timeout: timedelta = timedelta(seconds=60)
    #: How long to wait for a connection, to the server or out of the pool.
    acquire_timeout: timedelta = timedelta(seconds=10)


#: What a server may take beyond its own time limits before it is taken for gone.
PATIENCE = timedelta(seconds=5)


class Pool:
    """Connections of one role to one database; the one used last is given out first."""

    def __init__(self, url: str, settings: PoolSettings) -> None:
        self._url = url
        self._settings = settings
        #: Seconds in which a server that is alive answers a statement that waits for no lock.
        self.answer_seconds = settings.acquire_timeout.total_seconds()
        self._idle: list[PipelinedConnection] = []
        self._waiting: deque[asyncio.Future[PipelinedConnection | None]] = deque()
        self._size = 0
        self._open = False

    async def open(self) -> None:
        """Connect the first few; a `DatabaseUnavailableError` where that fails."""
        self._open = True
        try:
            for _ in range(max(1, self._settings.min_size)):
                self._size += 1
                self._idle.append(await self._connect())
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the idle ones now and the others when they come back."""
        self._open = False
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(DatabaseUnavailableError("the pool is closing"))
        idle, self._idle = self._idle, []
        self._size -= len(idle)
        # All at once: a server that hangs takes the time-out once, not once for each.
        await asyncio.gather(*(_close(connection) for connection in idle))

    async def acquire(self) -> PipelinedConnection:
        """A connection for the caller alone; give it back with `release`, whatever happens."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
            self._size -= 1
        if not self._open:
            raise DatabaseUnavailableError("the pool is not open")
        if self._size < self._settings.max_size:
            self._size += 1
            return await self._connect()
        return await self._wait()

    async def renew(self, connection: PipelinedConnection) -> PipelinedConnection:
        """A new connection in the place of one that was found dead."""
        connection.terminate()
        return await self._connect()

    def release(self, connection: PipelinedConnection) -> None:
        """Take it back; one that is closed, or that is still inside a transaction, is not kept."""
        connection.rest()
        if connection.is_closed() or connection.is_in_transaction() or not self._open:
            connection.terminate()
            self._size -= 1
            # The next caller that waits may connect in its place.
            if waiter := self._next_waiting():
                self._size += 1
                waiter.set_result(None)
        elif waiter := self._next_waiting():
            waiter.set_result(connection)
        else:
            self._idle.append(connection)

    async def _wait(self) -> PipelinedConnection:
        waiter: asyncio.Future[PipelinedConnection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            # Not `wait_for`: before Python 3.12 it loses a cancellation that comes together with the result.
            async with asyncio.timeout(self.answer_seconds):
                given = await waiter
        except (TimeoutError, asyncio.CancelledError) as gave_up:
            # It may have been handed over in the same moment: pass it on.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._pass_on(waiter.result())
            with contextlib.suppress(ValueError):
                self._waiting.remove(waiter)
            if isinstance(gave_up, TimeoutError):
                raise DatabaseBusyError("all database connections are in use; try again") from None
            raise
        return given if given is not None else await self._connect()

    def _pass_on(self, given: PipelinedConnection | None) -> None:
        if given is not None:
            self.release(given)
            return
        self._size -= 1
        if waiter := self._next_waiting():
            self._size += 1
            waiter.set_result(None)

    def _next_waiting(self) -> "asyncio.Future[PipelinedConnection | None] | None":
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                return waiter
        return None

    async def _connect(self) -> PipelinedConnection:
        settings = self._settings
        try:
            with translated():
                connection: PipelinedConnection = await asyncpg.connect(
                    self._url,
                    connection_class=PipelinedConnection,
                    timeout=self.answer_seconds,
                    command_timeout=(settings.statement_timeout + PATIENCE).total_seconds(),
                    server_settings={
                        "application_name": "tidings",
                        # The bus and the idempotency keys reckon with it, whatever the server's default is.
                        "default_transaction_isolation": "read committed",
                        # A role may set its own defaults, and what it set stays for all sessions: none of these may stick.
                        "default_transaction_read_only": "off",
                        "row_security": "on",
                        "timezone": "UTC",
                        "statement_timeout": _milliseconds(settings.statement_timeout),
                        "lock_timeout": _milliseconds(settings.lock_timeout),
                        "idle_in_transaction_session_timeout": _milliseconds(
                            settings.idle_in_transaction_timeout
                        ),
                    },
                )
        except BaseException:
            self._pass_on(None)
            raise
        return connection


async def _close(connection: PipelinedConnection) -> None:
    try:
        await connection.close(timeout=2)
    except (asyncpg.PostgresError, *CUT_OFF):
        connection.terminate()


def _milliseconds(duration: timedelta) -> str:
    return str(int(duration.total_seconds() * 1000))
