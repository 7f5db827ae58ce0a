"""Ids that exist are remembered; made-up ones are found out about in sets, and none of them grows any memory."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta

from tests.support.clock import ManualClock
from tidings.kernel.known_ids import KnownIds


class Book:
    """Ids that exist, and what was asked about."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.asked: list[Sequence[str]] = []

    async def find(self, ids: Sequence[str]) -> Collection[str]:
        self.asked.append(list(ids))
        await asyncio.sleep(0)
        return self.there & set(ids)


async def test_an_id_that_exists_is_asked_about_once() -> None:
    book, clock = Book("a"), ManualClock()
    known = KnownIds(book.find, clock=clock)

    assert [await known.has("a") for _ in range(3)] == [True] * 3
    await clock.advance(timedelta(seconds=3600))
    assert await known.has("a")
    assert book.asked == [["a"]]


async def test_a_flood_of_strangers_is_asked_about_in_sets_and_a_real_one_is_found_among_them() -> None:
    book = Book("real")
    known = KnownIds(book.find, clock=ManualClock())

    answers = await asyncio.gather(
        *(known.has(f"made-up-{n}") for n in range(1000)), known.has("real"), known.has("made-up-0")
    )

    assert answers == [False] * 1000 + [True, False]
    assert len(book.asked) <= 4


async def test_one_that_was_not_there_is_looked_for_again_a_moment_later() -> None:
    book, clock = Book(), ManualClock()
    known = KnownIds(book.find, clock=clock)

    assert not await known.has("new")
    assert not await known.has("new")
    assert len(book.asked) == 1
    book.there.add("new")
    await clock.advance(timedelta(seconds=1.5))

    assert await known.has("new")


async def test_only_so_many_are_remembered_and_the_rest_is_asked_about_again() -> None:
    book, clock = Book(*"abcdef"), ManualClock()
    known = KnownIds(book.find, clock=clock, most_known=3)

    for one in "abcdef":
        assert await known.has(one)
    await clock.advance(timedelta(seconds=2))
    asked = len(book.asked)
    assert await known.has("f")
    assert len(book.asked) == asked
    assert await known.has("a")
    assert len(book.asked) == asked + 1
