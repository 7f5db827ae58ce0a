"""Tells the gate how a tenant stands, from the projection."""

from tidings.kernel.db import Database
from tidings.kernel.http.tenant_gate import TenantState
from tidings.kernel.ids import TenantId
from tidings.notify.tenants import store


class ProjectedStates:
    """Looks a tenant up in the projection."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def state_of(self, tenant_id: TenantId) -> TenantState | None:
        """Its state; None for a tenant that is not known here."""
        async with self._db.platform() as tx:
            return await store.find_state(tx, tenant_id=tenant_id)
