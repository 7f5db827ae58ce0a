"""Tells the tenant gate how a tenant stands, from the projection; what accepting has to know of its policy comes along."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

from tidings.kernel.db import Database
from tidings.kernel.http.tenant_gate import TenantState
from tidings.kernel.ids import TenantId
from tidings.notify.tenants import store

#: Tenants that are remembered; as many as the gate remembers.
_MOST: Final = 10_000


class ProjectedStates:
    """Looks tenants up in the projection."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._searchable: OrderedDict[TenantId, tuple[str, ...]] = OrderedDict()

    async def states_of(self, tenant_ids: Sequence[TenantId]) -> Mapping[TenantId, TenantState | None]:
        """The state of each; None for a tenant that is not known here."""
        async with self._db.platform() as tx:
            found = await store.find_states(tx, tenant_ids)
        for tenant_id, (_, searchable) in found.items():
            self._searchable[tenant_id] = searchable
            self._searchable.move_to_end(tenant_id)
        while len(self._searchable) > _MOST:
            self._searchable.popitem(last=False)
        return {id_: found[id_][0] if id_ in found else None for id_ in tenant_ids}

    def searchable_metadata(self, tenant_id: TenantId) -> tuple[str, ...]:
        """The names in metadata that the tenant's notifications are found by, as they were when its state was looked up last.

        Every request passes the gate first, so they are as fresh as the state and cost accepting no statement.
        """
        return self._searchable.get(tenant_id, ())
