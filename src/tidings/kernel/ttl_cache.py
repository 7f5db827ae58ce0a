"""A bounded cache with a time to live (TTL) and single flight, so that a busy process asks the database once and not a thousand times.

A value may be old by its time to live and no more. Where changes are announced to this process, it is kept until one is, or
for some minutes. Callers that arrive while a value is being fetched wait for that fetch. A failure is not kept.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from datetime import timedelta
from typing import Final, Generic, Protocol, TypeVar

from tidings.kernel.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: How long a value is kept while changes of it are announced: a net, should an announcement be missing.
ANNOUNCED_TTL: Final = timedelta(minutes=5)
_ANNOUNCED_SECONDS: Final = ANNOUNCED_TTL.total_seconds()


class Announcements(Protocol):
    """Tells whether changes are announced to this process."""

    @property
    def live(self) -> bool:
        """Whether every change is announced, and was since the caches were last cleared."""
        ...


class TtlCache(Generic[K, V]):
    """Keeps at most `size` values, none longer than `ttl`; the least recently used goes first. It never prints them.

    With `announced`, each value is kept for `ANNOUNCED_TTL` while announcements come through: the owner of the cache sees
    to it that `forget` or `clear` is called for each.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        ttl: timedelta,
        size: int = 10_000,
        announced: Announcements | None = None,
    ) -> None:
        self._clock = clock
        self._ttl = ttl.total_seconds()
        self._size = size
        self._announced = announced
        #: Counts what was forgotten: a value that was read before is not kept after.
        self.generation = 0
        #: When each was asked for, and what it is.
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._fetches: dict[K, asyncio.Task[V]] = {}

    def get(self, key: K) -> V | None:
        """The value, if it is kept and still fresh."""
        entry = self._fresh(key)
        return None if entry is None else entry[1]

    async def get_or_fetch(self, key: K, fetch: Callable[[K], Awaitable[V]]) -> V:
        """The value that is kept, or what `fetch` brings: one fetch per key at a time."""
        entry = self._fresh(key)
        if entry is not None:
            return entry[1]
        task = self._fetches.get(key)
        if task is None:
            # The time counts from before the question: the answer can't be younger than that.
            task = asyncio.ensure_future(self._fetch(key, fetch, self._clock.monotonic()))
            self._fetches[key] = task
            task.add_done_callback(lambda done: self._forget_fetch(key, done))
        # Shielded: one caller who hangs up must not cancel the answer of the others.
        return await asyncio.shield(task)

    def put(self, key: K, value: V, *, generation: int | None = None) -> None:
        """Keep the value; the least recently used one makes room. `generation`: as it was before the value was read."""
        if generation is None or generation == self.generation:
            self._keep(key, value, self._clock.monotonic())

    def forget(self, key: K) -> None:
        """Ask anew next time; a value that is being fetched now is not kept either."""
        self.generation += 1
        self._entries.pop(key, None)
        self._fetches.pop(key, None)

    def clear(self) -> None:
        """Forget every key."""
        self.generation += 1
        self._entries.clear()
        self._fetches.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _fresh(self, key: K) -> tuple[float, V] | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        announced = self._announced
        ttl = _ANNOUNCED_SECONDS if announced is not None and announced.live else self._ttl
        if self._clock.monotonic() >= entry[0] + ttl:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return entry

    def _keep(self, key: K, value: V, asked_at: float) -> None:
        self._entries[key] = (asked_at, value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    async def _fetch(self, key: K, fetch: Callable[[K], Awaitable[V]], asked_at: float) -> V:
        value = await fetch(key)
        if self._fetches.get(key) is asyncio.current_task():
            self._keep(key, value, asked_at)
        return value

    def _forget_fetch(self, key: K, done: "asyncio.Task[V]") -> None:
        if self._fetches.get(key) is done:
            del self._fetches[key]
        if not done.cancelled():
            done.exception()
