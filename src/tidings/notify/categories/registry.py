"""A cache of the categories: they are not read with every message."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from tidings.kernel.announced_changes import AnnouncedChanges, announced_sets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.set_cache import SetCache
from tidings.kernel.ttl_cache import TtlCache
from tidings.notify.categories import store
from tidings.notify.categories.model import CategoryPolicy, TenantCategory, merged

#: A change counts everywhere within a second, and at once where it is announced.
REMEMBERED_SECONDS = 0.9


class Categories:
    """The registry, at most a second old."""

    def __init__(self, db: Database, *, clock: Clock, changes: AnnouncedChanges | None = None) -> None:
        self._db = db
        ttl = timedelta(seconds=REMEMBERED_SECONDS)
        self._platform: TtlCache[None, Mapping[str, CategoryPolicy]] = TtlCache(
            clock=clock, ttl=ttl, size=1, announced=changes
        )
        self._tenants: SetCache[TenantId, tuple[TenantCategory, ...]] = announced_sets(
            self._load_tenants, changes, "notification.categories", clock=clock, ttl=ttl
        )
        if changes is not None:
            changes.on("notification_platform.categories", lambda _: self.invalidate())

    async def all(self) -> Mapping[str, CategoryPolicy]:
        """The platform's by name. Ask before a transaction begins: it may take a connection of its own."""
        return await self._platform.get_or_fetch(None, self._load)

    async def of(self, tenant_id: TenantId) -> Mapping[str, CategoryPolicy]:
        """All that a tenant can use, by name, as it has them; to be asked for before a transaction begins too."""
        return merged(await self.all(), await self._tenants.of(tenant_id))

    async def warm_up(self, tenant_ids: Sequence[TenantId]) -> None:
        """Have those of these tenants in memory."""
        await self.all()
        await self._tenants.of_all(tenant_ids)

    def invalidate(self) -> None:
        """Look anew at the next question."""
        self._platform.clear()
        self._tenants.clear()

    async def _load(self, _: None) -> Mapping[str, CategoryPolicy]:
        async with self._db.platform() as tx:
            return await store.load_platforms(tx)

    async def _load_tenants(
        self, tenant_ids: Sequence[TenantId]
    ) -> Mapping[TenantId, tuple[TenantCategory, ...]]:
        async with self._db.tenants(tenant_ids, by_index=True) as tx:
            return await store.load_tenants_of_all(tx, tenant_ids)
