"""Answers are remembered for a moment, fetched once, and never after they were to be forgotten."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.ttl_cache import TtlCache


class Source:
    def __init__(self) -> None:
        self.asked = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def fetch(self, key: str) -> int:
        self.asked += 1
        answer = self.asked
        await self.gate.wait()
        if key == "bad":
            raise ValueError(key)
        return answer


async def test_an_answer_lasts_its_time_and_no_longer() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=0.5))

    first = await cache.get_or_fetch("a", source.fetch)
    await clock.advance(timedelta(milliseconds=499))
    second = await cache.get_or_fetch("a", source.fetch)
    await clock.advance(timedelta(milliseconds=1))
    third = await cache.get_or_fetch("a", source.fetch)

    assert (first, second, third) == (1, 1, 2)


async def test_many_askers_at_once_cause_one_fetch() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=0.5))
    source.gate.clear()

    asking = [asyncio.create_task(cache.get_or_fetch("a", source.fetch)) for _ in range(20)]
    await asyncio.sleep(0)
    asking[0].cancel()
    source.gate.set()
    answers = await asyncio.gather(*asking, return_exceptions=True)

    assert source.asked == 1
    assert answers[1:] == [1] * 19
    assert isinstance(answers[0], asyncio.CancelledError)


async def test_time_counts_from_the_question() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=0.5))
    source.gate.clear()

    asking = asyncio.create_task(cache.get_or_fetch("a", source.fetch))
    await asyncio.sleep(0)
    await clock.advance(timedelta(seconds=1))
    source.gate.set()
    await asking

    assert cache.get("a") is None


async def test_what_was_being_fetched_when_told_to_forget_is_not_kept() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=60))
    source.gate.clear()

    asking = asyncio.create_task(cache.get_or_fetch("a", source.fetch))
    await asyncio.sleep(0)
    cache.forget("a")
    source.gate.set()
    await asking

    assert cache.get("a") is None


async def test_a_failure_is_not_remembered() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=60))

    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            await cache.get_or_fetch("bad", source.fetch)

    assert source.asked == 2


async def test_the_memory_is_bounded() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=60), size=3)

    for key in "abcd":
        await cache.get_or_fetch(key, source.fetch)

    assert [cache.get(key) for key in "abcd"] == [None, 2, 3, 4]


async def test_what_was_being_fetched_when_the_cache_was_cleared_is_not_kept() -> None:
    clock, source = ManualClock(), Source()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=60))
    cache.put("b", 7)
    source.gate.clear()

    asking = asyncio.create_task(cache.get_or_fetch("a", source.fetch))
    await asyncio.sleep(0)
    cache.clear()
    source.gate.set()
    await asking

    assert (cache.get("a"), cache.get("b"), len(cache)) == (None, None, 0)


class Announced:
    live = True


async def test_an_announced_change_is_what_ends_an_answer_while_announcements_come_through() -> None:
    clock, source, announced = ManualClock(), Source(), Announced()
    cache: TtlCache[str, int] = TtlCache(clock=clock, ttl=timedelta(seconds=0.5), announced=announced)

    first = await cache.get_or_fetch("a", source.fetch)
    await clock.advance(timedelta(minutes=4))
    kept = await cache.get_or_fetch("a", source.fetch)
    cache.forget("a")
    after = await cache.get_or_fetch("a", source.fetch)
    await clock.advance(timedelta(seconds=1))
    announced.live = False
    without = await cache.get_or_fetch("a", source.fetch)

    assert (first, kept, after, without) == (1, 1, 2, 3)


def test_what_was_read_before_an_announcement_is_not_kept_after_it() -> None:
    cache: TtlCache[str, int] = TtlCache(clock=ManualClock(), ttl=timedelta(seconds=1))
    generation = cache.generation
    cache.forget("a")

    cache.put("a", 1, generation=generation)
    cache.put("b", 2, generation=cache.generation)

    assert (cache.get("a"), cache.get("b")) == (None, 2)
