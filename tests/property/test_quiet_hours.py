"""Quiet hours in any zone, over midnight and over every change of the clock."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidings.contracts.tenants import Day, QuietHours
from tidings.notify.quiet_hours.quiet_until import LONGEST, quiet_until

DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ZONES = [
    "UTC",
    "Asia/Kabul",  # a half hour
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",  # changed at midnight, until 2019
    "America/Havana",  # changes at midnight
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Apia",  # skipped a whole day in 2011
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Antarctica/Troll",  # by two hours
]

clock_times = st.builds(
    lambda h, m: f"{h:02}:{m:02}", st.integers(0, 23), st.sampled_from([0, 1, 15, 30, 45, 59])
)
stretches = st.builds(
    lambda days, start, end: QuietHours(days=tuple(sorted(days, key=DAYS.index)), start=start, end=end),
    st.sets(st.sampled_from(DAYS), min_size=1),
    clock_times,
    clock_times,
).filter(lambda hours: hours.start != hours.end)
moments = st.datetimes(datetime(2009, 1, 1), datetime(2031, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))
zones = st.sampled_from(ZONES)


def on_the_wall(hours: QuietHours, zone: str, at: datetime) -> bool:
    """Whether the clock on the wall says that it is quiet: the plain reading, without any arithmetic of moments."""
    local = at.astimezone(ZoneInfo(zone))
    start, end, clock = time.fromisoformat(hours.start), time.fromisoformat(hours.end), local.time()
    today, yesterday = DAYS[local.weekday()], DAYS[(local.weekday() - 1) % 7]
    if start < end:
        return today in hours.days and start <= clock < end
    return (today in hours.days and clock >= start) or (yesterday in hours.days and clock < end)


def changes_near(zone: str, at: datetime, within: timedelta) -> bool:
    """Whether the zone's clocks are put anywhere around that moment."""
    here = ZoneInfo(zone)
    steps = int(within / timedelta(minutes=15))
    offsets = {
        (at + timedelta(minutes=15 * step)).astimezone(here).utcoffset() for step in range(-steps, steps + 1)
    }
    return len(offsets) > 1


@given(hours=stretches, zone=zones, at=moments)
@example(
    hours=QuietHours(days=("sat",), start="22:00", end="02:30"),
    zone="Europe/Berlin",
    at=datetime(2026, 3, 28, 23, 30, tzinfo=UTC),
)
@example(
    hours=QuietHours(days=("sun",), start="00:00", end="08:00"),
    zone="America/Sao_Paulo",
    at=datetime(2018, 11, 4, 4, 0, tzinfo=UTC),
)
def test_whoever_reads_quiet_from_the_wall_is_left_in_peace(
    hours: QuietHours, zone: str, at: datetime
) -> None:
    """In doubt it is quiet: no moment that the wall calls quiet is ever missed."""
    if on_the_wall(hours, zone, at):
        assert quiet_until([hours], zone, at) is not None


@given(hours=stretches, zone=zones, at=moments)
def test_away_from_changes_it_is_exactly_what_the_wall_says(
    hours: QuietHours, zone: str, at: datetime
) -> None:
    if not changes_near(zone, at, timedelta(days=2)):
        until = quiet_until([hours], zone, at)

        assert (until is not None) == on_the_wall(hours, zone, at)
        if until is not None and until < at + timedelta(days=1):
            assert until.astimezone(ZoneInfo(zone)).strftime("%H:%M") == hours.end


@given(lines=st.lists(stretches, min_size=1, max_size=4), zone=zones, at=moments)
def test_it_ends_later_and_then_it_is_not_quiet(lines: list[QuietHours], zone: str, at: datetime) -> None:
    """Whoever is deferred to the end is not deferred again; hours without a gap are looked at after eight days."""
    until = quiet_until(lines, zone, at)

    if until is not None:
        assert at < until <= at + LONGEST
        assert until.tzinfo is UTC
        if until < at + LONGEST:
            assert quiet_until(lines, zone, until) is None
            assert quiet_until(lines, zone, until - timedelta(microseconds=1)) == until


@given(hours=stretches, zone=zones, other=zones, at=moments)
def test_a_zone_of_its_own_wins_over_the_recipients(
    hours: QuietHours, zone: str, other: str, at: datetime
) -> None:
    named = QuietHours(days=hours.days, start=hours.start, end=hours.end, timezone=other)

    assert quiet_until([named], zone, at) == quiet_until([hours], other, at)


@pytest.mark.parametrize(
    ("hours", "zone", "at", "until"),
    [
        pytest.param(("22:00", "07:00"), "Asia/Kabul", "2026-11-15T18:00Z", "2026-11-16T02:30Z", id="over midnight"),
        pytest.param(("22:00", "07:00"), "Asia/Kabul", "2026-11-15T12:00Z", None, id="by day"),
        pytest.param(("22:00", "07:00"), "Asia/Kabul", "2026-11-15T17:30Z", "2026-11-16T02:30Z", id="at the start"),
        pytest.param(("22:00", "07:00"), "Asia/Kabul", "2026-11-16T02:30Z", None, id="at the end"),
        # 29 March 2026: clocks in Berlin go from 02:00 to 03:00.
        pytest.param(("22:00", "07:00"), "Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T05:00Z", id="a short night"),
        pytest.param(("22:00", "02:30"), "Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T01:00Z", id="an end that is skipped"),
        pytest.param(("02:30", "06:00"), "Europe/Berlin", "2026-03-29T01:00Z", "2026-03-29T04:00Z", id="a start that is skipped"),
        # 25 October 2026: clocks in Berlin go from 03:00 back to 02:00.
        pytest.param(("22:00", "07:00"), "Europe/Berlin", "2026-10-24T22:00Z", "2026-10-25T06:00Z", id="a long night"),
        pytest.param(("22:00", "02:30"), "Europe/Berlin", "2026-10-25T00:45Z", "2026-10-25T01:30Z", id="an end that comes twice"),
        pytest.param(("02:30", "06:00"), "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-25T05:00Z", id="a start that comes twice"),
        # 30 December 2011 did not take place in Apia.
        pytest.param(("20:00", "09:00"), "Pacific/Apia", "2011-12-30T08:00Z", "2011-12-30T19:00Z", id="a day that is skipped"),
    ],
)  # fmt: skip
def test_known_nights(hours: tuple[str, str], zone: str, at: str, until: str | None) -> None:
    every_day = QuietHours(days=DAYS, start=hours[0], end=hours[1])

    found = quiet_until([every_day], zone, datetime.fromisoformat(at))

    assert found == (None if until is None else datetime.fromisoformat(until))
