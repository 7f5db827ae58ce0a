"""Remembers the categories, so that nobody asks for them with every message."""

from collections.abc import Mapping

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.short_memory import ShortMemory
from tidings.notify.categories import store
from tidings.notify.categories.model import CategoryPolicy

#: A change counts everywhere within a second.
REMEMBERED_SECONDS = 0.9


class Categories:
    """The registry, at most a second old."""

    def __init__(self, db: Database, *, clock: Clock) -> None:
        self._db = db
        self._memory: ShortMemory[None, Mapping[str, CategoryPolicy]] = ShortMemory(
            clock=clock, seconds=REMEMBERED_SECONDS, size=1
        )

    async def all(self) -> Mapping[str, CategoryPolicy]:
        """Every category by name. Ask before a transaction begins: it may take a connection of its own."""
        return await self._memory.get(None, self._load)

    async def _load(self, _: None) -> Mapping[str, CategoryPolicy]:
        async with self._db.platform() as tx:
            return await store.load_categories(tx)
