"""Remembers an answer for a moment, so that a busy process asks the database once and not a thousand times.

What is remembered may be old by its time to live and no more. Callers that arrive while an answer is being
fetched wait for that one. A failure is remembered by nobody.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from tidings.kernel.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ShortMemory(Generic[K, V]):
    """A bounded cache with a short time to live and one fetch per key at a time."""

    def __init__(self, *, clock: Clock, seconds: float, size: int = 10_000) -> None:
        self._clock = clock
        self._seconds = seconds
        self._size = size
        self._known: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._fetches: dict[K, asyncio.Task[V]] = {}

    def peek(self, key: K) -> V | None:
        """What is remembered and still fresh."""
        entry = self._known.get(key)
        return entry[1] if entry is not None and entry[0] > self._clock.monotonic() else None

    async def get(self, key: K, fetch: Callable[[K], Awaitable[V]]) -> V:
        """What is remembered, or what `fetch` brings."""
        entry = self._known.get(key)
        if entry is not None and entry[0] > self._clock.monotonic():
            return entry[1]
        task = self._fetches.get(key)
        if task is None:
            # The time counts from before the question: the answer can't be younger than that.
            task = asyncio.ensure_future(self._fetch(key, fetch, self._clock.monotonic() + self._seconds))
            self._fetches[key] = task
            task.add_done_callback(lambda done: self._forget_fetch(key, done))
        # Shielded: one caller who hangs up must not cancel the answer of the others.
        return await asyncio.shield(task)

    def forget(self, key: K) -> None:
        """Ask anew next time; also what is being fetched just now is not kept."""
        self._known.pop(key, None)
        self._fetches.pop(key, None)

    async def _fetch(self, key: K, fetch: Callable[[K], Awaitable[V]], until: float) -> V:
        value = await fetch(key)
        if self._fetches.get(key) is asyncio.current_task():
            self._known[key] = (until, value)
            self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return value

    def _forget_fetch(self, key: K, done: "asyncio.Task[V]") -> None:
        if self._fetches.get(key) is done:
            del self._fetches[key]
        if not done.cancelled():
            done.exception()
