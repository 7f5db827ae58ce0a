"""`tidings migrate up`: applies what is pending, in order, alone, and so that a crash costs nothing."""

import getpass
import socket
from dataclasses import dataclass
from pathlib import Path

from tidings.operations.migrations.apply import MigrationRun
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER, Migration, Phase, discover
from tidings.operations.migrations.history import MigrationState, compare, plan_run
from tidings.operations.migrations.ledger import create_ledger, read_ledger
from tidings.operations.migrations.progress import Ahead, Report, StoppedBefore, unheard
from tidings.operations.migrations.release import THIS_RELEASE, Release
from tidings.operations.migrations.retry_policy import LockRetryPolicy
from tidings.operations.migrations.session import open_runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run did."""

    applied: tuple[Migration, ...]
    #: The first pending file of the other phase, which the run left alone.
    stopped_before: Migration | None


async def migrate_up(
    owner_url: str,
    *,
    folder: Path = MIGRATIONS_FOLDER,
    phase: Phase | None = None,
    lock_retry: LockRetryPolicy = LockRetryPolicy(),  # noqa: B008  # frozen
    report: Report = unheard,
    by: str | None = None,
    release: Release = THIS_RELEASE,
) -> Outcome:
    """Apply all pending migrations, or those of one phase up to the first of the other.

    On a schema that a newer release has made, and that allows this one, there is nothing to do.
    """
    migrations = discover(folder)
    async with open_runner(owner_url, report) as connection:
        await create_ledger(connection)
        rows = {row.number: row for row in await read_ledger(connection)}
        standings = compare(migrations, list(rows.values()), release)
        plan = plan_run(standings, phase, release)
        for standing in standings:
            if standing.state is MigrationState.AHEAD and standing.row:
                report(
                    Ahead(
                        name=standing.name,
                        release=str(release),
                        oldest_release=str(standing.row.oldest_release),
                    )
                )
        run = MigrationRun(connection=connection, lock_retry=lock_retry, report=report, by=by or operator())
        for migration in plan.todo:
            await run.apply(migration, rows.get(migration.number))
    if plan.stops_before is not None:
        report(StoppedBefore(name=plan.stops_before.name, other_phase=plan.stops_before.phase))
    return Outcome(applied=plan.todo, stopped_before=plan.stops_before)


def operator() -> str:
    """Who is running this, for the ledger."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        user = "unknown"
    return f"{user}@{socket.gethostname()}"
