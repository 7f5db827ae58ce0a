"""How a statement asks for its locks: briefly, and again, so that no query queues up behind it.

A statement that waits for a table lock makes every later query wait too. So each asks only for
`lock_timeout`, steps back, and asks again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from tidings.operations.migrations.errors import StayedBusyError
from tidings.operations.migrations.progress import Busy, Report

#: A lock was not given in time, or two sessions waited for each other: nothing is wrong with the statement.
BUSY_ERRORS = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRetryPolicy:
    """How long to ask for a lock, and how often."""

    #: Longest wait for one lock; every other query on that table waits as long, so keep it short.
    lock_timeout: timedelta = timedelta(seconds=2)
    #: How often to ask before giving up.
    attempts: int = 30
    #: The time in which others can pass between two attempts.
    pause: timedelta = timedelta(seconds=2)

    async def set_timeout(self, connection: asyncpg.Connection) -> None:
        """Make the session's statements ask briefly from now on."""
        milliseconds = max(1, int(self.lock_timeout / timedelta(milliseconds=1)))
        await connection.execute(f"SET lock_timeout = {milliseconds}")

    async def insist(
        self, work: Callable[[], Awaitable[None]], *, name: str, line: Callable[[], int], report: Report
    ) -> None:
        """Do the work, again and again while locks are in the way."""
        for attempt in range(1, self.attempts + 1):
            try:
                return await work()
            except BUSY_ERRORS as error:
                if attempt == self.attempts:
                    raise StayedBusyError(
                        f"{name}, line {line()}: the lock was not given in {self.attempts} attempts of "
                        f"{self.lock_timeout.total_seconds():g} s. Look in pg_stat_activity for long "
                        "transactions "
                        "on this table, let them end, and run `tidings migrate up` again; nothing is lost."
                    ) from error
                report(Busy(name=name, line=line(), attempt=attempt, attempts=self.attempts))
                await asyncio.sleep(self.pause.total_seconds())
        return None


async def wait_for_locks(connection: asyncpg.Connection) -> None:
    """Let the session's statements wait as long as it takes: for CONCURRENTLY, which blocks no query."""
    await connection.execute("SET lock_timeout = 0")
