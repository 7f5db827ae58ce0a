"""How many messages of a process are in flight at once: few where answers are quick, and no slot is ever lost."""

import asyncio
from collections.abc import Callable

import pytest

from tidings.router.adapters.in_flight import LEAST, MOST, PERIOD, TURNS, InFlightLimit, InFlightSlot


class Mails:
    """Messages that want a slot, under a clock that is set by hand."""

    def __init__(self, *, hold_seconds: float = 600.0) -> None:
        self.now = 0.0
        self.limit = InFlightLimit(monotonic=lambda: self.now, hold_seconds=hold_seconds)
        #: In the order in which they were handed over.
        self.sent: list[str] = []

    def enter(self, name: str, *, urgent: bool = False) -> InFlightSlot:
        return self.limit.enter(self._send(name), urgent=urgent)

    def _send(self, name: str) -> Callable[[], bool]:
        def send() -> bool:
            self.sent.append(name)
            return True

        return send

    async def answer(self, seconds: float, *, periods: int = 1) -> int:
        """Have messages answered so many seconds after the loop came round, while others wait; how many slots there are then."""
        for _ in range(PERIOD * periods):
            slots = [self.enter("one") for _ in range(self.limit.size + 1)]
            for _ in range(TURNS + 1):
                await asyncio.sleep(0)
            self.now += seconds
            # Who waited goes first, so that only one is looked at in each round.
            for slot in reversed(slots):
                slot.leave()
        assert self.limit.in_flight == 0
        return self.limit.size


async def test_few_are_in_flight_and_the_next_goes_when_an_answer_is_read() -> None:
    mails = Mails()
    slots = [mails.enter(name) for name in "abcd"]
    assert mails.sent == ["a", "b"]

    slots[1].leave()

    assert mails.sent == ["a", "b", "c"]
    assert mails.limit.in_flight == LEAST


async def test_what_is_urgent_goes_first() -> None:
    mails = Mails()
    first, *_ = [mails.enter(name) for name in "abcd"]
    mails.enter("urgent", urgent=True)

    first.leave()

    assert mails.sent == ["a", "b", "urgent"]


async def test_a_slot_is_left_once() -> None:
    """Whoever reads an answer says so, and whoever cleans up behind it says so again."""
    mails = Mails()
    first, *_ = [mails.enter(name) for name in "abcd"]

    first.leave()
    first.leave()

    assert mails.sent == ["a", "b", "c"]
    assert mails.limit.in_flight == LEAST


async def test_who_stops_waiting_is_not_sent() -> None:
    """A send that is cancelled before it had its slot takes none."""
    mails = Mails()
    first, second, third, _ = [mails.enter(name) for name in "abcd"]

    third.leave()
    first.leave()
    second.leave()

    assert mails.sent == ["a", "b", "d"]
    assert mails.limit.in_flight == 1


async def test_a_connection_that_died_while_its_message_waited_takes_no_slot() -> None:
    mails = Mails()
    first, second = mails.enter("a"), mails.enter("b")
    for _ in range(2_000):
        mails.limit.enter(lambda: False)
    mails.enter("c")

    first.leave()
    second.leave()

    assert mails.sent == ["a", "b", "c"]
    assert mails.limit.in_flight == 1


async def test_a_slot_that_is_left_while_it_is_handed_over_is_free() -> None:
    """A wire may end within the very write."""
    mails = Mails()
    held = [mails.enter(name) for name in "ab"]

    def end() -> bool:
        slots[0].leave()
        return True

    slots = [mails.limit.enter(end)]
    held[0].leave()

    assert mails.limit.in_flight == 1


async def test_who_hangs_holds_up_nobody_else() -> None:
    """A message without an answer gives its slot up; when it ends at last, nobody else's is taken away."""
    mails = Mails(hold_seconds=0.0)
    hanging = [mails.enter(name) for name in ("hangs", "hangs too")]
    waiting = [mails.enter(name) for name in "abcd"]
    while len(mails.sent) < 4:
        await asyncio.sleep(0.001)
    sent = mails.sent[2:4]
    for slot in hanging:
        slot.leave()
    for slot in waiting:
        slot.leave()

    assert sent == ["a", "b"]
    assert mails.limit.in_flight == 0


async def test_all_that_hang_are_let_go_soon() -> None:
    """With every slot that is given up there are twice as many: a thousand dead servers are no queue."""
    mails = Mails(hold_seconds=0.0)
    slots = [mails.enter("hangs") for _ in range(1_000)]
    while len(mails.sent) < 1_000:
        await asyncio.sleep(0.001)
    for slot in slots:
        slot.leave()

    assert mails.limit.in_flight == 0
    assert 500 < mails.limit.size <= MOST


async def test_servers_that_keep_us_waiting_have_more_in_flight() -> None:
    mails = Mails()

    assert await mails.answer(0.005) == LEAST * 2
    assert await mails.answer(0.005, periods=2) == LEAST * 8
    assert await mails.answer(0.005, periods=20) == MOST


async def test_quick_answers_take_slots_away_again() -> None:
    mails = Mails()
    await mails.answer(0.005, periods=3)

    assert await mails.answer(0.0) == LEAST * 4
    assert await mails.answer(0.0, periods=20) == LEAST


async def test_slow_answers_that_nobody_waits_behind_need_no_more_slots() -> None:
    mails = Mails()
    for _ in range(PERIOD * 3):
        slot = mails.enter("alone")
        for _ in range(TURNS + 1):
            await asyncio.sleep(0)
        mails.now += 1.0
        slot.leave()

    assert mails.limit.size == LEAST


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_loop_that_stands_still_is_not_the_servers_fault(turns: int) -> None:
    """An answer that is there when the loop comes round is quick, however long that took."""
    mails = Mails()
    for _ in range(PERIOD * 3):
        slots = [mails.enter("one") for _ in range(LEAST + 1)]
        mails.now += 5.0
        for _ in range(turns):
            await asyncio.sleep(0)
        for slot in reversed(slots):
            slot.leave()

    assert mails.limit.size == LEAST
