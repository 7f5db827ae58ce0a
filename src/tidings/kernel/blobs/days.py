"""Removes objects that lie in folders by day, `<root>/<yyyy>/<mm>/<dd>/…`, when their time is over."""

from collections.abc import Callable
from datetime import date, timedelta

from tidings.kernel.blobs.store import BlobStore

_DAY = timedelta(days=1)


class DaySweeper:
    """Goes day by day from the first there can be; a day that is done is not looked at again."""

    def __init__(self, blobs: Callable[[], BlobStore]) -> None:
        self._blobs = blobs
        #: The last day that is done, by root.
        self._done: dict[str, date] = {}

    async def sweep(self, root: str, *, first: date, last: date, limit: int) -> int:
        """Remove at most so many objects of the days from `first` to `last`; how many went."""
        removed = 0
        begin = self._done.setdefault(root, first - _DAY) + _DAY
        while (day := self._done[root] + _DAY) <= last:
            # Long times without an object are passed over a year or a month at a time.
            if (day == begin or (day.month, day.day) == (1, 1)) and await self._empty(f"{root}/{day:%Y}"):
                self._done[root] = min(day.replace(month=12, day=31), last)
                continue
            if (day == begin or day.day == 1) and await self._empty(f"{root}/{day:%Y/%m}"):
                self._done[root] = min(_end_of_month(day), last)
                continue
            async for key in self._blobs().list(f"{root}/{day:%Y/%m/%d}"):
                if removed >= limit:
                    return removed
                await self._blobs().delete(key)
                removed += 1
            self._done[root] = day
        return removed

    async def _empty(self, folder: str) -> bool:
        async for _ in self._blobs().list(folder):
            return False
        return True


def _end_of_month(day: date) -> date:
    return (day.replace(day=28) + 4 * _DAY).replace(day=1) - _DAY
