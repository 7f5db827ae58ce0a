"""The operation that reads the router's audit; nothing is written here."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from tidings.contracts.audit import AuditView, VerificationView
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.audit.verify_owner import verify_owner
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Limits
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.ids import AuditId

audit_trail = Resource("router-audit", at="/router/audit", tag="audit", scope="audit", owner=Owner.CALLER)

#: What the router's audit speaks of.
EntityType: TypeAlias = Literal[
    "adapter_config",
    "callback",
    "circuit_breaker",
    "conversation",
    "fallback_policy",
    "inbound_message",
    "inbound_route",
    "profile",
    "status_map",
    "vendor_weight",
]


class ListRouterAudit(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    entity_type: Annotated[
        EntityType | None,
        Meta(
            description="Only this kind of thing; `callback` and `inbound_message` stand in the platform's own rows alone."
        ),
    ] = None
    entity_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=300)] | None,
        Meta(description="Only the thing with this id."),
    ] = None


@audit_trail.get(listing="router_audit")
async def list_router_audit(
    tx: OwnerTx, query: ListRouterAudit, paging: Paging, audit: AuditLog
) -> Page[AuditView]:
    """List what happened to policies, adapters, circuits, weights, profiles and callbacks, the newest first.

    With a platform key: the platform's own rows, or those of the tenant that X-Tenant-Id names.
    """
    after = paging.after_id
    rows = await audit.read_recent(
        tx,
        entity_type=query.entity_type,
        entity_id=query.entity_id,
        before=AuditId(after) if after else None,
        limit=paging.fetch,
    )
    return paging.page(rows, AuditView.of)


@audit_trail.post("/verify", verb="verify", writes=False, scope="audit:read")
async def verify_router_audit(
    caller: Caller, db: Database, limits: Limits, audit: AuditLog
) -> VerificationView:
    """Verify that the audit is as it was written: every row is hashed anew, and has to follow the one before.

    Of one tenant, or with a platform key of the platform; some 20,000 rows at most. `tidings audit verify` reads all of
    it, and the anchors' signatures.
    """
    return VerificationView.of(await verify_owner(db, limits, audit.schema, caller.tenant_id))
