"""In hand: the claimed rows that this process is really working on.

The answer to a commit may be lost: then a row is claimed in the name of a worker that knows nothing of it, and because
claims have no time limit no other worker would ever take it up. Every job that claims keeps an `InHand`; a row that is
claimed by the worker and not in its hands is an orphan, and is freed.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager


class InHand:
    """Ids of claimed rows; `claiming` is held from a claim until its ids are here."""

    def __init__(self) -> None:
        self._ids: Counter[str] = Counter()
        self.claiming = asyncio.Lock()

    def take(self, ids: Iterable[str]) -> None:
        """Work on them begins."""
        self._ids.update(ids)

    def drop(self, ids: Iterable[str]) -> None:
        """Work on them has ended."""
        for id_ in ids:
            self._ids[id_] -= 1
            if self._ids[id_] <= 0:
                del self._ids[id_]

    @contextmanager
    def holding(self, ids: Sequence[str]) -> Iterator[None]:
        """Work on them lasts until the end of the block."""
        self.take(ids)
        try:
            yield
        finally:
            self.drop(ids)

    def ids(self) -> list[str]:
        """All of them."""
        return list(self._ids)
