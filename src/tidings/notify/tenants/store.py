"""The only Python here that runs SQL on the projection of tenants."""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from tidings.contracts.conversations import TenantName
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import MissingReferenceError
from tidings.kernel.http.tenant_gate import TenantState
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries, json_text
from tidings.notify.tenants.model import Tenant, TenantStatus

QUERIES = Queries.beside(__file__)
#: Columns that are called as what they hold.
_WRITTEN: Final = "slug name region frozen_at default_locale default_timezone theme_etag weight last_event_id created_at updated_at"


# Rows were checked when they were written, and a policy may have been written by newer code: read leniently.
class _StoredPolicy(NotificationPolicy, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


read_policy = msgspec.json.Decoder(_StoredPolicy).decode


async def lock_tenants(tx: PlatformTx, *, tenant_ids: Sequence[TenantId]) -> dict[TenantId, Tenant]:
    """Those of the tenants that exist, locked until the end of the transaction."""
    rows = await tx.fetch(QUERIES.lock_tenants, tenant_ids=list(tenant_ids))
    return {tenant.id: tenant for tenant in map(_from_row, rows)}


async def save_tenants(tx: PlatformTx, tenants: Sequence[Tenant]) -> int:
    """Write them all at once; those that are not newer than what is stored stay as they are."""
    return await tx.execute(
        QUERIES.save_tenants,
        **columns(
            tenants,
            tenant_id="id",
            status="status.value",
            event_version="version",
            **{name: name for name in _WRITTEN.split()},
        ),
        notification_policy=[json_text(t.notification_policy) for t in tenants],
    )


async def find_tenant(tx: PlatformTx | TenantTx, *, tenant_id: TenantId) -> Tenant | None:
    """The tenant with this id."""
    row = await tx.fetch_one(QUERIES.find_tenant, tenant_id=tenant_id)
    return _from_row(row) if row else None


async def own_tenant(tx: TenantTx) -> Tenant:
    """The tenant of this transaction."""
    tenant = await find_tenant(tx, tenant_id=tx.tenant_id)
    if tenant is None:
        raise MissingReferenceError("tenants_local")
    return tenant


class StoredTenantNames:
    """The contract's `TenantNames`: how a tenant calls itself to people."""

    async def of(self, tx: TenantTx) -> TenantName | None:
        """The name, or else the slug; None where neither is known."""
        tenant = await find_tenant(tx, tenant_id=tx.tenant_id)
        name = (tenant.name or tenant.slug) if tenant is not None else None
        if tenant is None or not name:
            return None
        return TenantName(name=name, language=tenant.default_locale.partition("-")[0])


async def find_tenant_by_slug(tx: PlatformTx, *, slug: str) -> Tenant | None:
    """The tenant with this slug."""
    row = await tx.fetch_one(QUERIES.find_tenant_by_slug, slug=slug)
    return _from_row(row) if row else None


async def list_tenants(
    tx: PlatformTx, *, after_id: str | None, status: TenantStatus | None, limit: int
) -> list[Tenant]:
    """The newest first, from a cursor on."""
    rows = await tx.fetch(QUERIES.list_tenants, after_id=after_id, status=status, limit=limit)
    return [_from_row(row) for row in rows]


async def find_states(
    tx: PlatformTx, tenant_ids: Sequence[TenantId]
) -> dict[TenantId, tuple[TenantState, tuple[str, ...]]]:
    """Of those tenants that there are: what the gate needs to know, and which metadata is searchable."""
    rows = await tx.fetch(QUERIES.find_states, tenant_ids=list(tenant_ids))
    return {
        TenantId(row["tenant_id"]): (
            TenantState(status=row["status"], frozen=row["frozen"]),
            tuple(msgspec.json.decode(row["searchable"])) if row["searchable"] else (),
        )
        for row in rows
    }


async def find_named(tx: PlatformTx, names: Collection[str]) -> dict[str, tuple[TenantId, TenantState]]:
    """The tenants that are called so, by id or by slug; a name that no tenant has is left out."""
    rows = await tx.fetch(QUERIES.find_named, names=sorted(names))
    return {
        name: (TenantId(row["tenant_id"]), TenantState(status=row["status"], frozen=row["frozen"]))
        for row in rows
        for name in (row["tenant_id"], row["slug"])
        if name in names
    }


_from_row = RowMapper(
    Tenant,
    [QUERIES.lock_tenants, QUERIES.find_tenant, QUERIES.find_tenant_by_slug, QUERIES.list_tenants],
    columns={"id": "tenant_id", "version": "event_version"},
    read={"notification_policy": read_policy},
)
