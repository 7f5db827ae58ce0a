"""Only so many connections are held, in all and from one place, and descriptors are kept back for the rest."""

import resource

import pytest
import structlog

from tests.support.clock import ManualClock
from tidings.kernel.http.connections import HEADROOM, Connections, room_for


def test_one_place_gets_a_part_of_them() -> None:
    room = Connections(most=5, most_from_one=2, clock=ManualClock())

    assert [room.join("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert room.join("192.0.2.2")
    room.leave("192.0.2.1")
    assert room.join("192.0.2.1")
    assert room.open == 3


def test_a_network_of_ipv6_is_one_place() -> None:
    room = Connections(most=5, most_from_one=1, clock=ManualClock())

    assert [room.join(f"2001:db8::{n}") for n in range(1, 3)] == [True, False]
    assert room.join("2001:db8:0:1::1")


def test_the_whole_process_has_a_limit_and_a_trusted_proxy_may_have_all_of_it() -> None:
    room = Connections(most=4, most_from_one=1, proxies=["10.0.0.0/24"], clock=ManualClock())

    assert [room.join("10.0.0.7") for _ in range(5)] == [True] * 4 + [False]
    assert not room.join("192.0.2.1")


def test_the_log_says_what_to_set() -> None:
    """Behind a proxy that nobody named, all callers are one address."""
    room = Connections(most=2, most_from_one=1, clock=ManualClock())

    with structlog.testing.capture_logs() as logs:
        assert [room.join("10.0.0.7") for _ in range(2)] == [True, False]

    [line] = logs
    assert (line["event"], line["limit"]) == ("connections_refused", "address")
    assert "TIDINGS_TRUSTED_PROXIES" in line["remedy"]
    assert "TIDINGS_MAX_CONNECTIONS_PER_ADDRESS" in line["remedy"]


def test_places_that_left_are_forgotten() -> None:
    room = Connections(most=1000, most_from_one=1, clock=ManualClock())

    for n in range(200):
        assert room.join(f"192.0.2.{n}")
        room.leave(f"192.0.2.{n}")

    assert (room.open, len(room._by_place)) == (0, 0)


@pytest.mark.parametrize(
    ("limits", "room", "asked"),
    [
        ((20_000, 20_000), 10_000, []),
        ((1024, 524_288), 10_000, [10_000 + HEADROOM]),
        ((1024, 4096), 4096 - HEADROOM, [4096]),
        ((256, 256), 64, [256]),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), 10_000, []),
    ],
)
def test_descriptors_are_asked_for_and_some_kept_back(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], room: int, asked: list[int]
) -> None:
    set_to: list[int] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: set_to.append(pair[0]))

    assert room_for(10_000) == room
    assert set_to == asked
