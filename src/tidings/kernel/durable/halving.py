"""Halving (bisection) of a set that fails: the items that are to blame fail alone, and all others are done."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class SetDone(Generic[T, R]):
    """These items were done as one set."""

    items: Sequence[T]
    result: R


@dataclass(frozen=True, slots=True)
class SetFailed(Generic[T]):
    """These items failed: one that is to blame, or a whole set for which no item is."""

    items: Sequence[T]
    error: Exception


def is_of_an_item(error: Exception) -> bool:
    """Whether an item of the set may be to blame: not for a database that is away, nor for a lock that another holds."""
    return not isinstance(error, DatabaseUnavailableError | DatabaseBusyError | TimeoutError)


def in_two(items: Sequence[T], _: Exception) -> Sequence[Sequence[T]]:
    """Both halves."""
    middle = len(items) // 2
    return [items[:middle], items[middle:]]


async def halve(
    items: Sequence[T],
    work: Callable[[Sequence[T]], Awaitable[R]],
    *,
    blames_item: Callable[[Exception], bool] = is_of_an_item,
    narrow: Callable[[Sequence[T]], Sequence[T]] | None = None,
    cut: Callable[[Sequence[T], Exception], Sequence[Sequence[T]]] = in_two,
) -> AsyncIterator[SetDone[T, R] | SetFailed[T]]:
    """Do the items as one set; a set whose error `blames_item` is `cut` into smaller ones, in their order.

    Each part is yielded when it is over, before the next begins. `narrow` says, before each try, which of a part are
    still to be done.
    """
    parts = [items]
    while parts:
        some = parts.pop()
        if narrow is not None:
            some = narrow(some)
        if not some:
            continue
        try:
            result = await work(some)
        except Exception as error:  # noqa: BLE001  # the caller judges it
            if len(some) > 1 and blames_item(error):
                parts += reversed(cut(some, error))
                continue
            part: SetDone[T, R] | SetFailed[T] = SetFailed(some, error)
        else:
            part = SetDone(some, result)
        yield part
