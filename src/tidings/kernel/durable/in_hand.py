"""What a process is really dealing with, out of what is claimed in its name.

The answer to a commit may be lost: then something is claimed of which its worker knows nothing, and because claims
have no time limit nobody would ever take it up. Whoever claims keeps one of these; what is claimed by it and not in
its hands is free again.
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
        """They are being dealt with."""
        self._ids.update(ids)

    def drop(self, ids: Iterable[str]) -> None:
        """They are not any more."""
        for id_ in ids:
            self._ids[id_] -= 1
            if self._ids[id_] <= 0:
                del self._ids[id_]

    @contextmanager
    def holding(self, ids: Sequence[str]) -> Iterator[None]:
        """They are being dealt with until the end of the block."""
        self.take(ids)
        try:
            yield
        finally:
            self.drop(ids)

    def ids(self) -> list[str]:
        """All of them."""
        return list(self._ids)
