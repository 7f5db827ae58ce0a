"""`tidings migrate status` and `check`: how a database stands, without changing it."""

from dataclasses import dataclass
from pathlib import Path

from tidings.kernel.clock import SystemClock
from tidings.kernel.sql import Queries
from tidings.operations.migrations.discover import (
    FIRST_WITH_RELEASE,
    MIGRATIONS_FOLDER,
    Migration,
    discover,
    read_down_file,
)
from tidings.operations.migrations.errors import FilesError
from tidings.operations.migrations.history import MigrationStanding, MigrationState, compare
from tidings.operations.migrations.ledger import read_ledger
from tidings.operations.migrations.personal_columns import ANSWER, FIRST_WITH_ANSWER, unanswered
from tidings.operations.migrations.release import THIS_RELEASE
from tidings.operations.migrations.session import SCHEMAS, open_connection
from tidings.operations.partitions.missing_message import REMEDY, missing_words
from tidings.operations.partitions.store import is_registered, missing_partitions

_QUERIES = Queries.beside(__file__)
_REMEDIES = {
    MigrationState.PENDING: "is not applied: run `tidings migrate up`",
    MigrationState.HALF_APPLIED: "is half-applied: run `tidings migrate up` to finish it",
    MigrationState.CHANGED: "was changed after it was applied: put the file back, or recreate the database before "
    "0.1.0",
    MigrationState.UNKNOWN: "is in the database but unknown to this Tidings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFinding:
    """One thing that is not as it should be."""

    #: A state of a migration, `invalid-index`, `missing-partitions` or `file`.
    kind: str
    #: The migration, index or file.
    subject: str
    #: What is wrong, and what to do.
    remedy: str

    def __str__(self) -> str:
        return f"{self.subject} {self.remedy}"


async def read_status(url: str, *, folder: Path = MIGRATIONS_FOLDER) -> list[MigrationStanding]:
    """How every migration stands."""
    migrations = discover(folder)
    async with open_connection(url) as connection:
        return compare(migrations, await read_ledger(connection))


async def check_schema(url: str, *, folder: Path = MIGRATIONS_FOLDER) -> list[SchemaFinding]:
    """Everything about the schema that needs an operator; nothing, when all is well."""
    migrations = discover(folder)
    async with open_connection(url) as connection:
        standings = compare(migrations, await read_ledger(connection))
        invalid = await connection.fetch(_QUERIES.invalid_indexes.text, list(SCHEMAS))
        missing = (
            await missing_partitions(connection, SystemClock().now())
            if await is_registered(connection)
            else []
        )
    findings = [
        SchemaFinding(kind=s.state.value, subject=s.name, remedy=_remedy(s))
        for s in standings
        if s.state not in (MigrationState.APPLIED, MigrationState.AHEAD)
    ]
    findings += [
        SchemaFinding(
            kind="invalid-index",
            subject=f"{row['schema']}.{row['name']}",
            remedy=f"(on {row['table']}) is invalid: `tidings migrate up` repairs it while its file is "
            "unfinished, "
            f"otherwise run REINDEX INDEX CONCURRENTLY {row['schema']}.{row['name']}",
        )
        for row in invalid
    ]
    if missing:
        findings.append(
            SchemaFinding(kind="missing-partitions", subject=missing_words(missing), remedy=f"so {REMEDY}")
        )
    return findings


def _remedy(standing: MigrationStanding) -> str:
    named = standing.row.oldest_release if standing.row else None
    if standing.state is MigrationState.UNKNOWN:
        use = f"{named} or a later release" if named else "the release that made it, or a later one"
        return f"{_REMEDIES[MigrationState.UNKNOWN]} ({THIS_RELEASE}): use {use}"
    return _REMEDIES[standing.state]


def _release_findings(migration: Migration) -> list[SchemaFinding]:
    """A file says which release can be rolled back to, and it is not one of the future."""
    if migration.oldest_release is None:
        if migration.number < FIRST_WITH_RELEASE:
            return []
        remedy = (
            "does not name the oldest release that works on the schema with it: write "
            f"`-- tidings: oldest-release={THIS_RELEASE}` at the head of the file, or an older one that still works"
        )
    elif migration.oldest_release > THIS_RELEASE:
        remedy = (
            f"names {migration.oldest_release} as the oldest release, and this is {THIS_RELEASE}: "
            "name a release that exists"
        )
    else:
        return []
    return [SchemaFinding(kind="file", subject=migration.name, remedy=remedy)]


def _personal_findings(migration: Migration) -> list[SchemaFinding]:
    """Columns that may hold what is personal in the clear."""
    if migration.number < FIRST_WITH_ANSWER:
        return []
    return [
        SchemaFinding(
            kind="file",
            subject=migration.name,
            remedy=f"has the column {column}, whose name speaks of a person: make it a BYTEA ciphertext or a hash, or say "
            f"why it may lie open with COMMENT ON COLUMN {column} IS '{ANSWER} …'",
        )
        for column in unanswered([step.statement for step in migration.steps])
    ]


def check_files(folder: Path = MIGRATIONS_FOLDER) -> list[SchemaFinding]:
    """What is wrong with the files themselves; needs no database."""
    try:
        migrations = discover(folder)
    except FilesError as error:
        return [SchemaFinding(kind="file", subject=str(folder), remedy=str(error))]
    findings: list[SchemaFinding] = []
    down_files = set((folder / "down").glob("*.sql"))
    for migration in migrations:
        findings += [*_release_findings(migration), *_personal_findings(migration)]
        if migration.down_path not in down_files:
            findings.append(
                SchemaFinding(
                    kind="file",
                    subject=migration.name,
                    remedy=f"has no down file: write {migration.down_path}",
                )
            )
            continue
        try:
            read_down_file(migration.down_path)
        except FilesError as error:
            findings.append(
                SchemaFinding(kind="file", subject=f"down/{migration.down_path.name}", remedy=str(error))
            )
    strays = sorted(down_files - {migration.down_path for migration in migrations})
    findings += [
        SchemaFinding(
            kind="file", subject=f"down/{path.name}", remedy="undoes no migration: rename or remove it"
        )
        for path in strays
    ]
    return findings
