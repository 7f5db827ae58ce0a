"""What HTTP calls about tenants: the platform's own routes, and "who am I" for everybody."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, get, patch, post

from tidings.contracts.tenants import TenantEvent
from tidings.kernel.db import PlatformTx
from tidings.kernel.http.bodies import body_of, decode, read_body, read_query
from tidings.kernel.http.callers import ANY_CALLER, Caller, TenantNeed, caller_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.ids import TENANT
from tidings.notify.tenants import change, store
from tidings.notify.tenants.change import TenantChanger
from tidings.notify.tenants.deps import Deps
from tidings.notify.tenants.errors import UnknownTenantError
from tidings.notify.tenants.model import Tenant
from tidings.notify.tenants.wire import (
    CallerView,
    CreateTenant,
    ListTenants,
    OwnTenant,
    StatusChange,
    TenantView,
    UpdateTenant,
)

_TAG = "tenants (platform)"
_LISTING = "tenants"
_PATH = {"tenant_id": TENANT}

AnyRequest = Request[Any, Any, Any]


@post(
    "/",
    **operation(
        summary="Create a tenant.",
        tag=_TAG,
        scope="tenants:write",
        tenant=TenantNeed.NONE,
        body=CreateTenant,
        answer=TenantView,
        status=201,
        headers=["Idempotency-Key"],
        problems=["slug_taken"],
    ),
)
async def create_tenant(request: AnyRequest) -> Response[bytes]:
    """Create a tenant."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, CreateTenant)
    wanted.check()
    caller = caller_of(request)
    async with _platform(request) as tx:

        async def work() -> Done:
            tenant = await _changer(deps).create(tx, wanted.event, actor=caller.actor)
            headers = {"ETag": etag(tenant.version), "Location": f"/internal/v1/tenants/{tenant.id}"}
            return Done(status=201, body=TenantView.of(tenant), headers=headers)

        return await answer_once(request, tx, deps.idempotency, work)


@get(
    "/",
    **operation(
        summary="List tenants, the newest first.",
        tag=_TAG,
        scope="tenants:read",
        tenant=TenantNeed.NONE,
        query=ListTenants,
        answer=Page[TenantView],
    ),
)
async def list_tenants(request: AnyRequest) -> Page[TenantView]:
    """List tenants."""
    query = read_query(request, ListTenants)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _platform(request) as tx:
        found = await store.list_tenants(
            tx, after_id=after.id if after else None, status=query.status, limit=query.limit + 1
        )
    return page_of(
        found, limit=query.limit, listing=_LISTING, id_of=lambda tenant: tenant.id, render=TenantView.of
    )


@get(
    "/{tenant_id:str}",
    **operation(
        summary="Show a tenant.",
        tag=_TAG,
        scope="tenants:read",
        tenant=TenantNeed.NONE,
        path=_PATH,
        answer=TenantView,
        problems=["tenant_not_found"],
    ),
)
async def show_tenant(request: AnyRequest) -> Response[TenantView]:
    """Show a tenant."""
    wanted = path_id(request, TENANT, "tenant_id")
    async with _platform(request) as tx:
        tenant = await store.find_tenant(tx, tenant_id=wanted)
    if tenant is None:
        raise UnknownTenantError(f"no tenant has the id {wanted}")
    return _shown(tenant)


