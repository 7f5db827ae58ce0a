"""Quiet hours: whether they hold for a recipient, and when they end. Pure, by the recipient's local time.

A stretch of quiet begins and ends at local times of day and may reach across midnight. Where the clock is put
forward over a beginning or an end, that beginning or end is the moment of the change. Where it is put back
and a time comes twice, a stretch begins with the first and ends with the second: in doubt, quiet.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from tidings.contracts.tenants import QuietHours
from tidings.kernel.local_time import local_moment

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY: Final = timedelta(days=1)
#: Hours that leave no gap have no end; a notification waits so long and is decided again.
LONGEST: Final = timedelta(days=8)


class _Stretch:
    """One line of quiet hours, read."""

    __slots__ = ("days", "end", "overnight", "start", "zone")

    def __init__(self, hours: QuietHours) -> None:
        self.days = frozenset(_DAYS.index(day) for day in hours.days)
        self.start = time.fromisoformat(hours.start)
        self.end = time.fromisoformat(hours.end)
        #: The end belongs to the day after; a stretch that ends when it begins lasts a day.
        self.overnight = self.end <= self.start
        self.zone = ZoneInfo(hours.timezone) if hours.timezone else None


_read = lru_cache(maxsize=4096)(_Stretch)


def quiet_until(hours: Sequence[QuietHours], zone: str, now: datetime) -> datetime | None:
    """When the quiet that holds at `now` ends, in UTC; None where no quiet hours hold.

    `zone` is the recipient's own; a line of quiet hours may name another.
    """
    if not hours:
        return None
    stretches = [_read(line) for line in hours]
    own = ZoneInfo(zone)
    limit = now + LONGEST
    at = now
    # One stretch may end inside another; go on until there is a gap.
    while at < limit:
        end = max(
            (found for stretch in stretches if (found := _end_of(stretch, stretch.zone or own, at))),
            default=None,
        )
        if end is None:
            break
        at = end
    return None if at == now else min(at, limit).astimezone(UTC)


def _end_of(stretch: _Stretch, zone: ZoneInfo, at: datetime) -> datetime | None:
    """The end of the stretch that holds at this moment, if it does."""
    today = at.astimezone(zone).date()
    # Yesterday's may reach into today, and a day that the calendar skipped may lie between.
    for day in (today - _DAY, today):
        if day.weekday() in stretch.days:
            begins = local_moment(day, stretch.start, zone)
            ends = local_moment(day + _DAY if stretch.overnight else day, stretch.end, zone, last=True)
            if begins <= at < ends:
                return ends
    return None
