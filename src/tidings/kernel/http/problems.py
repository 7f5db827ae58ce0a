"""Turns what went wrong into a problem document (RFC 9457); the one table from error class to status.

A code is stable and never reused; the status and the title belong to the code. An exception that is not
in the table is ours to be ashamed of: the caller gets its request id and nothing of the inside.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import structlog

from tidings.kernel import errors, refusals
from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.http import errors as edge
from tidings.kernel.refusals import FieldError

MEDIA_TYPE = "application/problem+json"

#: Error class → status and title. A class that is not here has its nearest ancestor's.
STATUSES: dict[type[Exception], tuple[int, str]] = {
    errors.BadValueError: (400, "A value is not acceptable"),
    refusals.InvalidError: (400, "A value is not acceptable"),
    edge.BadRequestError: (400, "The request is not in order"),
    edge.MalformedBodyError: (400, "The body is not valid JSON"),
    refusals.UnauthenticatedError: (401, "Who is calling?"),
    refusals.NotAllowedError: (403, "Not allowed"),
    edge.NoRouteError: (404, "Nothing lives here"),
    refusals.NotFoundError: (404, "Not found"),
    refusals.GoneError: (410, "Not kept any more"),
    edge.WrongMethodError: (405, "Wrong method"),
    refusals.NoneAcceptedError: (422, "Nothing was accepted"),
    refusals.ConflictError: (409, "Not possible in the present state"),
    refusals.KeyReusedError: (409, "This Idempotency-Key was used for another request"),
    refusals.StillInProgressError: (409, "The first request with this Idempotency-Key is still under way"),
    errors.AlreadyExistsError: (409, "It exists already"),
    errors.MissingReferenceError: (409, "It refers to something that does not exist"),
    refusals.StaleVersionError: (412, "It was changed in the meantime"),
    edge.BodyTooSlowError: (408, "The body is too slow"),
    edge.BodyTooLargeError: (413, "The body is too large"),
    edge.WrongContentTypeError: (415, "The body is not JSON"),
    refusals.TenantFrozenError: (423, "The tenant is frozen"),
    edge.PreconditionRequiredError: (428, "If-Match is needed"),
    refusals.TooBusyError: (429, "Too busy; try again"),
    edge.TooManyFailedLoginsError: (429, "Too many failed logins"),
    edge.TooManyConnectionsError: (503, "Too many connections"),
    edge.HeadTooLargeError: (431, "The headers are too large"),
    refusals.UnavailableError: (503, "Not available right now"),
    errors.DatabaseUnavailableError: (503, "Not available right now"),
    BusUnavailableError: (503, "Not available right now"),
    errors.DatabaseBusyError: (503, "Busy; try again"),
    errors.PartitionMissingError: (503, "Not available right now"),
    errors.NotConfiguredError: (501, "Not set up here"),
    errors.NotPermittedError: (403, "Not allowed"),
    errors.ConstraintError: (400, "A value is not acceptable"),
    errors.TidingsError: (500, "Something went wrong on our side"),
}

#: What the caller reads instead of the message, where that speaks of constraints and servers.
_PLAIN: dict[type[Exception], str] = {
    errors.AlreadyExistsError: "There is one already.",
    errors.MissingReferenceError: "It refers to something that does not exist.",
    errors.ConstraintError: "The database does not accept one of the values.",
    errors.NotPermittedError: "This caller's role may not do that.",
    errors.DatabaseUnavailableError: "The database can't be reached. Try again in a moment; with the same Idempotency-Key that is safe.",
    BusUnavailableError: "The event bus can't be reached. Messages are accepted and sent; events come when it is back. Try again in a moment.",
    errors.DatabaseFullError: "The database has no room left on its disk; nothing was changed. Its operator has to make room.",
    errors.DatabaseBusyError: "The database is busy with a conflicting change; nothing was changed. Try again.",
}
_INTERNAL = "Something went wrong on our side; it was logged under this request id."
#: Longer addresses are none of ours, and need not be repeated whole.
_LONGEST_INSTANCE = 500
#: The public pages carry their secret in the address.
_SECRET_PATH = re.compile(r"^/([upc]|portal|console/join|console/open)/.+", re.DOTALL)
_log = structlog.get_logger(part="http")


class FieldProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One field that is not acceptable."""

    #: Where: `items[3].channel`, `limit`, `If-Match`; empty for the body as a whole.
    field: str
    #: What to do about it.
    remedy: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong, for programs (`code`) and for people (`detail`)."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str = ""
    request_id: str = ""
    errors: tuple[FieldProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A problem as it goes over the wire."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]
    problem: Problem


def answer(error: Exception, *, path: str, request_id: str) -> Answer:
    """The problem document for `error`, with the headers that belong to it."""
    ours = error if isinstance(error, errors.TidingsError) else errors.TidingsError()
    status, title = _status(type(ours))
    code = ours.code
    path = _SECRET_PATH.sub(r"/\1/…", path)
    if status >= 500 and not _expected(type(ours)):
        _log.error("http.failed", path=path, error=type(error).__name__, exc_info=error)
        code, detail = "internal", _INTERNAL
    else:
        # Of connections that find no room the server says so itself, once in a while.
        if status == 503 and not isinstance(ours, edge.TooManyConnectionsError):
            _log.warning("http.unavailable", path=path, code=code)
        # A field's name is spelt as it is, also at the beginning of a sentence.
        detail = _PLAIN.get(type(ours)) or _sentence(str(ours), capital=not _fields(ours))
    problem = Problem(
        type=f"/docs/problems#{code}",
        title=title,
        status=status,
        code=code,
        detail=detail,
        instance=path[:_LONGEST_INSTANCE],
        request_id=request_id,
        errors=tuple(FieldProblem(field=e.field, remedy=e.remedy) for e in _fields(ours)),
    )
    shown = (
        {**msgspec.to_builtins(problem), **ours.extensions} if ours.extensions and status < 500 else problem
    )
    body = msgspec.json.encode(shown)
    return Answer(status, body, tuple(_headers(ours, status)), problem)


def catalogue() -> dict[str, tuple[int, str, str]]:
    """Every code that this process can answer with: status, title, explanation."""
    found = {"internal": (500, STATUSES[errors.TidingsError][1], _INTERNAL)}
    pending: list[type[errors.TidingsError]] = [errors.TidingsError]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        status, title = _status(kind)
        if status < 500 or _expected(kind):
            found.setdefault(kind.code, (status, title, _PLAIN.get(kind) or _sentence(_docstring(kind))))
    return dict(sorted(found.items()))


def _status(kind: type[errors.TidingsError]) -> tuple[int, str]:
    return next(STATUSES[ancestor] for ancestor in kind.__mro__ if ancestor in STATUSES)


def _expected(kind: type[Exception]) -> bool:
    """Whether a status of 500 and more is no surprise: a part is missing, away or busy."""
    return kind in _PLAIN or issubclass(
        kind,
        errors.NotConfiguredError
        | errors.PartitionMissingError
        | refusals.UnavailableError
        | edge.TooManyConnectionsError,
    )


def _fields(error: Exception) -> tuple[FieldError, ...]:
    if isinstance(error, errors.BadValueError):
        return (FieldError(error.field, error.remedy),)
    # A refusal may name the fields that are in its way.
    return tuple(getattr(error, "errors", ())) if isinstance(error, refusals.RefusalError) else ()


def _headers(error: Exception, status: int) -> Iterator[tuple[str, str]]:
    if status == 401:
        yield "www-authenticate", 'Bearer realm="tidings"'
    if status in (429, 503) or isinstance(error, refusals.StillInProgressError):
        # An error may know how long; a whole second is the least that the header can say.
        yield "retry-after", str(max(1, math.ceil(getattr(error, "retry_after", 1))))
    if isinstance(error, edge.BodyTooSlowError):
        # No handler waits for the rest. After a body that is too large the server goes on reading for a while,
        # so that its sender sees the answer and not a broken connection.
        yield "connection", "close"
    if isinstance(error, edge.WrongMethodError) and error.allowed:
        yield "allow", ", ".join(error.allowed)


def _docstring(kind: type[Any]) -> str:
    return (kind.__doc__ or "").splitlines()[0]


def _sentence(text: str, *, capital: bool = True) -> str:
    text = text.strip() or "The request is not acceptable."
    return (
        (text[0].upper() if capital else text[0]) + text[1:] + ("" if text.endswith((".", "?", "…")) else ".")
    )
