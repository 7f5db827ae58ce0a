"""Cache invalidation across processes: what a process remembers is dropped whenever a change is announced."""

import asyncio
from typing import Final, Protocol

from tidings.kernel.durable.wakeup import Wakeup

#: Without any announcement it is dropped this often, in seconds.
_LONGEST: Final = 3600.0


class Cache(Protocol):
    """What remembers something that a change makes old."""

    def invalidate(self) -> None:
        """Read anew at the next question."""
        ...


class InvalidationJob:
    """Invalidates caches of this process whenever their wake-up is set."""

    def __init__(self, wakeup: Wakeup, *caches: Cache) -> None:
        self._wakeup = wakeup
        self._caches = caches

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop`."""
        while not stop.is_set():
            self._wakeup.clear()
            for cache in self._caches:
                cache.invalidate()
            await self._wakeup.wait(stop, _LONGEST)
