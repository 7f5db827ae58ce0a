"""What the pace of a batch is on a day, and how far the runner may be ahead of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidings.contracts.delivery import PaceRate
from tidings.notify.batches.account_pace import MostAhead, PacedBatch, most_ahead, pace_at, rate_on
from tidings.notify.batches.model import AccountRate, Pacing, SendingWindow
from tidings.notify.ids import BatchId

#: In Kabul it is half past four in the afternoon.
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
OFFICE = SendingWindow(start="09:00", end="18:00", days=("mon", "tue", "wed", "thu", "fri"))


def batch(rate: AccountRate, *, window: SendingWindow | None = None, **pacing: Any) -> PacedBatch:
    return PacedBatch(
        id=BatchId("dbt_1"),
        pacing=Pacing(vendors={"smtp": rate}, **pacing),
        window=window,
        started_at=NOON,
        default_timezone="Asia/Kabul",
    )


@pytest.mark.parametrize(
    ("rate", "day", "expected"),
    [
        (AccountRate(per_hour=7), 0, PaceRate(per_hour=7)),
        (AccountRate(warm_up=(5, 10)), 0, PaceRate(today=5)),
        (AccountRate(warm_up=(5, 10)), 1, PaceRate(today=10)),
        (AccountRate(warm_up=(5, 10)), 2, None),
        (AccountRate(warm_up=(5, 10), per_day=8), 1, PaceRate(today=8)),
        (AccountRate(warm_up=(5, 10), per_day=80), 2, PaceRate(today=80)),
        (AccountRate(warm_up=(5,), per_minute=2), 1, PaceRate(per_minute=2)),
        # A clock that was put back.
        (AccountRate(warm_up=(5, 10)), -1, PaceRate(today=5)),
    ],
)
def test_each_day_has_its_rate(rate: AccountRate, day: int, expected: PaceRate | None) -> None:
    assert rate_on(rate, day) == expected


def test_days_change_at_midnight_of_its_zone() -> None:
    warm = batch(AccountRate(warm_up=(5, 10)))
    midnight = datetime(2026, 11, 15, 19, 30, tzinfo=UTC)

    before, after = pace_at(warm, midnight - timedelta(seconds=1)), pace_at(warm, midnight)

    assert before is not None
    assert after is not None
    assert (before.day, before.vendors, before.next_day) == (
        "2026-11-15",
        {"smtp": PaceRate(today=5)},
        midnight,
    )
    assert (after.day, after.vendors) == ("2026-11-16", {"smtp": PaceRate(today=10)})
    assert pace_at(warm, midnight + timedelta(days=1)) is None


def test_whoever_waits_for_the_next_day_waits_for_its_window_too() -> None:
    friday = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

    found = pace_at(batch(AccountRate(per_day=5), window=OFFICE), friday)

    assert found is not None
    assert found.next_day == datetime(2026, 11, 23, 4, 30, tzinfo=UTC)


def test_days_may_be_those_of_another_zone() -> None:
    found = pace_at(batch(AccountRate(per_day=5), timezone="Pacific/Apia"), NOON)

    assert found is not None
    assert (found.day, found.next_day) == ("2026-11-16", datetime(2026, 11, 16, 11, 0, tzinfo=UTC))


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (AccountRate(per_minute=600), MostAhead(waiting=600, under_way=864_000)),
        (AccountRate(per_hour=6000), MostAhead(waiting=100, under_way=144_000)),
        (AccountRate(per_day=500), MostAhead(waiting=10, under_way=500)),
        (AccountRate(per_day=3), MostAhead(waiting=10, under_way=10)),
        (AccountRate(per_minute=600, per_day=3000), MostAhead(waiting=600, under_way=3000)),
    ],
)
def test_few_wait_for_their_turn(rate: AccountRate, expected: MostAhead) -> None:
    assert most_ahead(pace_at(batch(rate), NOON)) == expected


def test_without_a_pace_nothing_holds_the_runner_back() -> None:
    assert most_ahead(None) is None