@patch(
    "/{tenant_id:str}",
    **operation(
        summary="Change a tenant; the version it is made from is named by If-Match.",
        tag=_TAG,
        scope="tenants:write",
        tenant=TenantNeed.NONE,
        path=_PATH,
        body=UpdateTenant,
        answer=TenantView,
        headers=["If-Match"],
        problems=["tenant_not_found", "slug_taken", "tenant_leaving"],
    ),
)
async def update_tenant(request: AnyRequest) -> Response[TenantView]:
    """Change a tenant."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, TENANT, "tenant_id")
    changes = await read_body(request, UpdateTenant)
    changes.check()

    def make(known: Tenant) -> TenantEvent | None:
        expect_version(request.scope, known.version)
        return changes.event(known)

    async with _platform(request) as tx:
        tenant = await _changer(deps).change(tx, wanted, make, actor=caller_of(request).actor)
    deps.gate.forget(wanted)
    return _shown(tenant)


def _status_route(
    verb: str, summary: str, make: Callable[[str | None], Callable[[Tenant], TenantEvent | None]]
) -> Any:
    @post(
        f"/{{tenant_id:str}}/{verb}",
        name=f"{verb}_tenant",
        **operation(
            summary=summary,
            tag=_TAG,
            scope="tenants:write",
            tenant=TenantNeed.NONE,
            path=_PATH,
            body=StatusChange,
            body_optional=True,
            answer=TenantView,
            problems=["tenant_not_found", "tenant_leaving"],
            description="The body may be left out. Doing it again changes nothing.",
        ),
    )
    async def change_status(request: AnyRequest) -> Response[TenantView]:
        deps = deps_of(request, Deps)
        wanted = path_id(request, TENANT, "tenant_id")
        body = await body_of(request)
        given = await read_body(request, StatusChange) if body else decode(b"{}", StatusChange)
        async with _platform(request) as tx:
            tenant = await _changer(deps).change(
                tx, wanted, make(given.reason), actor=caller_of(request).actor
            )
        deps.gate.forget(wanted)
        return _shown(tenant)

    return change_status


freeze_tenant = _status_route("freeze", "Take no new writes; what was accepted drains.", change.freeze)
unfreeze_tenant = _status_route("unfreeze", "Take writes again.", change.unfreeze)
suspend_tenant = _status_route("suspend", "Close its API and hold its sending.", change.suspend)
resume_tenant = _status_route("resume", "Open a suspended tenant again.", change.resume)


@get(
    "/api/v1/tenant",
    **operation(
        summary="Who am I? Your tenant, your key and what it may do.",
        tag="you",
        scope=ANY_CALLER,
        test_keys=True,
        tenant=TenantNeed.OPTIONAL,
        answer=OwnTenant,
    ),
)
async def own_tenant(request: AnyRequest) -> OwnTenant:
    """Who am I?"""
    deps = deps_of(request, Deps)
    caller = caller_of(request)
    tenant = None
    if caller.tenant_id is not None:
        async with deps.db.tenant(caller.tenant_id, caller_role=caller.role) as tx:
            tenant = await store.find_tenant(tx, tenant_id=caller.tenant_id)
    return OwnTenant(
        message=_greeting(caller, tenant),
        tenant=TenantView.of(tenant) if tenant else None,
        caller=CallerView(
            kind=caller.kind,
            id=caller.id,
            role=caller.role,
            environment=caller.environment,
            scopes=sorted(caller.scopes),
        ),
        links=_links(caller),
    )


def _greeting(caller: Caller, tenant: Tenant | None) -> str:
    if tenant is None:
        return "It works: this is a key of the platform. Name a tenant with X-Tenant-Id to act for it."
    acting = "acting for " if caller.acting_for is not None else ""
    test = " Nothing you send with it reaches a vendor." if caller.environment == "test" else ""
    return f"It works: you are {acting}{tenant.name or tenant.id}, with a {caller.environment} key.{test}"


def _links(caller: Caller) -> dict[str, str]:
    links = {
        "self": "/api/v1/tenant",
        "docs": "/docs",
        "openapi": "/openapi.json",
        "problems": "/docs/problems",
    }
    if caller.environment == "test":
        return links
    if "api_keys:read" in caller.scopes:
        links["api_keys"] = "/api/v1/api-keys"
    if "audit:read" in caller.scopes:
        links["audit"] = "/api/v1/audit"
    if "tenants:read" in caller.scopes and caller.home is None:
        links["tenants"] = "/internal/v1/tenants"
    return links


def _shown(tenant: Tenant) -> Response[TenantView]:
    return Response(TenantView.of(tenant), headers={"ETag": etag(tenant.version)})


def _platform(request: AnyRequest) -> AbstractAsyncContextManager[PlatformTx]:
    # The role goes with it: the database too lets a platform.support caller read, and no more.
    return deps_of(request, Deps).db.platform(caller_role=caller_of(request).role)


def _changer(deps: Deps) -> TenantChanger:
    return TenantChanger(outbox=deps.outbox, audit=deps.audit, clock=deps.clock)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [
        create_tenant,
        list_tenants,
        show_tenant,
        update_tenant,
        freeze_tenant,
        unfreeze_tenant,
        suspend_tenant,
        resume_tenant,
    ]
    return [
        Router("/internal/v1/tenants", route_handlers=handlers, opt=given(deps)),
        Router("/", route_handlers=[own_tenant], opt=given(deps)),
    ]
