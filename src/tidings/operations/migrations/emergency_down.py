"""`tidings migrate down`: undoes the latest migration, for emergencies that going forward can't solve."""

from pathlib import Path

from tidings.operations.migrations.apply import MigrationRun
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER, Migration, discover, read_down_file
from tidings.operations.migrations.errors import DownRefusedError, SchemaTooNew
from tidings.operations.migrations.ledger import create_ledger, forget, read_ledger, record_reopening
from tidings.operations.migrations.progress import Report, unheard
from tidings.operations.migrations.release import THIS_RELEASE
from tidings.operations.migrations.retry_policy import LockRetryPolicy
from tidings.operations.migrations.runner import operator
from tidings.operations.migrations.session import open_runner, settle

_HALFWAY = (
    "The statements before it stay undone, and the migration counts as half-applied. Remove the cause and "
    "run "
    "the same command again, or `tidings migrate up` to apply it anew."
)


async def migrate_down(
    owner_url: str,
    number: int,
    *,
    reason: str,
    folder: Path = MIGRATIONS_FOLDER,
    lock_retry: LockRetryPolicy = LockRetryPolicy(),  # noqa: B008  # frozen
    report: Report = unheard,
    by: str | None = None,
) -> Migration:
    """Run the down file of the latest migration, forget it in the ledger, and log why."""
    if not reason.strip():
        raise DownRefusedError("A reversal needs a reason, for those who read the log. Give --reason.")
    migrations = {migration.number: migration for migration in discover(folder)}
    async with open_runner(owner_url, report) as connection:
        rows = await read_ledger(connection)
        latest = rows[-1].number if rows else 0
        if latest > max(migrations, default=0):
            raise SchemaTooNew(found=latest, newest=max(migrations, default=0), release=str(THIS_RELEASE))
        if number != latest:
            state = f"the latest is {latest:04}" if latest else "none is applied"
            raise DownRefusedError(f"Only the latest migration can be undone, and {state}, not {number:04}.")
        migration = migrations[number]
        if not migration.down_path.is_file():
            raise DownRefusedError(f"{migration.name} has no down file. Write {migration.down_path} first.")
        down = read_down_file(migration.down_path)
        file = f"down/{migration.down_path.name}"
        run = MigrationRun(connection=connection, lock_retry=lock_retry, report=report, by=by or operator())

        async def record() -> None:
            await create_ledger(connection)  # the down file of 0001 may have dropped its schema
            await forget(connection, migration, by=run.by, reason=reason.strip())

        await settle(connection)
        if down.transactional:
            statements = [step.statement for step in down.steps]
            remedy = "Nothing was undone. Remove the cause and try again."
            await run.run_whole(statements, file=file, record=record, remedy=remedy)
        else:
            await record_reopening(connection, number)
            for step in down.steps:
                await run.run_step(step, file=file, remedy=_HALFWAY)
            async with connection.transaction():
                await record()
    return migration
