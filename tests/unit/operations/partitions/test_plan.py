"""Which partitions are due."""

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidings.operations.partitions.plan import PartitionedTable, Unit, due, over


def test_the_month_before_the_present_and_those_ahead() -> None:
    """Across the end of a year."""
    table = PartitionedTable(parent="chan.audit", unit="month", ahead=3)

    names = [partition.name for partition in due(table, datetime(2026, 11, 15, 12, tzinfo=UTC))]

    assert names == [
        "chan.audit_y2026m10",
        "chan.audit_y2026m11",
        "chan.audit_y2026m12",
        "chan.audit_y2027m01",
        "chan.audit_y2027m02",
    ]


def test_by_day() -> None:
    """The same, a day each."""
    table = PartitionedTable(parent="kernel.bus_events", unit="day", ahead=1)

    names = [partition.name for partition in due(table, datetime(2028, 2, 28, 23, 59, tzinfo=UTC))]

    assert names == [
        "kernel.bus_events_y2028m02d27",
        "kernel.bus_events_y2028m02d28",
        "kernel.bus_events_y2028m02d29",
    ]


@given(
    now=st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)),
    unit=st.sampled_from(["month", "day"]),
    ahead=st.integers(min_value=0, max_value=40),
)
def test_they_meet_without_gap_or_overlap_and_hold_the_present(now: datetime, unit: Unit, ahead: int) -> None:
    """Whatever the date; and a moment ago is covered too."""
    partitions = list(due(PartitionedTable(parent="a.b", unit=unit, ahead=ahead), now))

    assert len(partitions) == ahead + 2
    assert all(left.end == right.start for left, right in itertools.pairwise(partitions))
    assert partitions[1].start <= now < partitions[1].end
    assert partitions[0].start <= now - timedelta(days=1)
    assert len({partition.name for partition in partitions}) == len(partitions)


def test_what_is_over_is_named_the_oldest_first() -> None:
    """Seven days are kept besides today; other tables' partitions and strangers are never named."""
    table = PartitionedTable(parent="kernel.bus_events", unit="day", ahead=3, keep=7)
    names = {f"kernel.bus_events_y2026m11d{day:02}" for day in range(1, 16)}

    found = list(
        over(
            table,
            names | {"kernel.bus_events_old", "chan.audit_y2020m01"},
            datetime(2026, 11, 15, tzinfo=UTC),
        )
    )

    assert found == [f"kernel.bus_events_y2026m11d{day:02}" for day in range(1, 8)]


def test_a_table_that_does_not_say_how_long_it_keeps_keeps_everything() -> None:
    """Rows that have to be archived are not dropped by a calendar."""
    table = PartitionedTable(parent="chan.audit", unit="month", ahead=3)

    assert list(over(table, {"chan.audit_y2001m01"}, datetime(2026, 11, 15, tzinfo=UTC))) == []
