"""Applies files, each in one transaction with its ledger row, or statement by statement."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from tidings.kernel.mapping import by_name
from tidings.operations.migrations import ledger
from tidings.operations.migrations.discover import Migration, MigrationStatement
from tidings.operations.migrations.errors import StatementFailedError
from tidings.operations.migrations.index_builder import IndexBuilder
from tidings.operations.migrations.ledger import LedgerRow
from tidings.operations.migrations.progress import Began, Finished, Report
from tidings.operations.migrations.retry_policy import LockRetryPolicy, wait_for_locks
from tidings.operations.migrations.session import settle
from tidings.operations.migrations.statements import SqlStatement

_CONCURRENTLY = re.compile(r"\bCONCURRENTLY\b", re.IGNORECASE)
_BY_ITSELF = "Nothing of this file was applied. Remove the cause and run `tidings migrate up` again."

_GOES_ON = (
    "The statements before it stay applied. Remove the cause and run `tidings migrate up` again; "
    "it goes on with this statement."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationRun:
    """A run over one connection."""

    connection: asyncpg.Connection
    lock_retry: LockRetryPolicy
    report: Report
    #: Who runs it, for the ledger.
    by: str

    async def apply(self, migration: Migration, row: LedgerRow | None) -> None:
        """Apply a file, or finish it where `row` says that an earlier run ended."""
        self.report(Began(name=migration.name, done_before=row.statements_done if row else 0))
        await settle(self.connection)
        started = time.monotonic()
        if migration.transactional:
            await self._apply_whole(migration)
        else:
            await self._apply_in_steps(migration, row)
        self.report(Finished(name=migration.name, duration=_since(started)))

    async def run_whole(
        self,
        statements: Sequence[SqlStatement],
        *,
        file: str,
        record: Callable[[], Awaitable[None]],
        remedy: str = _BY_ITSELF,
    ) -> None:
        """Run statements and `record` in one transaction; a lock that is not given rolls all of it back first."""
        current = statements[0]

        async def work() -> None:
            nonlocal current
            async with self.connection.transaction():
                for current in statements:  # a failure names it
                    await self.connection.execute(current.sql)
                await self.connection.execute("RESET ROLE")  # the file may have used SET LOCAL ROLE
                await record()

        await self.lock_retry.set_timeout(self.connection)
        try:
            await self.lock_retry.insist(work, name=file, line=lambda: current.line, report=self.report)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise _failure(file, current, error, remedy) from error

    async def _apply_whole(self, migration: Migration) -> None:
        started = time.monotonic()

        async def record() -> None:
            done, took = len(migration.steps), _since(started)
            await ledger.record_start(self.connection, migration, by=self.by)
            await ledger.record_progress(self.connection, migration.number, done=done, took=took)
            await ledger.record_finish(self.connection, migration, by=self.by)

        statements = [step.statement for step in migration.steps]
        await self.run_whole(statements, file=migration.path.name, record=record)

    async def _apply_in_steps(self, migration: Migration, row: LedgerRow | None) -> None:
        done = row.statements_done if row else 0
        async with self.connection.transaction():
            await ledger.record_start(self.connection, migration, by=self.by)
            await ledger.log_action(self.connection, "resumed" if row else "started", migration, by=self.by)
        for count, step in enumerate(migration.steps[done:], start=done + 1):
            started = time.monotonic()
            await self.run_step(step, file=migration.path.name)
            took = _since(started)
            await ledger.record_progress(self.connection, migration.number, done=count, took=took)
        await settle(self.connection)
        async with self.connection.transaction():
            await ledger.record_finish(self.connection, migration, by=self.by)

    async def run_step(self, step: MigrationStatement, *, file: str, remedy: str = _GOES_ON) -> None:
        """Run one statement that commits by itself."""
        statement = step.statement

        async def work() -> None:
            if step.online is None:
                await self.connection.execute(statement.sql)
            else:
                await by_name(IndexBuilder, self, index=step.online, file=file, line=statement.line).build()

        # CONCURRENTLY waits for old transactions without stopping others; cutting its wait short would only
        # throw away the work.
        if step.online is not None or _CONCURRENTLY.search(statement.sql):
            await wait_for_locks(self.connection)
        else:
            await self.lock_retry.set_timeout(self.connection)
        try:
            await self.lock_retry.insist(work, name=file, line=lambda: statement.line, report=self.report)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise _failure(file, statement, error, remedy) from error


def _since(started: float) -> timedelta:
    return timedelta(seconds=time.monotonic() - started)


def _failure(file: str, statement: SqlStatement, error: Exception, remedy: str) -> StatementFailedError:
    # Not the DETAIL: it quotes the row that was in the way, and rows hold people's addresses.
    said = getattr(error, "message", None) or str(error) or type(error).__name__
    hint = getattr(error, "hint", None)
    reason = f"{said} ({hint.rstrip('.')})" if hint else said.rstrip(".")
    return StatementFailedError(file, statement.line, reason, remedy)
