"""What is learned about a request while it is answered: who asks, which property it is about, why it was refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class RequestNotes:
    """Of one request."""

    #: The caller, where it is an operator.
    operator: object | None = None
    property_id: str | None = None
    #: The code of the problem.
    error_code: str | None = None


_current: ContextVar[RequestNotes | None] = ContextVar("tidings_request_notes", default=None)


@contextmanager
def taking_notes() -> Iterator[RequestNotes]:
    """All that runs inside runs for one request."""
    notes = RequestNotes()
    token = _current.set(notes)
    try:
        yield notes
    finally:
        _current.reset(token)


def note_operator(caller: object) -> None:
    """An operator asks, as they are known; for whom they act comes later."""
    if (notes := _current.get()) is not None:
        notes.operator = caller


def note_property(property_id: str) -> None:
    """It is about this property; the first that is asked for counts."""
    if (notes := _current.get()) is not None and notes.property_id is None:
        notes.property_id = property_id


def note_refusal(code: str) -> None:
    """It is refused, or fails, for this reason."""
    if (notes := _current.get()) is not None:
        notes.error_code = code
