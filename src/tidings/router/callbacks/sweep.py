"""Removes what callbacks leave behind when its time is over, and closes what was left open."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from tidings.kernel.blobs.keys import PLATFORM
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.logs import get_logger
from tidings.router.callbacks import store
from tidings.router.callbacks.patience import OLDEST_ATTEMPT

_log = get_logger("callbacks")
#: How long raw bodies are kept.
RAW_KEPT: Final = timedelta(days=30)
_DAY: Final = timedelta(days=1)
#: A request that is open longer, without an open event, was marked by two workers at once.
_SETTLED_AFTER: Final = timedelta(minutes=1)


async def sweep_dedup(db: Database, clock: Clock, *, limit: int) -> int:
    """Forget events that can't be told again; how many."""
    async with db.worker() as tx:
        return await store.sweep_dedup(tx, now=clock.now(), limit=limit)


async def settle_stuck(db: Database, clock: Clock, *, limit: int) -> int:
    """Give up what is too old to be looked for, and close requests whose last events were marked by two workers at
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
    """Removes raw bodies that are old enough, day by day from the first there can be; a day that is done is not looked
    at again."""

    def __init__(
        self, db: Database, blobs: Callable[[], BlobStore], clock: Clock, *, kept: timedelta = RAW_KEPT
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._clock = clock
        self._kept = kept
        #: The last day that is done, by vendor.
        self._done: dict[str, date] = {}

    async def sweep(self, limit: int) -> int:
        """Remove at most so many objects; how many went."""
        last = (self._clock.now() - self._kept).date() - _DAY
        async with self._db.worker() as tx:
            vendors = await store.find_vendors(tx)
        removed = 0
        for vendor, since in vendors.items():
            # A day earlier, for clocks that differ.
            self._done.setdefault(vendor, since.date() - 2 * _DAY)
            removed += await self._sweep_vendor(vendor, last, limit - removed)
            if removed >= limit:
                break
        return removed

    async def _sweep_vendor(self, vendor: str, last: date, limit: int) -> int:
        removed = 0
        first = self._done[vendor] + _DAY
        while (day := self._done[vendor] + _DAY) <= last:
            # Long times without a callback are passed over a year or a month at a time.
            if (day == first or (day.month, day.day) == (1, 1)) and await self._empty(vendor, f"{day:%Y}"):
                self._done[vendor] = min(day.replace(month=12, day=31), last)
                continue
            if (day == first or day.day == 1) and await self._empty(vendor, f"{day:%Y/%m}"):
                self._done[vendor] = min(_end_of_month(day), last)
                continue
            async for key in self._blobs().list(_folder(vendor, f"{day:%Y/%m/%d}")):
                if removed >= limit:
                    return removed
                await self._blobs().delete(key)
                removed += 1
            self._done[vendor] = day
        return removed

    async def _empty(self, vendor: str, time: str) -> bool:
        async for _ in self._blobs().list(_folder(vendor, time)):
            return False
        return True


def _folder(vendor: str, time: str) -> str:
    return f"{PLATFORM}/webhooks/{vendor}/{time}"


def _end_of_month(day: date) -> date:
    return (day.replace(day=28) + 4 * _DAY).replace(day=1) - _DAY
