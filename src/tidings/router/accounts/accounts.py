"""Which account a tenant sends through with each vendor, remembered until a change is announced."""

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta

from tidings.contracts.channel_configs import adapter_of
from tidings.kernel.announced_changes import AnnouncedChanges, announced_cache
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.ttl_cache import TtlCache
from tidings.router.accounts import store
from tidings.router.accounts.model import StoredAccount, chosen

#: Tenants that are remembered at once.
_MOST = 10_000


class Accounts:
    """The tenant's own account with a vendor, or else the platform's; one that is switched off where there is no other."""

    def __init__(
        self,
        db: Database,
        *,
        vendors: frozenset[str],
        clock: Clock,
        look_again: timedelta = timedelta(seconds=1),
        changes: AnnouncedChanges | None = None,
    ) -> None:
        """`vendors` are the adapters' names, and theirs are all vendors; a change is seen when it is announced, or after `look_again`."""
        self._db = db
        self._adapters = vendors
        self._known: TtlCache[TenantId, Mapping[str, StoredAccount]] = announced_cache(
            changes, "chan.channel_adapter_configs", clock=clock, size=_MOST, ttl=look_again
        )

    async def of(self, tenant_id: TenantId) -> Mapping[str, StoredAccount]:
        """By vendor."""
        known = self._known.get(tenant_id)
        if known is None:
            async with self._db.tenant(tenant_id) as tx:
                known = await self._look(tx)
        return known

    async def of_all(
        self, tenant_ids: Collection[TenantId], within: TenantsTx | None = None
    ) -> Mapping[TenantId, Mapping[str, StoredAccount]]:
        """Of each of them, by vendor; those that are not known are looked up together, `within` a transaction that is under way."""
        found = self._remembered(tenant_ids)
        missing = [id_ for id_ in tenant_ids if id_ not in found]
        if missing and within is not None:
            found |= await self._look_up(within, missing)
        elif missing:
            async with self._db.tenants(missing) as tx:
                found |= await self._look_up(tx, missing)
        return found

    async def warm_up(self, tenant_ids: Collection[TenantId]) -> None:
        """Have the accounts of these in memory."""
        await self.of_all(tenant_ids)

    async def within(self, tx: TenantTx) -> Mapping[str, StoredAccount]:
        """The same within a transaction that is under way."""
        known = self._known.get(tx.tenant_id)
        return known if known is not None else await self._look(tx)

    async def shared_by(
        self, tx: TenantTx | TenantsTx, tenant_ids: Collection[TenantId]
    ) -> Mapping[TenantId, Mapping[str, str | None]]:
        """By tenant, the handles of those that are the platform's, by vendor: the contract's `SharedAccounts`."""
        found = self._remembered(tenant_ids)
        missing = [id_ for id_ in tenant_ids if id_ not in found]
        if missing:
            found |= await self._look_up(tx, missing)
        return {
            id_: {vendor: account.handle for vendor, account in accounts.items() if account.platform}
            for id_, accounts in found.items()
        }

    def _remembered(self, tenant_ids: Collection[TenantId]) -> dict[TenantId, Mapping[str, StoredAccount]]:
        return {id_: known for id_ in tenant_ids if (known := self._known.get(id_)) is not None}

    async def _look_up(
        self, tx: TenantTx | TenantsTx, tenant_ids: Collection[TenantId]
    ) -> dict[TenantId, Mapping[str, StoredAccount]]:
        generation = self._known.generation
        stored = await store.find_accounts_of_all(tx, tenant_ids)
        return {id_: self._keep(id_, accounts, generation) for id_, accounts in stored.items()}

    async def _look(self, tx: TenantTx) -> Mapping[str, StoredAccount]:
        generation = self._known.generation
        return self._keep(tx.tenant_id, await store.find_accounts(tx), generation)

    def _keep(
        self, tenant_id: TenantId, accounts: Iterable[StoredAccount], generation: int
    ) -> Mapping[str, StoredAccount]:
        found = chosen(
            account for account in accounts if adapter_of(account.vendor, self._adapters) is not None
        )
        self._known.put(tenant_id, found, generation=generation)
        return found
