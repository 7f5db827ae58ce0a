"""The body of a vendor's callback, read as far as it is known here: JSON, and the moments in it."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from tidings.contracts.callback_forms import RawCallback
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.errors import WrongContentTypeError

T = TypeVar("T")
#: An event from further ahead has no time that means anything.
FURTHEST_AHEAD: Final = timedelta(days=1)
#: A zero character as JSON writes it, not behind a backslash that is itself written out.
_ZERO: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def require_json(request: RawCallback) -> None:
    """A `WrongContentTypeError` for what is not said to be plain JSON."""
    kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise WrongContentTypeError
    if any(
        packed.strip().lower() not in ("", "identity")
        for packed in request.headers.get("content-encoding", ())
    ):
        raise WrongContentTypeError("the body has to be plain JSON: send it without Content-Encoding")


def read_json(body: bytes, wanted: type[T]) -> T:
    """What it says; a `MalformedBodyError` or an `InvalidError` where it is none of that form.

    Zero characters are left out: a person who writes one to us must not keep the rest of the request from being taken.
    """
    if b"\\u0000" in body:
        body = _ZERO.sub(rb"\1", body)
    return decode(body, wanted)


def json_body(request: RawCallback, wanted: type[T]) -> T:
    """The whole body of a request."""
    return read_json(request.body, wanted)


def since_1970(number: str | int | None, received_at: datetime, *, a_second: int = 1) -> datetime | None:
    """The moment; None where it is none, or far ahead. `a_second`: how many of the vendor's units that is."""
    try:
        at = datetime.fromtimestamp(int(number or "") / a_second, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return believable(at, received_at)


def believable(at: datetime | None, received_at: datetime) -> datetime | None:
    """The moment; None where it lies far ahead."""
    return at if at is not None and at - received_at <= FURTHEST_AHEAD else None


def in_utc(at: datetime | None) -> datetime | None:
    """The same moment in UTC; None where there is no such moment."""
    try:
        return at.astimezone(UTC) if at is not None else None
    except OverflowError:
        return None


def from_seconds(seconds: float | None) -> datetime | None:
    """A moment that is told in seconds since 1970."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def from_text(text: str | None) -> datetime | None:
    """A moment that is told as ISO 8601 has it; one without an offset is UTC."""
    try:
        at = datetime.fromisoformat(text) if text else None
        return None if at is None else (at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
