"""What several callers miss at the same moment is looked up in one set, and never kept after it was to be forgotten."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.set_cache import SetCache


class Source:
    """Answers with the number of the look-up."""

    def __init__(self) -> None:
        self.sets: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def look_up(self, keys: Sequence[str]) -> Mapping[str, int]:
        self.sets.append(sorted(keys))
        number = len(self.sets)
        await self.gate.wait()
        if "away" in keys:
            raise DatabaseUnavailableError("away")
        return dict.fromkeys(keys, number)


def _cache(source: Source, clock: ManualClock | None = None) -> SetCache[str, int]:
    return SetCache(source.look_up, clock=clock or ManualClock(), ttl=timedelta(seconds=1))


async def test_callers_who_come_together_are_one_question() -> None:
    source = Source()
    cache = _cache(source)

    answers = tuple(
        await asyncio.gather(cache.of("a"), cache.of("b"), cache.of_all(["a", "c"]), cache.of("a"))
    )

    assert source.sets == [["a", "b", "c"]]
    assert answers == (1, 1, {"a": 1, "c": 1}, 1)
    assert await cache.of_all(["a", "b", "c", "d"]) == {"a": 1, "b": 1, "c": 1, "d": 2}
    assert source.sets[1:] == [["d"]], "the others were kept"


async def test_those_who_come_while_a_look_up_is_under_way_form_the_next_ones() -> None:
    source = Source()
    cache = _cache(source)
    source.gate.clear()
    first = asyncio.create_task(cache.of("a"))
    await asyncio.sleep(0.01)
    rest = [asyncio.create_task(cache.of(key)) for key in "bcda"]
    await asyncio.sleep(0.01)
    late = [asyncio.create_task(cache.of(key)) for key in "aef"]
    await asyncio.sleep(0.01)
    source.gate.set()

    await asyncio.gather(first, *rest, *late)

    assert source.sets == [["a"], ["a", "b", "c", "d"], ["e", "f"]], (
        "what a set before has brought is not asked for"
    )


async def test_what_was_to_be_forgotten_while_it_was_looked_up_is_not_kept() -> None:
    source = Source()
    cache = _cache(source)
    source.gate.clear()
    asking = asyncio.create_task(cache.of_all(["a", "b", "xa", "xb"]))
    await asyncio.sleep(0.01)

    cache.forget("a")
    cache.forget_where(lambda key: key.startswith("x"))
    source.gate.set()
    await asking

    assert [cache.get(key) for key in ("a", "b", "xa", "xb")] == [None, 1, None, None]
    cache.clear()
    assert len(cache) == 0


async def test_an_answer_lasts_its_time_which_counts_from_the_question() -> None:
    clock, source = ManualClock(), Source()
    cache = _cache(source, clock)
    source.gate.clear()
    asking = asyncio.create_task(cache.of("a"))
    await asyncio.sleep(0.01)
    await clock.advance(timedelta(seconds=0.6))
    source.gate.set()

    assert (await asking, await cache.of("a")) == (1, 1)
    await clock.advance(timedelta(seconds=0.4))
    assert await cache.of("a") == 2


async def test_a_failure_is_told_to_all_who_asked_and_not_remembered() -> None:
    source = Source()
    cache = _cache(source)

    told = await asyncio.gather(cache.of("away"), cache.of("a"), return_exceptions=True)

    assert [type(one) for one in told] == [DatabaseUnavailableError, DatabaseUnavailableError]
    assert await cache.of("a") == 2
    with pytest.raises(DatabaseUnavailableError):
        await cache.of("away")
