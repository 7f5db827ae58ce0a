"""What can go wrong when calling Tidings.

ClientError
├── NotReachedError         no answer came
├── StrangeAnswerError      an answer that is not of this API: another server, or something in between
├── NotDoneError            waiting ended before the notification did
└── ProblemError            the server says no; it has a code, a detail and wrong fields
    ├── RefusedError            400, 413, 415, …: the request is not acceptable as it is
    ├── UnauthenticatedError    401: no key, or one that does not work
    ├── NotAllowedError         403, 423: the key's role may not, or the tenant is closed
    ├── NotFoundError           404
    ├── ConflictError           409, 412: not in the present state
    ├── TooBusyError            429: later; `retry_after` says when
    └── UnavailableError        5xx
"""

from tidings_client.results import FieldProblem, Notification, Problem


class ClientError(Exception):
    """Something went wrong when calling Tidings."""


class NotReachedError(ClientError):
    """No answer came: nothing listens there, or the connection broke off or took too long."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        #: Whether the request may have reached the server, and may have been carried out.
        self.sent = sent


class StrangeAnswerError(ClientError):
    """The answer is not one of this API."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class NotDoneError(ClientError):
    """Waiting ended before the notification did."""

    def __init__(self, notification: Notification, seconds: float) -> None:
        super().__init__(
            f"{notification.id} is {notification.status} after {seconds:g} s; "
            "it is still under way: ask again, or read its explanation"
        )
        #: As it was when we looked last.
        self.notification = notification


class ProblemError(ClientError):
    """The server says no."""

    def __init__(self, problem: Problem, *, retry_after: float | None = None) -> None:
        fields = "; ".join(f"{e.field} {e.remedy}".strip() for e in problem.errors)
        super().__init__(fields or problem.detail or problem.title or f"HTTP {problem.status}")
        self.problem = problem
        #: Seconds after which it is worth trying again, where the server said so.
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.problem.status

    @property
    def code(self) -> str:
        """The stable word for what went wrong."""
        return self.problem.code

    @property
    def errors(self) -> tuple[FieldProblem, ...]:
        """The fields that are not acceptable."""
        return self.problem.errors

    @property
    def request_id(self) -> str:
        """How the server's log calls this request."""
        return self.problem.request_id


class RefusedError(ProblemError):
    """The request is not acceptable as it is."""


class UnauthenticatedError(ProblemError):
    """There is no key, or it does not work."""


class NotAllowedError(ProblemError):
    """The key's role may not do that, or the tenant is closed to it."""


class NotFoundError(ProblemError):
    """There is no such thing here."""


class ConflictError(ProblemError):
    """Not possible in the present state."""


class TooBusyError(ProblemError):
    """Too much at once; later."""


class UnavailableError(ProblemError):
    """Not available right now, or a mistake of the server's."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    401: UnauthenticatedError,
    403: NotAllowedError,
    423: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    429: TooBusyError,
}


def error_of(problem: Problem, *, retry_after: float | None = None) -> ProblemError:
    """The exception for a problem."""
    kind = _BY_STATUS.get(problem.status, UnavailableError if problem.status >= 500 else RefusedError)
    return kind(problem, retry_after=retry_after)
