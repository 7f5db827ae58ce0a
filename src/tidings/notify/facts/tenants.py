"""What dispatch knows of tenants, remembered until a change is announced; recipients and suppressions are never remembered."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Final

from tidings.contracts.channel_configs import SharedAccounts
from tidings.kernel.announced_changes import AnnouncedChanges, announced_cache
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.ttl_cache import TtlCache
from tidings.notify.facts import store
from tidings.notify.facts.model import TenantFacts

#: Tenants that are remembered at once.
_MOST: Final = 10_000
#: Where a change may not be announced to us, nothing is remembered: a suspended tenant's messages must not go out.
_UNANNOUNCED: Final = timedelta(0)
_TABLES: Final = (
    "notification.tenants_local",
    "notification.channels",
    "notification.branding",
    "notification.categories",
)


class KnownTenants:
    """Facts about tenants, each read once."""

    def __init__(
        self, *, accounts: SharedAccounts, clock: Clock, changes: AnnouncedChanges | None = None
    ) -> None:
        self._accounts = accounts
        self._known: TtlCache[TenantId, TenantFacts] = announced_cache(
            changes, *_TABLES, clock=clock, ttl=_UNANNOUNCED, size=_MOST
        )

    async def of(
        self, tx: TenantTx | TenantsTx, tenant_ids: Collection[TenantId], *, with_accounts: bool = False
    ) -> dict[TenantId, TenantFacts]:
        """Tenants with their channels; a `MissingReferenceError` where one does not exist.

        `with_accounts`: and with the accounts of the platform that they send through.
        """
        generation = self._known.generation
        found = {one: known for one in tenant_ids if (known := self._known.get(one)) is not None}
        missing = [one for one in tenant_ids if one not in found]
        fresh = await store.load_tenants(tx, missing) if missing else {}
        found |= fresh
        if with_accounts:
            shared = await self._accounts.shared_by(tx, tenant_ids)
            for tenant_id, facts in found.items():
                if facts.shared != shared[tenant_id]:
                    fresh[tenant_id] = replace(facts, shared=shared[tenant_id])
            found |= fresh
        for tenant_id, facts in fresh.items():
            self._known.put(tenant_id, facts, generation=generation)
        return found
