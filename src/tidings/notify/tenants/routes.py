"""Operations on tenants, which are the platform's, and "who am I" for every caller."""

from collections.abc import Callable

from tidings.contracts.tenants import TenantEvent
from tidings.kernel.db import Database, PlatformTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.notify.tenants import change, store
from tidings.notify.tenants.change import TenantChanger
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

tenants = Resource("tenants", at="/tenants", tag="tenants (platform)", scope="tenants", owner=Owner.PLATFORM)
#: What operators attest: everybody of the tenant feels it.
_CLOSES = "tenant.close"

tenant = Resource("tenant", at="/tenant", tag="you", owner=Owner.CALLER)


@tenants.post(status=201, idempotent=True, problems=["slug_taken"])
async def create_tenant(
    tx: PlatformTx, body: CreateTenant, caller: Caller, changer: TenantChanger
) -> Answer[TenantView]:
    """Create a tenant."""
    body.check()
    made = await changer.create(tx, body.event, actor=caller.actor)
    return Answer(TenantView.of(made), version=made.version, location=f"/internal/v1/tenants/{made.id}")


@tenants.get()
async def list_tenants(tx: PlatformTx, query: ListTenants, paging: Paging) -> Page[TenantView]:
    """List tenants, the newest first."""
    rows = await store.list_tenants(tx, after_id=paging.after_id, status=query.status, limit=paging.fetch)
    return paging.page(rows, TenantView.of)


@tenants.get("/{tenant_id}", problems=["tenant_not_found"])
async def show_tenant(tx: PlatformTx, tenant_id: TenantId) -> Answer[TenantView]:
    """Show a tenant."""
    known = await store.find_tenant(tx, tenant_id=tenant_id)
    if known is None:
        raise UnknownTenantError(f"no tenant has the id {tenant_id}")
    return _shown(known)


@tenants.patch("/{tenant_id}", problems=["tenant_not_found", "slug_taken", "tenant_leaving"])
async def update_tenant(
    tx: PlatformTx,
    tenant_id: TenantId,
    body: UpdateTenant,
    if_match: IfMatch,
    caller: Caller,
    changer: TenantChanger,
    gate: TenantGate,
    after_commit: AfterCommit,
) -> Answer[TenantView]:
    """Change a tenant; the version it is made from is named by If-Match."""
    body.check()

    def make(known: Tenant) -> TenantEvent | None:
        if_match.expect(known.version)
        return body.event(known)

    after_commit(lambda: gate.forget(tenant_id))
    return _shown(await changer.change(tx, tenant_id, make, actor=caller.actor))


def _status_operation(
    verb: str,
    summary: str,
    make: Callable[[str | None], Callable[[Tenant], TenantEvent | None]],
    *,
    attested: str | None = None,
) -> None:
    @tenants.post(
        f"/{{tenant_id}}/{verb}",
        name=f"{verb}_tenant",
        summary=summary,
        attested=attested,
        problems=["tenant_not_found", "tenant_leaving"],
    )
    async def change_status(
        tx: PlatformTx,
        tenant_id: TenantId,
        caller: Caller,
        changer: TenantChanger,
        gate: TenantGate,
        after_commit: AfterCommit,
        body: StatusChange = StatusChange(),  # noqa: B008  # frozen
    ) -> Answer[TenantView]:
        """Change the status.

        The body may be left out. Doing it again changes nothing.
        """
        after_commit(lambda: gate.forget(tenant_id))
        return _shown(await changer.change(tx, tenant_id, make(body.reason), actor=caller.actor))


_status_operation("freeze", "Take no new writes; what was accepted drains.", change.freeze, attested=_CLOSES)
_status_operation("unfreeze", "Take writes again.", change.unfreeze)
_status_operation("suspend", "Close its API and hold its sending.", change.suspend, attested=_CLOSES)
_status_operation("resume", "Open a suspended tenant again.", change.resume)


@tenant.get(verb="show", scope=ANY_CALLER, test_keys=True)
async def own_tenant(caller: Caller, db: Database) -> OwnTenant:
    """Who am I? Your tenant, your key and what it may do."""
    known = None
    if caller.tenant_id is not None:
        async with db.tenant(caller.tenant_id, caller_role=caller.role) as tx:
            known = await store.find_tenant(tx, tenant_id=caller.tenant_id)
    return OwnTenant(
        message=_greeting(caller, known),
        tenant=TenantView.of(known) if known else None,
        caller=by_name(CallerView, caller, scopes=sorted(caller.scopes)),
        links=_links(caller),
    )


def _greeting(caller: Caller, known: Tenant | None) -> str:
    if known is None:
        return "It works: this is a key of the platform. Name a tenant with X-Tenant-Id to act for it."
    acting = "acting for " if caller.acting_for is not None else ""
    test = " Nothing you send with it reaches a vendor." if caller.environment == "test" else ""
    return f"It works: you are {acting}{known.name or known.id}, with a {caller.environment} key.{test}"


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


def _shown(known: Tenant) -> Answer[TenantView]:
    return Answer(TenantView.of(known), version=known.version)
