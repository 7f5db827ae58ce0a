"""By which policies a tenant's messages go out now, remembered until a change is announced."""

from collections.abc import Collection, Mapping
from datetime import timedelta

from tidings.contracts.enums import UseCase
from tidings.kernel.announced_changes import AnnouncedChanges, announced_cache
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.ttl_cache import TtlCache
from tidings.router.policies import store
from tidings.router.policies.model import Policy

#: Tenants that are remembered at once.
_MOST = 10_000


class Policies:
    """Those in force; a deleted one is not among them."""

    def __init__(
        self,
        db: Database,
        *,
        clock: Clock,
        look_again: timedelta = timedelta(seconds=1),
        changes: AnnouncedChanges | None = None,
    ) -> None:
        """A change is seen when it is announced, or after `look_again`."""
        self._db = db
        self._known: TtlCache[TenantId, Mapping[UseCase, Policy]] = announced_cache(
            changes, "chan.fallback_policies", clock=clock, size=_MOST, ttl=look_again
        )

    async def of(self, tenant_id: TenantId) -> Mapping[UseCase, Policy]:
        """By use case."""
        known = self._known.get(tenant_id)
        if known is None:
            async with self._db.tenant(tenant_id) as tx:
                known = await self._look(tx)
        return known

    async def of_all(
        self, tenant_ids: Collection[TenantId], within: TenantsTx | None = None
    ) -> Mapping[TenantId, Mapping[UseCase, Policy]]:
        """Of each of them, by use case; those that are not known are looked up together, `within` a transaction that is under way."""
        found = {id_: known for id_ in tenant_ids if (known := self._known.get(id_)) is not None}
        missing = [id_ for id_ in tenant_ids if id_ not in found]
        if missing:
            generation = self._known.generation
            if within is not None:
                stored = await store.find_in_force_of_all(within, missing)
            else:
                async with self._db.tenants(missing) as tx:
                    stored = await store.find_in_force_of_all(tx, missing)
            for id_, policies in stored.items():
                self._known.put(id_, policies, generation=generation)
                found[id_] = policies
        return found

    async def warm_up(self, tenant_ids: Collection[TenantId]) -> None:
        """Have the policies of these in memory."""
        await self.of_all(tenant_ids)

    async def within(self, tx: TenantTx) -> Mapping[UseCase, Policy]:
        """The same within a transaction that is under way."""
        known = self._known.get(tx.tenant_id)
        return known if known is not None else await self._look(tx)

    async def _look(self, tx: TenantTx) -> Mapping[UseCase, Policy]:
        generation = self._known.generation
        found = await store.find_in_force(tx)
        self._known.put(tx.tenant_id, found, generation=generation)
        return found
