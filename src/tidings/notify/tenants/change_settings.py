"""The use case "a tenant changes its own settings": those that the platform leaves to it.

The facts of a tenant are the platform's rows. The order stands in the tenant's own audit first, as what it wants; then the
platform's transaction makes the event, the change and its audit row together, from the version that the order was made from.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tidings.contracts.tenants import TenantUpdated
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.db import Database
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.notify.tenants import store
from tidings.notify.tenants.change import TenantChanger
from tidings.notify.tenants.errors import UnknownTenantError
from tidings.notify.tenants.model import Tenant
from tidings.notify.tenants.settings_wire import SettingsView, UpdateSettings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SettingsChanger:
    """Changes a tenant on its own behalf."""

    db: Database
    audit: AuditLog
    changer: TenantChanger

    async def read(self, tenant_id: TenantId, caller: Caller) -> Tenant:
        """The tenant as it is."""
        async with self.db.tenant(tenant_id, caller_role=caller.role) as tx:
            known = await store.find_tenant(tx, tenant_id=tenant_id)
        if known is None:
            raise UnknownTenantError(f"no tenant has the id {tenant_id}")
        return known

    async def change(
        self, tenant_id: TenantId, wanted: UpdateSettings, *, caller: Caller, expect: Callable[[Tenant], None]
    ) -> Tenant:
        """The tenant after it; the same one where nothing is otherwise."""
        known = await self.read(tenant_id, caller)
        expect(known)
        changes = wanted.changes(known)
        if not changes:
            return known
        after = TenantUpdated(tenant_id=tenant_id, version=known.version + 1, **changes)
        async with self.db.tenant(tenant_id, caller_role=caller.role) as tx:
            entry = Entry(
                entity_type="tenant_settings",
                entity_id=tenant_id,
                action="ordered",
                actor=caller.actor,
                before=SettingsView.of(known),
                after=after,
            )
            await self.audit.append(tx, [entry])

        def make(present: Tenant) -> TenantUpdated:
            expect(present)
            return after

        async with self.db.platform() as platform_tx:
            return await self.changer.change(platform_tx, tenant_id, make, actor=caller.actor)
