"""Compares the files with the ledger: what is applied, pending, half-applied, changed, unknown."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tidings.operations.migrations.compatibility import refuse_newer
from tidings.operations.migrations.discover import Migration, Phase
from tidings.operations.migrations.errors import (
    BrokenHistoryError,
    ChangedHalfwayError,
    ChangedMigrationError,
)
from tidings.operations.migrations.ledger import LedgerRow
from tidings.operations.migrations.release import THIS_RELEASE, Release


class MigrationState(StrEnum):
    """How one migration stands."""

    APPLIED = "applied"
    PENDING = "pending"
    #: Begun and not finished; running again goes on.
    HALF_APPLIED = "half-applied"
    #: Applied, or begun, from a file with other content.
    CHANGED = "changed"
    #: In the database and not among our files; it allows this release.
    AHEAD = "ahead"
    #: In the database and not among our files, and not for this release.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStanding:
    """One number, in the files, in the ledger, or in both."""

    number: int
    name: str
    state: MigrationState
    migration: Migration | None
    row: LedgerRow | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPlan:
    """What a run has to do."""

    todo: tuple[Migration, ...]
    #: The first pending file of the other phase, where the run has to stop.
    stops_before: Migration | None


def compare(
    migrations: Sequence[Migration], rows: Sequence[LedgerRow], release: Release = THIS_RELEASE
) -> list[MigrationStanding]:
    """How every number stands for a release, in order."""
    files = {migration.number: migration for migration in migrations}
    ledger = {row.number: row for row in rows}
    return [
        _standing(number, files.get(number), ledger.get(number), release)
        for number in sorted(files.keys() | ledger.keys())
    ]


def plan_run(
    standings: Sequence[MigrationStanding], phase: Phase | None, release: Release = THIS_RELEASE
) -> MigrationPlan:
    """The pending files in order, up to the first of the other phase; a history that disagrees is an error."""
    refuse_disagreement(standings, release)
    pending = [
        s.migration
        for s in standings
        if s.state in (MigrationState.PENDING, MigrationState.HALF_APPLIED) and s.migration
    ]
    todo: list[Migration] = []
    for migration in pending:
        if phase is not None and migration.phase != phase:
            return MigrationPlan(todo=tuple(todo), stops_before=migration)
        todo.append(migration)
    return MigrationPlan(todo=tuple(todo), stops_before=None)


def refuse_disagreement(standings: Sequence[MigrationStanding], release: Release = THIS_RELEASE) -> None:
    """Raise for the first number on which files and ledger disagree."""
    unknown = [s.row for s in standings if s.row and s.migration is None]
    newest = max((s.number for s in standings if s.migration), default=0)
    refuse_newer(unknown, newest=newest, release=release)
    for standing in standings:
        if standing.state is MigrationState.CHANGED and standing.row and standing.migration:
            _refuse_changed(standing.migration, standing.row)
    first_open = next(
        (s for s in standings if s.state not in (MigrationState.APPLIED, MigrationState.AHEAD)), None
    )
    if first_open is not None:
        for standing in standings:
            if standing.number > first_open.number and standing.row:
                raise BrokenHistoryError(
                    f"{standing.name} is in kernel.schema_migrations, but {first_open.name} before it is not "
                    "finished. Somebody has edited the ledger: restore the database, or put the row back."
                )


def _standing(
    number: int, migration: Migration | None, row: LedgerRow | None, release: Release
) -> MigrationStanding:
    if migration is None:
        name = row.name if row else f"{number:04}"
        state = MigrationState.AHEAD if row and row.allows(release) else MigrationState.UNKNOWN
        return MigrationStanding(number=number, name=name, state=state, migration=None, row=row)
    if row is None:
        state = MigrationState.PENDING
    elif (row.checksum, row.slug, row.phase) != (migration.checksum, migration.slug, migration.phase):
        state = MigrationState.CHANGED
    elif row.finished_at is None:
        state = MigrationState.HALF_APPLIED
    else:
        state = MigrationState.APPLIED
    return MigrationStanding(number=number, name=migration.name, state=state, migration=migration, row=row)


def _refuse_changed(migration: Migration, row: LedgerRow) -> None:
    if row.finished_at is None:
        raise ChangedHalfwayError(
            f"{migration.path.name} was changed while it is half-applied (after statement "
            f"{row.statements_done}). "
            f"Put back the file whose SHA-256 is {row.checksum} and run `tidings migrate up` again."
        )
    if row.name != migration.name:
        raise ChangedMigrationError(
            f"{migration.path.name} was applied as {row.name}.sql. Applied files keep their names: rename "
            "it back."
        )
    raise ChangedMigrationError(
        f"{migration.path.name} was changed after it was applied to this database. Put the file back and "
        "write the "
        "change as a new migration; or recreate the database: the first files may still change before 0.1.0."
    )
