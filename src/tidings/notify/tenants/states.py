"""Tells the tenant gate how a tenant stands, from the projection; what accepting has to know of its policy comes along."""

from collections import OrderedDict
from typing import Final

from tidings.kernel.db import Database
from tidings.kernel.http.tenant_gate import TenantState
from tidings.kernel.ids import TenantId
from tidings.notify.tenants import store

#: Tenants that are remembered; as many as the gate remembers.
_MOST: Final = 10_000


class ProjectedStates:
    """Looks a tenant up in the projection."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._searchable: OrderedDict[TenantId, tuple[str, ...]] = OrderedDict()

    async def state_of(self, tenant_id: TenantId) -> TenantState | None:
        """Its state; None for a tenant that is not known here."""
        async with self._db.platform() as tx:
            found = await store.find_state(tx, tenant_id=tenant_id)
        if found is None:
            return None
        state, searchable = found
        self._searchable[tenant_id] = searchable
        self._searchable.move_to_end(tenant_id)
        if len(self._searchable) > _MOST:
            self._searchable.popitem(last=False)
        return state

    def searchable_metadata(self, tenant_id: TenantId) -> tuple[str, ...]:
        """The names in metadata that the tenant's notifications are found by, as they were when its state was looked up last.

        Every request passes the gate first, so they are as fresh as the state and cost accepting no statement.
        """
        return self._searchable.get(tenant_id, ())
