"""What can go wrong below every service.

TidingsError
├── BadValueError            a value from outside is not acceptable; names the field
├── DatabaseError            Postgres said no
│   ├── DatabaseUnavailableError   it can't be reached, or went away
│   │   └── DatabaseFullError      its disk is full
│   ├── DatabaseBusyError          a lock, a deadlock or a time-out; trying again may help
│   ├── AlreadyExistsError         a unique constraint, by name
│   ├── MissingReferenceError      a foreign key, by name
│   ├── ConstraintError            a check or not-null constraint, by name
│   ├── PartitionMissingError      a table that is split by time has no partition for the row
│   └── NotPermittedError          row-level security or a missing grant
├── NotConfiguredError       a part that the operator has to set up first
├── NotReadyError            a part that can't do its work at the moment
└── DegradedError            a part does its work in another way than it should; nothing is refused for it

A class is a sentence, some typed fields and a stable `code`. None of them knows HTTP: `kernel.http.problems`
holds the one table from class to status.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar


class TidingsError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "internal"
    #: What its problem document says beside the standard members (RFC 9457 §3.2).
    extensions: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").splitlines()[0])


class BadValueError(TidingsError):
    """A value is not acceptable."""

    code = "bad_value"

    def __init__(self, field: str, remedy: str) -> None:
        super().__init__(f"{field} {remedy}")
        #: Where the value was, as its sender calls it: `tenant_id`, `items[3].channel`.
        self.field = field
        #: What it has to be instead.
        self.remedy = remedy


class NotConfiguredError(TidingsError):
    """This needs a part that is not set up."""

    code = "not_configured"


class NotReadyError(TidingsError):
    """This does not work at the moment."""

    code = "not_ready"


class DegradedError(TidingsError):
    """This works, though not as it should."""

    code = "degraded"


class DatabaseError(TidingsError):
    """The database refused the statement."""

    code = "database"


class DatabaseUnavailableError(DatabaseError):
    """The database can't be reached."""

    code = "database_unavailable"


class DatabaseFullError(DatabaseUnavailableError):
    """The database has no room left on its disk."""

    code = "database_full"


class DatabaseBusyError(DatabaseError):
    """The database is busy with a conflicting change; try again."""

    code = "database_busy"


class NotPermittedError(DatabaseError):
    """The database does not let this role do that."""

    code = "not_permitted"


class _NamedConstraintError(DatabaseError):
    def __init__(self, constraint: str) -> None:
        sentence = (type(self).__doc__ or "").splitlines()[0]
        super().__init__(f"{sentence} ({constraint})" if constraint else sentence)
        #: The name of the constraint in the schema.
        self.constraint = constraint


class AlreadyExistsError(_NamedConstraintError):
    """There is one already."""

    code = "already_exists"


class MissingReferenceError(_NamedConstraintError):
    """It points at something that does not exist."""

    code = "missing_reference"


class ConstraintError(_NamedConstraintError):
    """The database does not accept this value."""

    code = "constraint"


class PartitionMissingError(DatabaseError):
    """A partition is missing; its operator runs `tidings partitions` with TIDINGS_OWNER_DATABASE_URL."""

    code = "partition_missing"

    def __init__(self, table: str) -> None:
        super().__init__(
            f"the table {table} has no partition for this row, and nothing was changed; its operator runs "
            "`tidings partitions` with TIDINGS_OWNER_DATABASE_URL"
        )
        #: Schema and name of the table that is split by time.
        self.table = table
