"""Which caches a process warms: those that serve the API, and those that send."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidings.kernel.ids import TenantId
from tidings.kernel.warm_up import CacheWarmer, WarmUp
from tidings.notify.access import store as access_store

if TYPE_CHECKING:
    from tidings.bootstrap.system import System

#: A tenant whose keys were used in this time is likely to come again.
_ACTIVE: Final = timedelta(days=1)


def cache_warmer(system: "System", roles: Collection[str]) -> CacheWarmer:
    """The job that warms the caches of a process with these roles."""
    kernel, access = system.kernel, system.access

    async def active(most: int) -> Sequence[TenantId]:
        async with kernel.db.platform() as tx:
            return await access_store.active_tenants(tx, since=kernel.clock.now() - _ACTIVE, most=most)

    async def keys_of_encryption(tenant_ids: Sequence[TenantId]) -> None:
        async with kernel.db.tenants(tenant_ids, by_index=True) as tx:
            await kernel.keyring.warm_up(tx, tenant_ids)

    caches: list[WarmUp] = [keys_of_encryption]
    if "notify" in system.services:
        caches.append(system.notify.templates.warm_up)
    if "api" in roles:
        caches += [access.keys.warm_up, access.gate.warm_up, system.notify.categories.warm_up]
    if "jobs" in roles:
        caches.append(system.vendors.accounts.warm_up)
    if "jobs" in roles and "router" in system.services:
        caches.append(system.router.policies.warm_up)
    return CacheWarmer(kernel.changes, active, caches)
