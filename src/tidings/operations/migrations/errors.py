"""What can go wrong with migrations.

MigrationError
├── FilesError                   the folder of migrations is not in order; no database is needed to see it
│   ├── BadFileNameError         a name is not NNNN_(pre|post)_slug.sql
│   ├── BadNumberingError        a number is missing or used twice
│   ├── BadDirectiveError        a `-- tidings:` line is unknown or stands in the wrong place
│   ├── UnreadableSqlError       the file can't be split into statements
│   └── ForbiddenStatementError  a statement that would break the runner's promises
├── PreflightError               the database is not ready for a run
│   ├── UnreachableError         no connection
│   ├── ServerTooOldError        Postgres is older than 15
│   ├── ReadOnlyServerError      a replica, or a server that takes no writes
│   ├── RolesMissingError        the five roles are not there
│   └── NotTheOwnerError         the connected role does not own the schemas
├── HistoryError                 files and ledger disagree
│   ├── ChangedMigrationError    an applied file has other content now
│   ├── ChangedHalfwayError      a half-applied file has other content now
│   ├── BrokenHistoryError       the ledger skips a number
│   ├── SchemaTooNew             the database is ahead of this code
│   └── SchemaTooOld             the database is behind this code
├── StatementFailedError         Postgres refused a statement
├── StayedBusyError              a lock was not given, however often we asked
├── BadIndexError                an online index can't be built as it is written, or did not become valid
├── DownRefusedError             the emergency command's conditions are not met
└── DumpError                    schema.sql can't be made
"""

from typing import ClassVar

from tidings.kernel.errors import TidingsError


class MigrationError(TidingsError):
    """A migration can't go on."""

    code: ClassVar[str] = "migration"


class FilesError(MigrationError):
    """The folder of migrations is not in order."""

    code = "migration_files"


class BadFileNameError(FilesError):
    """A file's name is not NNNN_(pre|post)_slug.sql."""

    code = "migration_bad_name"


class BadNumberingError(FilesError):
    """A number is missing or used twice."""

    code = "migration_bad_numbering"


class BadDirectiveError(FilesError):
    """A `-- tidings:` line is unknown or stands in the wrong place."""

    code = "migration_bad_directive"


class UnreadableSqlError(FilesError):
    """The text can't be split into statements."""

    code = "migration_unreadable"


class ForbiddenStatementError(FilesError):
    """A migration may not contain this statement."""

    code = "migration_forbidden_statement"


class PreflightError(MigrationError):
    """The database is not ready for migrations."""

    code = "migration_preflight"


class DatabaseUnreachableError(PreflightError):
    """The database can't be reached."""

    code = "migration_unreachable"


class ServerTooOldError(PreflightError):
    """Postgres is too old."""

    code = "migration_server_too_old"


class ReadOnlyServerError(PreflightError):
    """The server takes no writes."""

    code = "migration_read_only_server"


class RolesMissingError(PreflightError):
    """Some of the roles do not exist."""

    code = "migration_roles_missing"

    def __init__(self, missing: tuple[str, ...]) -> None:
        super().__init__(
            f"The database lacks the role{'s' if len(missing) > 1 else ''} {', '.join(missing)}. "
            "Run the SQL that `tidings migrate roles` prints as an administrator, then try again."
        )
        #: The roles that are not there.
        self.missing = missing


class NotTheOwnerError(PreflightError):
    """The connected role does not own the schemas."""

    code = "migration_not_the_owner"


class HistoryError(MigrationError):
    """The files and the ledger disagree."""

    code = "migration_history"


class ChangedMigrationError(HistoryError):
    """An applied file has changed."""

    code = "migration_changed"


class ChangedHalfwayError(HistoryError):
    """A half-applied file has changed."""

    code = "migration_changed_halfway"


class BrokenHistoryError(HistoryError):
    """The ledger skips a number."""

    code = "migration_broken_history"


class SchemaTooNew(HistoryError):  # noqa: N818  # named as the operator reads it
    """The database is newer than this Tidings."""

    code = "schema_too_new"

    def __init__(
        self,
        found: int,
        newest: int,
        *,
        release: str,
        because: str | None = None,
        oldest_release: str | None = None,
    ) -> None:
        said = (
            f"The database is newer than this Tidings: its schema is {found:04}, this release ({release}) knows "
            f"up to {newest:04}"
        )
        if oldest_release is not None:
            said += (
                f", and the oldest release that works on {because} is {oldest_release}. "
                f"Start {oldest_release} or a later release."
            )
        elif because is not None:
            said += (
                f", and {because} does not say that an older release works on it. "
                "Start the release that made the change, or a later one."
            )
        else:
            said += ". Use the release that made the change, or a later one."
        super().__init__(said)
        #: The schema of the database.
        self.found = found
        #: The newest schema that this code knows.
        self.newest = newest
        #: The oldest release that works on the schema, where the schema names one.
        self.oldest_release = oldest_release


class SchemaTooOld(HistoryError):  # noqa: N818  # named as the operator reads it
    """The database is older than this Tidings."""

    code = "schema_too_old"

    def __init__(self, found: int, oldest: int) -> None:
        super().__init__(
            f"The database is older than this Tidings: its schema is {found:04}, this release needs at least "
            f"{oldest:04}. Run `tidings migrate up`, then start again."
        )
        #: The schema of the database, 0 when it is empty.
        self.found = found
        #: The oldest schema that this code serves.
        self.oldest = oldest


class StatementFailedError(MigrationError):
    """Postgres refused a statement."""

    code = "migration_statement_failed"

    def __init__(self, file: str, line: int, reason: str, remedy: str) -> None:
        super().__init__(f"{file}, line {line}: {reason}. {remedy}")
        #: The file's name.
        self.file = file
        #: The line on which the statement begins.
        self.line = line


class StayedBusyError(MigrationError):
    """A lock was not given."""

    code = "migration_stayed_busy"


class BadIndexError(MigrationError):
    """An online index can't be built."""

    code = "migration_bad_index"


class DownRefusedError(MigrationError):
    """The migration may not be undone."""

    code = "migration_down_refused"


class DumpError(MigrationError):
    """The schema can't be dumped."""

    code = "migration_dump"
