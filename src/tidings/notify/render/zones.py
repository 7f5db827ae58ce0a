"""A time zone as a table of moments and offsets, so that V8 uses the same zone data as the rest of Tidings."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime(2070, 1, 1, tzinfo=UTC)
#: No offset has ever held for less than this between two changes that undo each other.
_STRIDE = timedelta(days=7)


def known_zone(name: str) -> str:
    """The name itself, or UTC where there is no such zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"
    return name


@cache
def zone_table(name: str) -> dict[str, Any]:
    """From which second on which offset holds, from 1970 to 2070; before and after, the nearest."""
    zone = ZoneInfo(name)
    since, offset = [int(_FIRST.timestamp())], [_offset(zone, _FIRST)]
    at = _FIRST
    while at < _LAST:
        later = at + _STRIDE
        if _offset(zone, later) != offset[-1]:
            change = _change(zone, at, later)
            since.append(int(change.timestamp()))
            offset.append(_offset(zone, change))
            # Two changes in one stride: look on from the first.
            later = change
        at = later
    return {"since": since, "offset": offset}


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The first second with another offset than `before`."""
    known = _offset(zone, before)
    low, high = int(before.timestamp()), int(after.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, datetime.fromtimestamp(middle, UTC)) == known:
            low = middle
        else:
            high = middle
    return datetime.fromtimestamp(high, UTC)


def _offset(zone: ZoneInfo, at: datetime) -> int:
    offset = at.astimezone(zone).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0
