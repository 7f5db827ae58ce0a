"""When something planned is due: an anchor, an offset of either sign, and an hour where the person is. Pure.

Years, months, weeks and days of an offset are counted on the person's calendar, hours and less on the clock: two days
before three o'clock is three o'clock, also where a night between them had 23 hours. An hour of the day is that hour on
the local day which anchor and offset lead to. What comes after its anchor never comes before it: where the hour is over
by then it is that of the next day; and what comes before its anchor never comes after it.
"""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from tidings.kernel.errors import BadValueError
from tidings.kernel.local_time import local_moment
from tidings.notify.accept.validator import LONGEST_PLAN

_DAY: Final = timedelta(days=1)
_OFFSET = re.compile(
    r"([+-])?P(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,5})W)?(?:(\d{1,5})D)?"
    r"(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?"
)
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_OFFSET_REMEDY: Final = (
    "must be an ISO 8601 duration such as -P2D, P1W or PT90M; a minus is before the anchor"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """A stretch of time after an anchor, or before it."""

    before: bool = False
    years: int = 0
    months: int = 0
    days: int = 0
    seconds: int = 0

    @classmethod
    def parse(cls, text: str, *, field: str = "offset") -> "Offset":
        """Of `-P2D`; a `BadValueError` that names the field where it is none, or longer than anything is planned."""
        found = _OFFSET.fullmatch(text)
        if found is None or text[-1] in "PT":
            raise BadValueError(field, _OFFSET_REMEDY)
        years, months, weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        made = cls(
            before=found[1] == "-",
            years=years,
            months=months,
            days=7 * weeks + days,
            seconds=3600 * hours + 60 * minutes + seconds,
        )
        about = timedelta(days=366 * years + 31 * months + made.days, seconds=made.seconds)
        if about > LONGEST_PLAN:
            raise BadValueError(field, f"must be within {LONGEST_PLAN.days} days of the anchor")
        return made

    @property
    def is_nothing(self) -> bool:
        """Whether it is the anchor itself."""
        return not (self.years or self.months or self.days or self.seconds)

    @property
    def about_seconds(self) -> int:
        """Roughly how long it is, with its sign; a month counts as 30 days."""
        days = 30 * (12 * self.years + self.months) + self.days
        return (-1 if self.before else 1) * (86_400 * days + self.seconds)

    def day_from(self, day: date) -> date:
        """The day that its years, months and days lead to; the last of its month where that has no such day."""
        sign = -1 if self.before else 1
        months = day.year * 12 + day.month - 1 + sign * (self.years * 12 + self.months)
        year, month = divmod(months, 12)
        last = monthrange(year, month + 1)[1]
        return date(year, month + 1, min(day.day, last)) + sign * timedelta(days=self.days)


NO_OFFSET: Final = Offset()


def read_clock(text: str, *, field: str = "local_time") -> time:
    """Of `09:00`; a `BadValueError` that names the field where it is no hour of a day."""
    if not _CLOCK.fullmatch(text):
        raise BadValueError(
            field, "must be an hour of the day such as 09:00, without a zone: the person's counts"
        )
    return time.fromisoformat(text)


def read_anchor(value: object) -> date | datetime | None:
    """A day, or a moment with or without a zone, from what an event has; None where it is neither."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return None
    try:
        return date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTime:
    """When something is to be sent, and the moment that this is reckoned from."""

    at: datetime
    anchor_at: datetime


def due_at(anchor: date | datetime, offset: Offset, clock: time | None, zone: ZoneInfo) -> DueTime:
    """When it is due for a person in this zone; an `OverflowError` or `ValueError` beyond the calendar.

    A day is its first moment where the person is, a moment without a zone is the person's.
    """
    if not isinstance(anchor, datetime):
        wall = datetime.combine(anchor, time())
        anchor_at = local_moment(anchor, time(), zone)
    elif anchor.tzinfo is None:
        wall = anchor
        anchor_at = local_moment(anchor.date(), anchor.time(), zone)
    else:
        anchor_at = anchor.astimezone(UTC)
        wall = anchor_at.astimezone(zone).replace(tzinfo=None)
    at = anchor_at
    day = offset.day_from(wall.date())
    if day != wall.date():
        at = local_moment(day, wall.time(), zone)
    at += timedelta(seconds=-offset.seconds if offset.before else offset.seconds)
    if clock is None:
        return DueTime(at=at, anchor_at=anchor_at)
    there = at.astimezone(zone).date()
    at = local_moment(there, clock, zone)
    if offset.before and at > anchor_at:
        at = local_moment(there - _DAY, clock, zone)
    elif not offset.before and at < anchor_at:
        at = local_moment(there + _DAY, clock, zone)
    return DueTime(at=at, anchor_at=anchor_at)
