"""Removes what callbacks leave behind when its time is over, and closes what was left open."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from tidings.kernel.blobs.keys import PLATFORM
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.callbacks import store
from tidings.router.callbacks.patience import OLDEST_ATTEMPT

#: How long raw bodies are kept.
RAW_KEPT: Final = timedelta(days=30)
#: So many days back a sweeper looks that was away for a while.
_DAYS_BACK: Final = 7
#: A request that is open longer, without an open event, was marked by two workers at once.
_SETTLED_AFTER: Final = timedelta(minutes=1)


async def sweep_dedup(db: Database, clock: Clock, *, limit: int) -> int:
    """Forget events that can't be told again; how many."""
    async with db.worker() as tx:
        return await store.sweep_dedup(tx, now=clock.now(), limit=limit)


async def settle_stuck(db: Database, clock: Clock, *, limit: int) -> int:
    """Close requests whose last events were marked by two workers at once; how many."""
    now = clock.now()
    async with db.worker() as tx:
        found = await store.find_unsettled(
            tx, after=now - OLDEST_ATTEMPT, before=now - _SETTLED_AFTER, limit=limit
        )
        return await store.settle_requests(tx, found, now=now) if found else 0


class RawBodySweeper:
    """Removes raw bodies that are old enough, day by day; a day that is done is not looked at again."""

    def __init__(
        self, db: Database, blobs: Callable[[], BlobStore], clock: Clock, *, kept: timedelta = RAW_KEPT
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._clock = clock
        self._kept = kept
        self._done: date | None = None

    async def sweep(self, limit: int) -> int:
        """Remove at most so many objects; how many went."""
        last = (self._clock.now() - self._kept).date() - timedelta(days=1)
        day = max(self._done or date.min, last - timedelta(days=_DAYS_BACK)) + timedelta(days=1)
        removed = 0
        while day <= last:
            async with self._db.worker() as tx:
                vendors = await store.find_vendors(tx)
            for vendor in vendors:
                async for key in self._blobs().list(f"{PLATFORM}/webhooks/{vendor}/{day:%Y/%m/%d}"):
                    await self._blobs().delete(key)
                    removed += 1
                    if removed >= limit:
                        return removed
            self._done = day
            day += timedelta(days=1)
        return removed
