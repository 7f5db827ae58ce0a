"""Local times of day as moments."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from tidings.kernel.local_time import local_moment, next_local_time

PARIS = ZoneInfo("Europe/Paris")
APIA = ZoneInfo("Pacific/Apia")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_time_that_is_skipped_is_the_moment_of_the_change() -> None:
    assert local_moment(date(2026, 3, 29), time(2, 30), PARIS) == utc("2026-03-29T01:00")


def test_a_time_that_comes_twice_is_the_first_or_the_last() -> None:
    day, clock = date(2026, 10, 25), time(2, 30)
    assert local_moment(day, clock, PARIS) == utc("2026-10-25T00:30")
    assert local_moment(day, clock, PARIS, last=True) == utc("2026-10-25T01:30")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-03-28T08:00", "2026-03-29T07:00"),  # nine o'clock before and after the clock is put forward
        ("2026-03-28T07:59", "2026-03-28T08:00"),
        ("2026-10-24T07:00", "2026-10-25T08:00"),
        ("2026-10-25T08:00", "2026-10-26T08:00"),
    ],
)
def test_the_next_nine_o_clock_is_strictly_later(after: str, expected: str) -> None:
    assert next_local_time(time(9), PARIS, after=utc(after)) == utc(expected)


def test_the_next_on_a_weekday() -> None:
    monday = next_local_time(time(9), PARIS, after=utc("2026-11-17T12:00"), weekdays={0})
    assert monday == utc("2026-11-23T08:00")


def test_a_day_that_the_calendar_skipped_is_gone_over() -> None:
    # Samoa went from 29 to 31 December 2011.
    friday = next_local_time(time(9), APIA, after=utc("2011-12-29T20:00"), weekdays={4})
    assert utc("2011-12-30T09:00") < friday


def test_no_weekday_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="weekday"):
        next_local_time(time(9), PARIS, after=utc("2026-11-17T12:00"), weekdays=())
