"""Removes what callbacks leave behind when its time is over, and closes what was left open."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from tidings.contracts.erasure import RAW_CALLBACKS_KEPT
from tidings.kernel.blobs.days import DaySweeper
from tidings.kernel.blobs.keys import PLATFORM
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.logs import get_logger
from tidings.router.callbacks import store
from tidings.router.callbacks.retry_policy import OLDEST_ATTEMPT

_log = get_logger("callbacks")
_DAY: Final = timedelta(days=1)
#: A request that is open longer, without an open event, was marked by two workers at once.
_SETTLED_AFTER: Final = timedelta(minutes=1)


async def sweep_dedup(db: Database, clock: Clock, *, limit: int) -> int:
    """Forget events that can't be told again; how many."""
    async with db.worker() as tx:
        return await store.sweep_dedup(tx, now=clock.now(), limit=limit)


async def settle_stuck(db: Database, clock: Clock, *, limit: int) -> int:
    """Give up what is too old to be looked for, and close requests with last events that were marked by two workers at
    once; how many events and requests that were."""
    now = clock.now()
    oldest = now - OLDEST_ATTEMPT
    async with db.worker() as tx:
        old = await store.give_up_old(tx, until=oldest, now=now, limit=limit)
        if old:
            await store.settle_requests(tx, sorted(set(old)), now=now)
    if old:
        _log.warning("callbacks_too_old", count=len(old))
    async with db.worker() as tx:
        found = await store.find_unsettled(tx, after=oldest, before=now - _SETTLED_AFTER, limit=limit)
        return len(old) + (await store.settle_requests(tx, found, now=now) if found else 0)


class RawBodySweeper:
    """Removes raw bodies that are old enough, vendor by vendor."""

    def __init__(
        self,
        db: Database,
        blobs: Callable[[], BlobStore],
        clock: Clock,
        *,
        kept: timedelta = RAW_CALLBACKS_KEPT,
    ) -> None:
        self._db = db
        self._days = DaySweeper(blobs)
        self._clock = clock
        self._kept = kept

    async def sweep(self, limit: int) -> int:
        """Remove at most so many objects; how many went."""
        last = (self._clock.now() - self._kept).date() - _DAY
        async with self._db.worker() as tx:
            vendors = await store.find_vendors(tx)
        removed = 0
        for vendor, since in vendors.items():
            # A day earlier, for clocks that differ.
            removed += await self._days.sweep(
                f"{PLATFORM}/webhooks/{vendor}", first=since.date() - _DAY, last=last, limit=limit - removed
            )
            if removed >= limit:
                break
        return removed
