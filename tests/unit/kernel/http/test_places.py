"""What comes to nothing is counted by the place it comes from."""

from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.http.places import PlaceLimit, place, place_of


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        (None, "unknown"),
        ("testclient", "testclient"),
    ],
)
def test_a_place_is_an_address_and_of_ipv6_a_network(address: str | None, where: str) -> None:
    assert place(address) == where


def test_where_a_request_comes_from() -> None:
    assert place_of({"client": ("192.0.2.7", 5)}) == "192.0.2.7"
    assert place_of({"client": None}) == "unknown"


async def test_each_place_has_its_own_minute() -> None:
    clock = ManualClock()
    limit = PlaceLimit(2, clock=clock)

    assert [limit.count("a") for _ in range(2)] == [None, None]
    await clock.advance(timedelta(seconds=20))
    assert limit.count("a") == 40.0
    assert limit.count("b") is None
    await clock.advance(timedelta(seconds=40))
    assert limit.count("a") is None


def test_only_so_many_places_are_remembered() -> None:
    limit = PlaceLimit(1, clock=ManualClock(), most_places=100)

    for n in range(1000):
        limit.count(f"place-{n}")

    assert len(limit._seen) == 100
