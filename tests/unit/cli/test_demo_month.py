"""The month of `tidings demo` is the same for the same seed, and nobody real is in it."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from tidings.cli.demo_month.doors import MonthClock
from tidings.cli.demo_month.orders import events, messages, slots
from tidings.cli.demo_month.people import full_name, guests
from tidings.kernel.moved_clock import read_ahead, write_ahead

FIRST = datetime(2026, 10, 20, tzinfo=UTC)


def test_a_seed_makes_one_month_and_another_one_another() -> None:
    people = guests(7, 40)
    plan = slots(FIRST, 30, 7, now=None)

    def all_of_it(seed: int) -> list[object]:
        return [
            [messages(slot, people, 20, seed=seed), events(slot, people, 20, seed=seed)]
            for slot in slots(FIRST, 30, seed, now=None)
        ]

    assert all_of_it(7) == all_of_it(7)
    assert all_of_it(7) != all_of_it(8)
    assert guests(7, 400)[:40] == people
    assert full_name(7, people[3]) == full_name(7, guests(7, 4)[3])
    assert [slot.number for slot in plan] == list(range(90))
    assert all(slot.at < later.at for slot, later in pairwise(plan))


def test_nobody_real_is_written_to() -> None:
    people = guests(7, 3000)
    assert len({guest.addresses["sms"] for guest in people}) > 1900
    for guest in people:
        assert guest.addresses["email"].endswith("@example.test")
        # 555-0100 to 555-0199 are kept free in every area.
        assert guest.addresses["sms"][5:10] == "55501"


def test_the_clock_comes_to_now_and_never_past_it(tmp_path: Path) -> None:
    file = tmp_path / "clock"
    write_ahead(file, timedelta(days=-3))
    clock = MonthClock(file=file)
    start = clock.now()
    clock.move_to(start + timedelta(days=1))
    assert timedelta(hours=47) < clock.behind < timedelta(hours=49)
    clock.move_to(start)
    assert clock.now() > start + timedelta(hours=23)
    clock.move_to(start + timedelta(days=90))
    assert clock.now() <= datetime.now(UTC)
    clock.finish()
    assert read_ahead(file) == timedelta(0) or clock.behind == timedelta(0)


@pytest.mark.parametrize("file", [None, "clock"])
def test_a_machine_s_clock_is_not_moved(tmp_path: Path, file: str | None) -> None:
    clock = MonthClock(file=None if file is None else tmp_path / file)
    clock.move_to(datetime.now(UTC) + timedelta(days=2))
    assert clock.behind == timedelta(0)
    assert list(tmp_path.iterdir()) == []
    assert {slot.at for slot in slots(FIRST, 3, 7, now=FIRST)} == {FIRST}
