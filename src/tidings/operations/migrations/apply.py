"""Applies one file: in one transaction with its ledger row, or statement by statement."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import asyncpg

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


async def apply(
    connection: asyncpg.Connection,
    migration: Migration,
    row: LedgerRow | None,
    *,
    lock_retry: LockRetryPolicy,
    report: Report,
    by: str,
) -> None:
    """Apply a file, or finish it where `row` says that an earlier run ended."""
    done_before = row.statements_done if row else 0
    report(Began(name=migration.name, done_before=done_before))
    await settle(connection)
    started = time.monotonic()
    if migration.transactional:
        await _apply_whole(connection, migration, lock_retry=lock_retry, report=report, by=by)
    else:
        await _apply_in_steps(connection, migration, row, lock_retry=lock_retry, report=report, by=by)
    report(Finished(name=migration.name, duration=timedelta(seconds=time.monotonic() - started)))


async def run_whole(
    connection: asyncpg.Connection,
    statements: Sequence[SqlStatement],
    *,
    file: str,
    record: Callable[[], Awaitable[None]],
    lock_retry: LockRetryPolicy,
    report: Report,
    remedy: str = _BY_ITSELF,
) -> None:
    """Run statements and `record` in one transaction; a lock that is not given rolls all of it back first."""
    current = statements[0]

    async def work() -> None:
        nonlocal current
        async with connection.transaction():
            for current in statements:  # a failure names it
                await connection.execute(current.sql)
            await connection.execute("RESET ROLE")  # the file may have used SET LOCAL ROLE
            await record()

    await lock_retry.set_timeout(connection)
    try:
        await lock_retry.insist(work, name=file, line=lambda: current.line, report=report)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        raise _failure(file, current, error, remedy) from error


async def _apply_whole(
    connection: asyncpg.Connection,
    migration: Migration,
    *,
    lock_retry: LockRetryPolicy,
    report: Report,
    by: str,
) -> None:
    started = time.monotonic()

    async def record() -> None:
        took = timedelta(seconds=time.monotonic() - started)
        await ledger.record_start(connection, migration, by=by)
        await ledger.record_progress(connection, migration.number, done=len(migration.steps), took=took)
        await ledger.record_finish(connection, migration, by=by)

    await run_whole(
        connection,
        [step.statement for step in migration.steps],
        file=migration.path.name,
        record=record,
        lock_retry=lock_retry,
        report=report,
    )


async def _apply_in_steps(
    connection: asyncpg.Connection,
    migration: Migration,
    row: LedgerRow | None,
    *,
    lock_retry: LockRetryPolicy,
    report: Report,
    by: str,
) -> None:
    done = row.statements_done if row else 0
    async with connection.transaction():
        await ledger.record_start(connection, migration, by=by)
        await ledger.log_action(connection, "resumed" if row else "started", migration, by=by)
    for count, step in enumerate(migration.steps[done:], start=done + 1):
        started = time.monotonic()
        await run_step(connection, step, file=migration.path.name, lock_retry=lock_retry, report=report)
        took = timedelta(seconds=time.monotonic() - started)
        await ledger.record_progress(connection, migration.number, done=count, took=took)
    await settle(connection)
    async with connection.transaction():
        await ledger.record_finish(connection, migration, by=by)


async def run_step(
    connection: asyncpg.Connection,
    step: MigrationStatement,
    *,
    file: str,
    lock_retry: LockRetryPolicy,
    report: Report,
    remedy: str = _GOES_ON,
) -> None:
    """Run one statement that commits by itself."""
    statement = step.statement

    async def work() -> None:
        if step.online is None:
            await connection.execute(statement.sql)
        else:
            builder = IndexBuilder(
                connection, step.online, lock_retry=lock_retry, report=report, file=file, line=statement.line
            )
            await builder.build()

    # CONCURRENTLY waits for old transactions without stopping anybody; cutting its wait short would only
    # throw away the work.
    if step.online is not None or _CONCURRENTLY.search(statement.sql):
        await wait_for_locks(connection)
    else:
        await lock_retry.set_timeout(connection)
    try:
        await lock_retry.insist(work, name=file, line=lambda: statement.line, report=report)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        raise _failure(file, statement, error, remedy) from error


def _failure(file: str, statement: SqlStatement, error: Exception, remedy: str) -> StatementFailedError:
    # Not the DETAIL: it quotes the row that was in the way, and rows hold people's addresses.
    said = getattr(error, "message", None) or str(error) or type(error).__name__
    hint = getattr(error, "hint", None)
    reason = f"{said} ({hint.rstrip('.')})" if hint else said.rstrip(".")
    return StatementFailedError(file, statement.line, reason, remedy)
