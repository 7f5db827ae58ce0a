"""When people of a batch are written to."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tidings.notify.batches.model import SendingWindow, pick_variant
from tidings.notify.batches.timing import fits, open_from, room_in_minute, slot_after, time_of_person

PARIS = ZoneInfo("Europe/Paris")
OFFICE = SendingWindow(start="09:00", end="17:00", days=("mon", "tue", "wed", "thu", "fri"))
NIGHT = SendingWindow(start="22:00", end="02:00", days=("fri",))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "now", "opens"),
    [
        (OFFICE, "2026-11-16T10:00", "2026-11-16T10:00"),  # a Monday, 11:00 in Paris
        (OFFICE, "2026-11-16T07:59", "2026-11-16T08:00"),
        (OFFICE, "2026-11-16T16:00", "2026-11-17T08:00"),  # 17:00 is the end
        (OFFICE, "2026-11-20T16:00", "2026-11-23T08:00"),  # over the weekend
        (OFFICE, "2026-03-27T20:00", "2026-03-30T07:00"),  # and over the change of the clock
        (NIGHT, "2026-11-20T20:00", "2026-11-20T21:00"),
        (NIGHT, "2026-11-21T00:30", "2026-11-21T00:30"),  # Saturday, of Friday's night
        (NIGHT, "2026-11-21T01:00", "2026-11-27T21:00"),
    ],
)
def test_a_window_is_open_or_opens_next(window: SendingWindow, now: str, opens: str) -> None:
    assert open_from(window, PARIS, utc(now)) == utc(opens)


def test_the_local_hour_is_that_of_the_persons_clock() -> None:
    noon = utc("2026-11-16T12:00")

    def at(zone: str) -> datetime:
        return time_of_person(ZoneInfo(zone), local_time="09:00", window=None, not_before=noon)

    assert at("Europe/Paris") == utc("2026-11-17T08:00")
    assert at("America/New_York") == utc("2026-11-16T14:00")
    assert at("Asia/Kabul") == utc("2026-11-17T04:30")
    assert time_of_person(PARIS, local_time="13:00", window=None, not_before=noon) == noon


def test_the_local_hour_keeps_to_the_days_of_the_window() -> None:
    saturday = utc("2026-11-21T00:00")

    assert time_of_person(PARIS, local_time="09:00", window=OFFICE, not_before=saturday) == utc(
        "2026-11-23T08:00"
    )


@pytest.mark.parametrize(
    ("hour", "window", "inside"),
    [
        ("09:00", OFFICE, True),
        ("17:00", OFFICE, False),
        ("23:00", NIGHT, True),
        ("01:59", NIGHT, True),
        ("02:00", NIGHT, False),
    ],
)
def test_an_hour_fits_a_window(hour: str, window: SendingWindow, inside: bool) -> None:
    assert fits(hour, window) is inside


@pytest.mark.parametrize("per_minute", [1, 7, 60, 100, 1_200, 10_000])
def test_in_a_minute_go_as_many_as_allowed(per_minute: int) -> None:
    now = start = utc("2026-11-16T12:00")
    slots: dict[str, datetime] = {}
    went: list[tuple[datetime, int]] = []
    while now < start + timedelta(minutes=5):
        count, at = room_in_minute(per_minute, slots, now)
        if count:
            went.append((now, count))
            slots["*"] = at = slot_after(per_minute, slots, "*", now, count)
        now = at

    for begins, _ in went:
        inside = sum(n for at, n in went if begins <= at < begins + timedelta(minutes=1))
        assert inside <= per_minute
    assert sum(n for _, n in went) >= per_minute * 5 * 0.9


def test_a_person_is_in_the_same_share_for_good_and_shares_are_as_large_as_they_say() -> None:
    picked = [pick_variant("dbt_1", f"rcp_{n}", [20, 30]) for n in range(10_000)]

    assert picked == [pick_variant("dbt_1", f"rcp_{n}", [20, 30]) for n in range(10_000)]
    assert picked != [pick_variant("dbt_2", f"rcp_{n}", [20, 30]) for n in range(10_000)]
    for number, share in ((1, 20), (2, 30), (0, 50)):
        assert abs(picked.count(number) / 100 - share) < 2
    assert pick_variant("dbt_1", "rcp_1", []) == 0
    assert {pick_variant("dbt_1", f"rcp_{n}", [50, 50]) for n in range(100)} == {1, 2}
