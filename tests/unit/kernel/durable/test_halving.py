"""Halving of a set that fails."""

from collections.abc import Sequence

import pytest

from tidings.kernel.durable.halving import SetDone, SetFailed, halve, in_two
from tidings.kernel.errors import DatabaseBusyError


class _Work:
    """Fails on sets with a poisoned item, and writes down what it was given."""

    def __init__(self, poison: int, error: Exception) -> None:
        self._poison = poison
        self._error = error
        self.sets: list[list[int]] = []

    async def __call__(self, items: Sequence[int]) -> int:
        self.sets.append(list(items))
        if self._poison in items:
            raise self._error
        return sum(items)


async def test_the_item_that_is_to_blame_fails_alone_and_the_others_are_done_in_order() -> None:
    work = _Work(3, LookupError())

    parts = [part async for part in halve([1, 2, 3, 4, 5], work)]

    assert work.sets == [[1, 2, 3, 4, 5], [1, 2], [3, 4, 5], [3], [4, 5]]
    assert [list(part.items) for part in parts] == [[1, 2], [3], [4, 5]]
    assert [part.result if isinstance(part, SetDone) else type(part.error) for part in parts] == [
        3,
        LookupError,
        9,
    ]


@pytest.mark.parametrize("error", [DatabaseBusyError(), TimeoutError()])
async def test_a_set_for_which_no_item_is_to_blame_fails_as_a_whole(error: Exception) -> None:
    """Each try would wait for the same lock."""
    work = _Work(3, error)

    assert [part async for part in halve([1, 2, 3], work)] == [SetFailed([1, 2, 3], error)]
    assert len(work.sets) == 1


async def test_a_caller_may_cut_otherwise_and_the_parts_are_done_in_order() -> None:
    work = _Work(3, LookupError())

    def odd_first(items: Sequence[int], error: Exception) -> Sequence[Sequence[int]]:
        assert isinstance(error, LookupError)
        return [[item for item in items if item % 2], [item for item in items if not item % 2]]

    parts = halve(
        [1, 2, 3, 4],
        work,
        cut=lambda items, error: in_two(items, error) if 2 not in items else odd_first(items, error),
    )

    assert [list(part.items) async for part in parts] == [[1], [3], [2, 4]]
    assert work.sets == [[1, 2, 3, 4], [1, 3], [1], [3], [2, 4]]


async def test_what_is_not_to_be_done_any_more_is_left_out_before_each_try() -> None:
    work = _Work(1, LookupError())

    def narrow(items: Sequence[int]) -> Sequence[int]:
        return [item for item in items if item != 4 or [1] not in work.sets]

    parts = [part async for part in halve([1, 2, 3, 4], work, narrow=narrow)]

    assert [list(part.items) for part in parts] == [[1], [2], [3]]
