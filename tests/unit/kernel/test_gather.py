"""Group commit: sets form by themselves, a poisoned item fails alone, a crowd is turned away in time."""

import asyncio
from collections.abc import Sequence

import pytest

from tidings.kernel.errors import ConstraintError, DatabaseUnavailableError
from tidings.kernel.gather import Gatherer
from tidings.kernel.refusals import ConflictError, TooBusyError


class Recorder:
    """Work that notes its sets, and waits for a sign where it is told to."""

    def __init__(self) -> None:
        self.sets: list[tuple[str, list[int]]] = []
        self.go = asyncio.Event()
        self.go.set()

    async def work(self, key: str, items: Sequence[int]) -> list[int | Exception]:
        self.sets.append((key, list(items)))
        await self.go.wait()
        if any(item < 0 for item in items):
            raise ConstraintError("poison")
        return [ConflictError("no") if item == 13 else item * 10 for item in items]


async def test_those_who_come_together_are_one_set_and_each_gets_its_own_answer() -> None:
    recorder = Recorder()
    gatherer = Gatherer(recorder.work, sets_at_once=1)
    assert await asyncio.gather(*(gatherer.do("a", i) for i in range(5))) == [0, 10, 20, 30, 40]
    assert recorder.sets == [("a", [0, 1, 2, 3, 4])]


async def test_while_a_set_is_worked_on_the_next_one_forms() -> None:
    recorder = Recorder()
    recorder.go.clear()
    gatherer = Gatherer(recorder.work, sets_at_once=1, most_at_once=3)
    waiting = [asyncio.create_task(gatherer.do("a", 1))]
    await asyncio.sleep(0.01)
    waiting += [asyncio.create_task(gatherer.do("a", i)) for i in (2, 3, 4, 5)]
    await asyncio.sleep(0.01)
    recorder.go.set()
    assert await asyncio.gather(*waiting) == [10, 20, 30, 40, 50]
    assert [items for _, items in recorder.sets] == [[1], [2, 3, 4], [5]]


async def test_a_poisoned_item_fails_alone() -> None:
    recorder = Recorder()
    gatherer = Gatherer(recorder.work)
    answers = await asyncio.gather(*(gatherer.do("a", i) for i in (1, 2, -1, 4, 5)), return_exceptions=True)
    assert [a for a in answers if isinstance(a, int)] == [10, 20, 40, 50]
    assert isinstance(answers[2], ConstraintError)


async def test_a_refusal_is_one_callers_alone_and_nothing_is_done_twice() -> None:
    recorder = Recorder()
    gatherer = Gatherer(recorder.work)
    answers = await asyncio.gather(*(gatherer.do("a", i) for i in (12, 13, 14)), return_exceptions=True)
    assert answers[0] == 120
    assert isinstance(answers[1], ConflictError)
    assert len(recorder.sets) == 1


async def test_nobody_is_tried_alone_when_the_database_is_away() -> None:
    calls = 0

    async def away(_: str, items: Sequence[int]) -> list[int | Exception]:
        nonlocal calls
        calls += 1
        raise DatabaseUnavailableError("away")

    gatherer = Gatherer(away)
    answers = await asyncio.gather(*(gatherer.do("a", i) for i in range(4)), return_exceptions=True)
    assert all(isinstance(a, DatabaseUnavailableError) for a in answers)
    assert calls == 1


async def test_tenants_do_not_wait_for_each_other() -> None:
    recorder = Recorder()
    recorder.go.clear()
    gatherer = Gatherer(recorder.work, sets_at_once=1)
    held = asyncio.create_task(gatherer.do("a", 1))
    await asyncio.sleep(0.01)
    other = asyncio.create_task(gatherer.do("b", 2))
    await asyncio.sleep(0.01)
    assert [key for key, _ in recorder.sets] == ["a", "b"]
    recorder.go.set()
    assert (await held, await other) == (10, 20)


async def test_a_crowd_is_turned_away_before_memory_grows() -> None:
    recorder = Recorder()
    recorder.go.clear()
    gatherer = Gatherer(recorder.work, most_waiting=3)
    inside = [asyncio.create_task(gatherer.do("a", i)) for i in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(TooBusyError):
        await gatherer.do("a", 4)
    recorder.go.set()
    await asyncio.gather(*inside)
    assert gatherer.inside == 0
    assert await gatherer.do("a", 5) == 50


async def test_who_hangs_up_undoes_nothing() -> None:
    recorder = Recorder()
    recorder.go.clear()
    gatherer = Gatherer(recorder.work)
    gone, stays = asyncio.create_task(gatherer.do("a", 1)), asyncio.create_task(gatherer.do("a", 2))
    await asyncio.sleep(0.01)
    gone.cancel()
    recorder.go.set()
    assert await stays == 20
    assert recorder.sets == [("a", [1, 2])]


async def test_closing_cuts_off_what_its_callers_have_left() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def work(_key: str, _items: Sequence[int]) -> list[int]:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    gatherer = Gatherer(work)
    caller = asyncio.ensure_future(gatherer.do("a", 1))
    await began.wait()
    caller.cancel()
    await asyncio.wait([caller])
    assert not ended.is_set()
    await gatherer.close()
    assert ended.is_set()


async def test_the_next_set_begins_as_soon_as_as_many_have_come_as_before() -> None:
    sets: list[list[int]] = []

    async def work(_: None, items: Sequence[int]) -> list[int]:
        sets.append(list(items))
        return list(items)

    # Nobody would wait for an hour: what begins the second set is that it is as large as the first.
    gatherer: Gatherer[None, int, int] = Gatherer(work, linger=3600)
    async with asyncio.timeout(20):
        await asyncio.gather(*(gatherer.do(None, item) for item in range(3)))
        await asyncio.gather(*(gatherer.do(None, item) for item in range(3, 6)))

    assert sets == [[0, 1, 2], [3, 4, 5]]
    await gatherer.close()


async def test_those_who_wait_hear_of_it_when_their_lane_is_cut_off() -> None:
    recorder = Recorder()
    recorder.go.clear()
    gatherer: Gatherer[str, int, int] = Gatherer(recorder.work)
    asking = [asyncio.create_task(gatherer.do("a", 1))]
    await asyncio.sleep(0.01)
    asking.append(asyncio.create_task(gatherer.do("a", 2)))
    await asyncio.sleep(0)

    await gatherer.close()

    answers = await asyncio.wait_for(asyncio.gather(*asking, return_exceptions=True), 20)
    assert [type(answer) for answer in answers] == [DatabaseUnavailableError, DatabaseUnavailableError]
    assert gatherer.inside == 0


async def test_a_caller_hears_of_it_when_its_set_is_cut_off_before_it_began() -> None:
    gatherer: Gatherer[str, int, int] = Gatherer(Recorder().work)
    asking = asyncio.create_task(gatherer.do("a", 1))
    await asyncio.sleep(0)

    await gatherer.close()

    with pytest.raises(DatabaseUnavailableError):
        await asyncio.wait_for(asking, 20)
