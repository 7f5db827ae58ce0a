"""Turns the driver's errors into ours, in one place.

What Postgres says may quote the row it refused. Our errors carry names of constraints, never values. The
driver's own error is stripped of its DETAIL before it is chained, and not chained at all where its first line
quotes a value, so that no log can show it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from tidings.kernel import errors


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into ours; no other code catches asyncpg's."""
    try:
        yield
    except asyncpg.DataError:
        # The server's words and the driver's own ("invalid input for query argument …") both quote the value.
        raise errors.DatabaseError("the database refused the statement (a value does not fit)") from None
    except asyncpg.PostgresError as error:
        raise _ours(error) from _without_values(error)
    except CUT_OFF as error:
        if "another operation is in progress" in str(error):
            raise errors.DatabaseError("two statements at once in one transaction") from error
        reason = str(error) or "it does not answer"
        raise errors.DatabaseUnavailableError(f"the database can't be reached: {reason}") from error


#: What the driver raises, beside the server's own words, when a connection is gone.
CUT_OFF = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
_BUSY = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.TooManyConnectionsError,
)
#: Not the statement's fault: another one would fare no better, the same one will succeed some day.
_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.PostgresSystemError,
    # We talk to a replica, or to a server that was demoted; the next connection may find the primary.
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)


def _ours(error: asyncpg.PostgresError) -> errors.DatabaseError:
    match error:
        case asyncpg.UniqueViolationError():
            return errors.AlreadyExistsError(error.constraint_name or "")
        case asyncpg.ForeignKeyViolationError():
            return errors.MissingReferenceError(error.constraint_name or "")
        # It shares its code with check constraints; those have a name. The words may be in the server's language.
        case asyncpg.CheckViolationError() if error.constraint_name is None and error.table_name is not None:
            return errors.PartitionMissingError(f"{error.schema_name}.{error.table_name}")
        case asyncpg.CheckViolationError() | asyncpg.NotNullViolationError():
            return errors.ConstraintError(error.constraint_name or error.column_name or "")
        case asyncpg.InsufficientPrivilegeError():
            return errors.NotPermittedError(f"the database refused: {error.args[0]}")
        case asyncpg.DiskFullError():
            return errors.DatabaseFullError()
    name = type(error).__name__
    if isinstance(error, _BUSY):
        return errors.DatabaseBusyError(f"the database is busy ({name}); try again")
    if isinstance(error, _UNAVAILABLE) or error.severity_en in ("FATAL", "PANIC"):
        return errors.DatabaseUnavailableError(f"the database can't be reached: {error.args[0]}")
    return errors.DatabaseError(f"the database refused the statement ({name})")


def _without_values(error: asyncpg.PostgresError) -> asyncpg.PostgresError:
    # DETAIL quotes the failing row, addresses and all; it must not reach a log through the chain.
    error.detail = None
    error.where = None
    return error
