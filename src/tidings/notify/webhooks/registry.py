"""A cache of what the webhooks of each tenant want: it is not read with every event."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.announced_changes import AnnouncedChanges, announced_sets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId
from tidings.kernel.set_cache import SetCache
from tidings.notify.webhooks import store
from tidings.notify.webhooks.model import ToldEvent, WebhookFilter

#: A change counts everywhere within a second, and at once where it is announced.
_REMEMBERED: Final = timedelta(seconds=0.9)
_TABLE: Final = "notification.webhook_subscriptions"


class WebhookRegistry:
    """What webhooks want, at most a second old."""

    def __init__(self, db: Database, *, clock: Clock, changes: AnnouncedChanges | None = None) -> None:
        self._db = db
        self._tenants: SetCache[TenantId, Sequence[WebhookFilter]] = announced_sets(
            self._load, changes, _TABLE, clock=clock, ttl=_REMEMBERED
        )

    async def of_all(self, tenant_ids: Collection[TenantId]) -> dict[TenantId, Sequence[WebhookFilter]]:
        """Those of each tenant. It may take a connection of its own."""
        return await self._tenants.of_all(tenant_ids)

    async def count_wanting(self, event: Event) -> int:
        """How many webhooks of its tenant are told of an event now: one that is paused or disabled is not. It may take a connection of its own."""
        if event.tenant_id is None:
            return 0
        told, filters = ToldEvent(event), await self.of_all([event.tenant_id])
        return sum(one.is_active and one.wants(told) for one in filters[event.tenant_id])

    def invalidate(self) -> None:
        """Look anew at the next question."""
        self._tenants.clear()

    async def _load(self, tenant_ids: Sequence[TenantId]) -> Mapping[TenantId, Sequence[WebhookFilter]]:
        async with self._db.tenants(tenant_ids, by_index=True) as tx:
            return await store.load_filters(tx, tenant_ids)
