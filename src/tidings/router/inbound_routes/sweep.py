"""Lets go of numbers of removed routes, and removes deliveries that were kept long enough."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.inbound_routes import delivery_store, store
from tidings.router.inbound_routes.change import RouteChanger

#: How long it can be seen, and asked for again, what was told.
DELIVERIES_KEPT: Final = timedelta(days=30)


async def release_numbers(db: Database, changer: RouteChanger, clock: Clock, *, limit: int) -> int:
    """Free the numbers of routes after their grace period; how many."""
    async with db.worker() as tx:
        found = await store.find_outlived(tx, now=clock.now(), limit=limit)
    freed = 0
    for tenant_id, route_id in found:
        async with db.tenant(tenant_id) as tenant_tx:
            freed += await changer.let_go(tenant_tx, route_id)
    return freed


async def sweep_deliveries(db: Database, clock: Clock, *, limit: int) -> int:
    """Remove what was told, or given up, long enough ago; how many."""
    async with db.worker() as tx:
        return await delivery_store.sweep_deliveries(tx, until=clock.now() - DELIVERIES_KEPT, limit=limit)
