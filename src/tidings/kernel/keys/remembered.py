"""A small memory with a bound and a best-before: the least used goes first, the old goes anyway."""

from collections import OrderedDict
from collections.abc import Hashable
from datetime import timedelta
from typing import Generic, TypeVar

from tidings.kernel.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """Keeps at most `size` values, none longer than `ttl`. It never prints them."""

    def __init__(self, *, clock: Clock, size: int, ttl: timedelta) -> None:
        self._clock = clock
        self._size = size
        self._ttl = ttl.total_seconds()
        self._known: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, if it is still known and fresh."""
        found = self._known.get(key)
        if found is None:
            return None
        if self._clock.monotonic() >= found[0]:
            del self._known[key]
            return None
        self._known.move_to_end(key)
        return found[1]

    def put(self, key: K, value: V) -> None:
        """Remember the value; the least used one makes room."""
        self._known[key] = (self._clock.monotonic() + self._ttl, value)
        self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    def __len__(self) -> int:
        return len(self._known)
