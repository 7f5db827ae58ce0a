"""What HTTP calls to read the router's audit; nothing writes it here."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Router, get

from tidings.contracts.audit import AuditView
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import Caller, TenantNeed, caller_of
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.ids import AuditId
from tidings.router.audit_trail.deps import Deps
from tidings.router.audit_trail.wire import ListRouterAudit

_LISTING = "router_audit"


@get(
    "/",
    **operation(
        summary="List what happened to policies, adapters, circuits, weights, profiles and callbacks, the newest first.",
        tag="audit",
        scope="audit:read",
        tenant=TenantNeed.OPTIONAL,
        query=ListRouterAudit,
        answer=Page[AuditView],
        description="With a platform key: the platform's own rows, or those of the tenant that X-Tenant-Id names.",
    ),
)
async def list_router_audit(request: Request[Any, Any, Any]) -> Page[AuditView]:
    """List what happened in the router."""
    deps = deps_of(request, Deps)
    query = read_query(request, ListRouterAudit)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _side(deps, caller_of(request)) as tx:
        rows = await deps.audit.read_recent(
            tx,
            entity_type=query.entity_type,
            entity_id=query.entity_id,
            before=AuditId(after.id) if after else None,
            limit=query.limit + 1,
        )
    return page_of(rows, limit=query.limit, listing=_LISTING, id_of=lambda row: row.id, render=AuditView.of)


def _side(deps: Deps, caller: Caller) -> AbstractAsyncContextManager[TenantTx | PlatformTx]:
    if caller.tenant_id is not None:
        return deps.db.tenant(caller.tenant_id, caller_role=caller.role)
    return deps.db.platform(caller_role=caller.role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [Router("/api/v1/router/audit", route_handlers=[list_router_audit], opt=given(deps))]
