"""When something planned is due, over every change of the clocks."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.errors import BadValueError
from tidings.notify.schedule.due import NO_OFFSET, Offset, due_at, read_anchor, read_clock
from tidings.notify.schedule.model import DueRule

#: Clocks that change by an hour and by half of one, at midnight and by day, in both halves of the world; and none.
ZONES = st.sampled_from(
    [
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Santiago",
        "Africa/Cairo",
        "Asia/Kabul",
        "UTC",
    ]
)
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2028, 12, 31)).map(
    lambda at: at.replace(tzinfo=UTC, microsecond=0)
)
CLOCKS = st.times().map(lambda at: at.replace(second=0, microsecond=0, tzinfo=None))
OFFSETS = st.builds(
    Offset,
    before=st.booleans(),
    months=st.integers(0, 5),
    days=st.integers(0, 60),
    seconds=st.integers(0, 3 * 86_400),
)


@given(MOMENTS, OFFSETS, CLOCKS, ZONES)
def test_the_clocks_show_the_hour_unless_they_skip_it(
    anchor: datetime, offset: Offset, clock: time, zone: str
) -> None:
    due = due_at(anchor, offset, clock, ZoneInfo(zone))
    there = due.at.astimezone(ZoneInfo(zone))

    before = (due.at - timedelta(seconds=1)).astimezone(ZoneInfo(zone))
    skipped = before.utcoffset() != there.utcoffset()
    assert there.time().replace(microsecond=0) == clock or skipped


@given(MOMENTS, OFFSETS, CLOCKS, ZONES)
def test_what_comes_before_its_anchor_never_comes_after_it_and_the_other_way_round(
    anchor: datetime, offset: Offset, clock: time, zone: str
) -> None:
    due = due_at(anchor, offset, clock, ZoneInfo(zone))

    assert due.at <= due.anchor_at if offset.before else due.at >= due.anchor_at


@given(MOMENTS, OFFSETS, CLOCKS, ZONES)
def test_it_is_within_a_day_of_anchor_and_offset(
    anchor: datetime, offset: Offset, clock: time, zone: str
) -> None:
    plain = due_at(anchor, offset, None, ZoneInfo(zone)).at
    shown = due_at(anchor, offset, clock, ZoneInfo(zone)).at

    # A day has up to 25 hours, and the next one may be meant.
    assert abs(shown - plain) <= timedelta(hours=50)


@given(MOMENTS, st.integers(-60, 60), ZONES)
def test_days_are_counted_on_the_calendar(anchor: datetime, days: int, zone: str) -> None:
    """Two days before three o'clock is three o'clock, whatever the clocks did in between."""
    offset = Offset(before=days < 0, days=abs(days))
    due = due_at(anchor, offset, None, ZoneInfo(zone)).at.astimezone(ZoneInfo(zone))
    there = anchor.astimezone(ZoneInfo(zone))

    expected = there.date() + timedelta(days=days)
    before = (due - timedelta(hours=3)).astimezone(UTC).astimezone(ZoneInfo(zone))
    assert due.date() == expected
    assert due.time() == there.time() or before.utcoffset() != due.utcoffset()


@given(st.integers(0, 99), st.integers(0, 300), st.integers(0, 99), st.booleans())
def test_an_offset_means_what_it_says(weeks: int, days: int, hours: int, before: bool) -> None:
    read = (
        Offset.parse(f"{'-' if before else ''}P{weeks}W{days}DT{hours}H") if weeks * 7 + days < 700 else None
    )

    if read is not None:
        assert (read.days, read.seconds, read.before) == (7 * weeks + days, hours * 3600, before)


@pytest.mark.parametrize(
    "text",
    ["", "P", "-P", "PT", "2D", "P2", "P-2D", "P2DT", "P1.5D", "P2H", "PT2D", "P9999D", "--P1D", "p1d"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(BadValueError) as refused:
        Offset.parse(text)

    assert refused.value.field == "offset"


@pytest.mark.parametrize("text", ["9:00", "24:00", "09:60", "09:00Z", "09:00+02:00", "nine", ""])
def test_what_is_no_hour_is_refused(text: str) -> None:
    with pytest.raises(BadValueError):
        read_clock(text)


def test_the_night_with_23_hours_and_the_night_with_25() -> None:
    """Berlin, 2027: forward on 28 March, back on 31 October."""
    berlin, nine = ZoneInfo("Europe/Berlin"), time(9)
    spring = due_at(datetime(2027, 3, 29, 13, tzinfo=UTC), Offset.parse("-P2D"), nine, berlin)
    autumn = due_at(datetime(2027, 11, 1, 13, tzinfo=UTC), Offset.parse("-P2D"), nine, berlin)

    assert spring.at == datetime(2027, 3, 27, 8, tzinfo=UTC)
    assert autumn.at == datetime(2027, 10, 30, 7, tzinfo=UTC)
    skipped = due_at(date(2027, 3, 28), NO_OFFSET, time(2, 30), berlin)
    assert skipped.at == datetime(2027, 3, 28, 1, tzinfo=UTC), "the moment of the change"


def test_a_day_and_a_moment_without_a_zone_are_the_persons() -> None:
    kabul = "Asia/Kabul"
    due = DueRule(anchor="2026-12-01", anchor_offset="-P1D", local_time="18:00").due(kabul)
    wall = DueRule(anchor="2026-12-01T14:00", anchor_offset="-PT2H").due(kabul)

    assert due is not None
    assert wall is not None
    assert due.at == datetime(2026, 11, 30, 13, 30, tzinfo=UTC)
    assert wall.at == datetime(2026, 12, 1, 7, 30, tzinfo=UTC)


def test_the_last_day_of_a_month_stays_the_last() -> None:
    due = due_at(datetime(2027, 1, 31, 12, tzinfo=UTC), Offset.parse("P1M"), None, ZoneInfo("UTC"))

    assert due.at == datetime(2027, 2, 28, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", [None, 5, True, "soon", "2026-13-01", "2026-12-01T25:00", {"at": 1}, "9" * 50]
)
def test_what_is_no_time_is_no_anchor(value: object) -> None:
    assert read_anchor(value) is None
