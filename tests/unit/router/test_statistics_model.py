"""A quantile is read from buckets as if the calls of each were spread evenly in it."""

import pytest

from tidings.router.statistics.model import BOUNDS, quantile


def _buckets(**counts: int) -> list[int]:
    return [counts.get(f"b{place}", 0) for place in range(len(BOUNDS) + 1)]


@pytest.mark.parametrize(
    ("latencies", "share", "expected"),
    [
        (_buckets(), 0.5, None),
        (_buckets(b0=10), 0.5, 2),
        (_buckets(b3=10), 0.5, 38),
        (_buckets(b3=95, b7=5), 0.95, 50),
        (_buckets(b3=90, b7=10), 0.95, 750),
        (_buckets(b12=1), 1.0, 300_000),
    ],
)
def test_the_slowest_of_a_share(latencies: list[int], share: float, expected: int | None) -> None:
    assert quantile(latencies, share) == expected
