"""Turns the driver's errors into ours, in one place.

What Postgres says may quote the row it refused. Our errors carry names of constraints, never values, and the
driver's own error is stripped of its DETAIL before it is chained, so that no log can show it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from tidings.kernel import errors


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into ours; nobody else catches asyncpg's."""
    try:
        yield
    except asyncpg.PostgresError as error:
        raise _ours(error) from _without_values(error)
    except CUT_OFF as error:
        raise errors.DatabaseUnavailableError(f"the database can't be reached: {error}") from error


#: What the driver raises, beside the server's own words, when a connection is gone.
CUT_OFF = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
_BUSY = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.TooManyConnectionsError,
)
_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
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
        case asyncpg.CheckViolationError() | asyncpg.NotNullViolationError():
            return errors.ConstraintError(error.constraint_name or error.column_name or "")
        case asyncpg.InsufficientPrivilegeError():
            return errors.NotPermittedError(f"the database refused: {error.args[0]}")
    name = type(error).__name__
    if isinstance(error, _BUSY):
        return errors.DatabaseBusyError(f"the database is busy ({name}); try again")
    if isinstance(error, _UNAVAILABLE):
        return errors.DatabaseUnavailableError(f"the database can't be reached: {error.args[0]}")
    return errors.DatabaseError(f"the database refused the statement ({name})")


def _without_values(error: asyncpg.PostgresError) -> asyncpg.PostgresError:
    # DETAIL quotes the failing row, addresses and all; it must not reach a log through the chain.
    error.detail = None
    error.where = None
    return error
