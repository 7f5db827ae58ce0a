"""Parts a list so that no part is too heavy."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def portions(given: Sequence[T], weigh: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """In their order, each of at most that weight; one that is heavier alone is never parted."""
    some: list[T] = []
    weight = 0
    for one in given:
        if some and weight + weigh(one) > most:
            yield some
            some, weight = [], 0
        some.append(one)
        weight += weigh(one)
    if some:
        yield some
