"""Which months count as attached, whatever the partitions are called."""

import pytest

from tidings.kernel.audit.months import AttachedMonths

NOVEMBER = "FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00')"


@pytest.mark.parametrize(
    ("bound", "months"),
    [
        (NOVEMBER, {11}),
        ("FOR VALUES FROM ('2026-10-01 00:00:00+00') TO ('2026-12-01 00:00:00+00')", {10, 11}),
        ("FOR VALUES FROM ('2026-11-05 00:00:00+00') TO ('2026-11-06 00:00:00+00')", {11}),
        ("FOR VALUES FROM ('2026-11-30 23:59:59.9+00') TO ('2026-12-01 00:00:00.1+00')", {11, 12}),
        ("FOR VALUES FROM (MINVALUE) TO ('2026-11-01 00:00:00+00')", {9, 10}),
        ("FOR VALUES FROM ('2026-11-01 00:00:00+00') TO (MAXVALUE)", {11, 12}),
        ("DEFAULT", {9, 10, 11, 12}),
        ("something that a later Postgres may print", {9, 10, 11, 12}),
    ],
)
def test_the_bounds_decide(bound: str, months: set[int]) -> None:
    """Half a month counts as the month; what can't be read counts as all of them."""
    attached = AttachedMonths([bound])

    assert {month for month in range(9, 13) if (2026, month) in attached} == months


def test_december_ends_with_the_year() -> None:
    """The next month of December is January."""
    attached = AttachedMonths(["FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00')"])

    assert (2026, 12) in attached
    assert (2027, 1) not in attached
    assert (2026, 11) not in attached


def test_without_partitions_no_month_is_attached() -> None:
    """Everything may be in the archive."""
    assert (2026, 11) not in AttachedMonths([])
