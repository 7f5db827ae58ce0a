"""When people of a batch are written to: local hours, windows and paces. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidings.contracts.tenants import Day
from tidings.kernel.local_time import local_moment, next_local_time
from tidings.notify.batches.model import SendingWindow

_DAYS: Final[tuple[Day, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY: Final = timedelta(days=1)
_TICK: Final = timedelta(microseconds=1)
_MINUTE: Final = timedelta(minutes=1)
#: A window opens at least once within so many days.
_MOST_DAYS: Final = 16
#: A minute's people go in so many groups: in a minute they are as many as allowed, and not all at its beginning.
_GROUPS: Final = 12


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """The zone; UTC where there is none of that name any more."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def open_from(window: SendingWindow, zone: ZoneInfo, now: datetime) -> datetime:
    """`now` where the window is open, else when it opens next."""
    start, end = time.fromisoformat(window.start), time.fromisoformat(window.end)
    overnight = end <= start
    day = now.astimezone(zone).date() - _DAY
    for _ in range(_MOST_DAYS):
        if _DAYS[day.weekday()] in window.days:
            closes = local_moment(day + _DAY if overnight else day, end, zone, last=True)
            if now < closes:
                return max(now, local_moment(day, start, zone))
        day += _DAY
    raise ValueError("a window has at least one day")


def time_of_person(
    zone: ZoneInfo, *, local_time: str | None, window: SendingWindow | None, not_before: datetime
) -> datetime:
    """When somebody in this zone is written to, at the earliest; the window is one of their own clock."""
    at = not_before
    if local_time is not None:
        weekdays = [_DAYS.index(day) for day in window.days] if window is not None else None
        at = next_local_time(time.fromisoformat(local_time), zone, after=at - _TICK, weekdays=weekdays)
    elif window is not None:
        at = open_from(window, zone, at)
    return at.astimezone(UTC)


def fits(local_time: str, window: SendingWindow) -> bool:
    """Whether that hour is in the window."""
    return (
        window.start <= local_time < window.end
        if window.start < window.end
        else local_time >= window.start or local_time < window.end
    )


def room_in_minute(per_minute: int, slots: Mapping[str, datetime], now: datetime) -> tuple[int, datetime]:
    """How many may go now, and when the next ones may if none can."""
    next_at = slots.get("*", now)
    return (0, next_at) if next_at > now else (max(1, per_minute // _GROUPS), now)


def slot_after(
    per_minute: int, slots: Mapping[str, datetime], key: str, now: datetime, count: int
) -> datetime:
    """When the next may go after so many went. Groups of this size are never more in a minute than allowed."""
    return max(slots.get(key, now), now) + _MINUTE / max(1, per_minute // max(1, count))
