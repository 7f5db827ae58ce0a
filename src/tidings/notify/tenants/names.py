"""How a tenant calls itself to people, for those who speak in its name."""

from tidings.contracts.conversations import TenantName
from tidings.kernel.db import TenantTx
from tidings.notify.tenants import store


class StoredTenantNames:
    """The contract's `TenantNames`."""

    async def of(self, tx: TenantTx) -> TenantName | None:
        """The name, or else the slug; None where neither is known."""
        tenant = await store.find_tenant(tx, tenant_id=tx.tenant_id)
        name = (tenant.name or tenant.slug) if tenant is not None else None
        if tenant is None or not name:
            return None
        return TenantName(name=name, language=tenant.default_locale.partition("-")[0])
