"""Paces of batches, taken together with the limits of the account."""

from datetime import UTC, datetime, timedelta

from tests.support.clock import ManualClock
from tests.unit.router.traffic.boards import account
from tests.unit.router.traffic.test_admission import MemoryLimits
from tidings.contracts.delivery import MessagePace, PaceRate
from tidings.router.traffic.admission import spacing
from tidings.router.traffic.vendor_selection import VendorSelection

MAIL = account("smtp", per_second=10)
BULK = account("smtp_bulk")


def pace(
    rate: PaceRate, *, key: str = "dbt_1", day: str = "2026-11-15", vendor: str | None = None
) -> MessagePace:
    return MessagePace(
        key=key,
        day=day,
        next_day=datetime(2026, 11, 16, 5, 30, tzinfo=UTC),
        accounts={} if vendor else {BULK.id: rate},
        vendors={vendor: rate} if vendor else {},
    )


async def test_in_no_minute_go_more_than_its_pace_lets() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    slow = pace(PaceRate(per_minute=24))
    went: list[tuple[datetime, int]] = []

    for _ in range(240):
        (admitted,) = await board.admit([(BULK, 100)], paces=[slow])
        went.append((clock.now(), admitted.count))
        await clock.advance(timedelta(seconds=1))

    for at, _ in went:
        assert sum(n for one, n in went if at <= one < at + timedelta(minutes=1)) <= 24
    # Hardly less either.
    assert sum(n for _, n in went) >= 4 * 22


async def test_what_the_pace_holds_back_takes_no_room_of_the_account_and_says_why() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    slow = MessagePace(
        key="dbt_1", day="", next_day=clock.now(), vendors={"smtp": PaceRate(per_hour=60)}, accounts={}
    )

    batch, other = await board.admit([(MAIL, 20), (MAIL, 20)], paces=[slow, None])

    assert (batch.count, batch.paced) == (1, True)
    assert (other.count, other.paced) == (9, False)


async def test_a_full_account_is_not_taken_for_the_pace() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    quick = MessagePace(
        key="dbt_1", day="", next_day=clock.now(), vendors={"smtp": PaceRate(per_minute=6000)}, accounts={}
    )

    (batch,) = await board.admit([(MAIL, 20)], paces=[quick])

    assert (batch.count, batch.paced) == (10, False)


async def test_a_day_is_over_when_the_pace_says_so_whatever_utc_says() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    today = pace(PaceRate(today=5))

    first = await board.admit([(BULK, 4)], paces=[today])
    await clock.advance(timedelta(hours=13))
    (second,) = await board.admit([(BULK, 4)], paces=[today])
    (tomorrow,) = await board.admit([(BULK, 4)], paces=[pace(PaceRate(today=5), day="2026-11-16")])

    assert first[0].count == 4
    assert (second.count, second.until, second.paced) == (1, today.next_day, True)
    assert tomorrow.count == 4


async def test_batches_and_accounts_have_paces_of_their_own() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    rate = PaceRate(today=2)

    found = await board.admit(
        [(BULK, 5), (BULK, 5), (MAIL, 5)],
        paces=[pace(rate), pace(rate, key="dbt_2"), pace(rate, vendor="smtp")],
    )

    assert [one.count for one in found] == [2, 2, 2]


def test_those_who_wait_come_back_at_the_slowest_pace() -> None:
    assert spacing(MAIL, None) == timedelta(seconds=0.1)
    assert spacing(BULK, None) == timedelta(seconds=1)
    assert spacing(BULK, pace(PaceRate(per_minute=60, per_hour=60))) == timedelta(minutes=1)
    assert spacing(BULK, pace(PaceRate(today=60))) == timedelta()
