"""Where the request came from that this code runs for, so that the audit and the logs need not be handed it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Origin:
    """One request's caller and trace; raw values that are never written anywhere as they are."""

    client: str | None
    user_agent: str | None
    trace_id: str
    #: The answer was given. What a request has begun and left behind, such as a connection, is no longer its doing.
    over: bool = False


_current: ContextVar[Origin | None] = ContextVar("tidings_origin", default=None)


@contextmanager
def coming_from(origin: Origin) -> Iterator[None]:
    """All that runs inside runs for that request."""
    token = _current.set(origin)
    try:
        yield
    finally:
        origin.over = True
        _current.reset(token)


def current_origin() -> Origin | None:
    """The request that this runs for; None in a job, a command, or once it was answered."""
    origin = _current.get()
    return None if origin is None or origin.over else origin
