"""What HTTP calls about branding."""

from typing import Any

from litestar import Request, Response, Router, get, put
from msgspec import Struct, to_builtins

from tidings.kernel.audit.log import Entry
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.refusals import InvalidError
from tidings.notify.branding import store
from tidings.notify.branding.deps import Deps
from tidings.notify.branding.model import TenantBranding, link_faults
from tidings.notify.facts.store import load_tenant

AnyRequest = Request[Any, Any, Any]
_TAG = "branding"


class BrandingView(Struct, frozen=True, kw_only=True):
    """How you look."""

    branding: TenantBranding
    #: Names this look, also as `@brand.theme_etag`: it changes with every change of it.
    theme_etag: str
    version: int


@get(
    "/",
    **operation(
        summary="Show how you look in mails and on pages.",
        tag=_TAG,
        scope="channels:read",
        answer=BrandingView,
        description="Channels may override parts of it.",
    ),
)
async def show_branding(request: AnyRequest) -> Response[BrandingView]:
    """Show the branding."""
    deps, caller = deps_of(request, Deps), caller_of(request)
    async with deps.db.tenant(tenant_of(request), caller_role=caller.role) as tx:
        branding, version = await store.find_branding(tx)
        tenant = await load_tenant(tx)
    view = BrandingView(branding=branding, theme_etag=tenant.theme_etag, version=version)
    return Response(view, headers={"ETag": etag(version)})


@put(
    "/",
    **operation(
        summary="Say how you look in mails and on pages, as a whole.",
        tag=_TAG,
        scope="channels:write",
        body=TenantBranding,
        answer=BrandingView,
        headers=["If-Match"],
        problems=["stale_version"],
        description="What is left out is ours. It counts for every message that is rendered from then on.",
    ),
)
async def put_branding(request: AnyRequest) -> Response[BrandingView]:
    """Change the branding."""
    deps, caller = deps_of(request, Deps), caller_of(request)
    wanted = await read_body(request, TenantBranding)
    async with deps.db.tenant(tenant_of(request), caller_role=caller.role) as tx:
        before, version = await store.find_branding(tx, lock=True)
        expect_version(request.scope, version)
        tenant = await load_tenant(tx)
        if faults := link_faults(wanted, tenant.policy.allowed_link_domains):
            raise InvalidError(faults)
        if to_builtins(wanted) != to_builtins(before) or not version:
            version = await store.put_branding(tx, wanted, actor=caller.actor, now=deps.clock.now())
            entry = Entry(
                entity_type="branding",
                entity_id=tx.tenant_id,
                action="branding.changed",
                actor=caller.actor,
                before=to_builtins(before),
                after=to_builtins(wanted),
            )
            await deps.audit.append(tx, [entry])
            tenant = await load_tenant(tx)
    view = BrandingView(branding=wanted, theme_etag=tenant.theme_etag, version=version)
    return Response(view, headers={"ETag": etag(version)})


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [Router("/api/v1/branding", route_handlers=[show_branding, put_branding], opt=given(deps))]
