"""Which stretch of time the next file holds: pure."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

#: Rows of one file at most, but for those of one millisecond: it fits into the blob store, and into the memory of who reads it.
MOST_ROWS: Final = 250_000
#: So long after midnight a day is taken for complete: what ended in its last second is committed by then.
_COMPLETE_AFTER: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)


class Window(NamedTuple):
    """A stretch of time within one month."""

    from_at: datetime
    #: Not in it any more.
    until_at: datetime


def complete_until(now: datetime) -> datetime:
    """Days before this moment have ended; it is a midnight."""
    return midnight(now - _COMPLETE_AFTER)


def next_window(exported_until: datetime | None, oldest: datetime, cutoff: datetime) -> Window | None:
    """What the next file holds: from where the last one ended, or from the month of the oldest row that is left; to the end of its month, or the cutoff."""
    if oldest >= cutoff:
        return None
    begin = month_of(oldest)
    from_at = begin if exported_until is None else max(begin, exported_until)
    return Window(from_at, min(end_of_month(oldest), cutoff))


def gaps(month: datetime, parts: list[Window]) -> list[Window]:
    """What of a month is in none of these parts, which stand in their order."""
    found, reached = [], month
    for part in parts:
        if part.from_at > reached:
            found.append(Window(reached, part.from_at))
        reached = max(reached, part.until_at)
    if reached < end_of_month(month):
        found.append(Window(reached, end_of_month(month)))
    return found


def midnight(moment: datetime) -> datetime:
    """The beginning of its day."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def month_of(moment: datetime) -> datetime:
    """The beginning of its month."""
    return midnight(moment).replace(day=1)


def end_of_month(moment: datetime) -> datetime:
    """The beginning of the month after it."""
    return month_of(month_of(moment) + 31 * _DAY)
