"""Local times of day as moments, right over changes of the clock in both directions.

Where the clock is put forward over a time of day, that time is the moment of the change. Where it is put back and a
time comes twice, it is the first of the two, or the `last`.
"""

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_DAY: Final = timedelta(days=1)
_SECOND: Final = timedelta(seconds=1)
#: A time of day comes at least once within so many days, whatever day of the week is asked for and whatever day the calendar skips.
_MOST_DAYS: Final = 16


def local_moment(day: date, clock: time, zone: ZoneInfo, *, last: bool = False) -> datetime:
    """The moment, in UTC, when clocks in the zone show this; the change itself where they never do."""
    first = datetime.combine(day, clock, tzinfo=zone).astimezone(UTC)
    second = datetime.combine(day, clock, tzinfo=zone).replace(fold=1).astimezone(UTC)
    if first == second:
        return first
    if first < second:
        return second if last else first
    return _change_between(second, first, zone)


def next_local_time(
    clock: time, zone: ZoneInfo, *, after: datetime, weekdays: Collection[int] | None = None
) -> datetime:
    """The first moment after `after`, in UTC, when clocks in the zone show this, on one of the weekdays (0 is Monday)."""
    day = after.astimezone(zone).date() - _DAY
    for _ in range(_MOST_DAYS):
        if weekdays is None or day.weekday() in weekdays:
            moment = local_moment(day, clock, zone)
            if moment > after:
                return moment
        day += _DAY
    raise ValueError("there is no such weekday")


def _change_between(early: datetime, late: datetime, zone: ZoneInfo) -> datetime:
    """The moment between the two at which the zone's offset changes, to the second."""
    before = early.astimezone(zone).utcoffset()
    while late - early > _SECOND:
        middle = early + (late - early) // 2
        middle -= timedelta(microseconds=middle.microsecond)
        if middle <= early:
            break
        if middle.astimezone(zone).utcoffset() == before:
            early = middle
        else:
            late = middle
    return late
