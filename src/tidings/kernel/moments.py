"""The range of times that a caller may write, so that no time zone and no sum leads out of the calendar.

The calendar of Python ends with the year 9999, ids begin with 1970: a time at the edge that is turned into UTC, or has
an hour added, would fail far from the caller that sent it. A type that takes any time (a vendor's, which the caller can't
correct) says so with `Meta(extra=ANY_TIME)`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec
from msgspec import structs

from tidings.kernel.refusals import FieldError

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: A year is left for what is added to a time.
LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
ANY_TIME: Final = {"any_time": True}

_A_DATE = re.compile(r"[0-9]{4}-")
_REMEDY = "must be a time from 1970-01-01 to 9998-12-31"
_A_TIME = "must be a time with an offset, such as 2026-11-16T10:00:00Z"


def out_of_range(value: Any, path: str = "") -> Iterator[FieldError]:
    """What is wrong with the times in a decoded value, by their places."""
    if isinstance(value, datetime):
        if value.tzinfo is not None and not EARLIEST <= value < LATEST:
            yield FieldError(path, _REMEDY)
    elif isinstance(value, msgspec.Struct):
        for name, written in timed_fields(type(value)):
            inner = getattr(value, name)
            if inner is not None and inner is not msgspec.UNSET:
                yield from out_of_range(inner, f"{path}.{written}" if path else written)
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from out_of_range(one, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from out_of_range(one, f"{path}.{key}" if path else str(key))


def bare_number(text: str) -> str | None:
    """The remedy where a number stands for a time in a query: a reader of seconds and one of dates would differ."""
    return None if _A_DATE.match(text) else _A_TIME


@cache
def timed_fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a struct that may hold a bounded time, by their names in Python and in JSON."""
    return tuple(
        (field.name, field.encode_name) for field in structs.fields(kind) if _holds_times(field.type)
    )


def _holds_times(wanted: Any, within: frozenset[Any] = frozenset()) -> bool:
    """Whether a value of that type may hold a time that is bounded."""
    if get_origin(wanted) is Annotated:
        if any(isinstance(meta, msgspec.Meta) and meta.extra == ANY_TIME for meta in wanted.__metadata__):
            return False
        return _holds_times(get_args(wanted)[0], within)
    kind = get_origin(wanted) or wanted
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind in within:
            return False
        return any(_holds_times(field.type, within | {kind}) for field in structs.fields(kind))
    return kind is datetime or any(_holds_times(part, within) for part in get_args(wanted))
