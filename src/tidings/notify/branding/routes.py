"""Operations on a tenant's branding."""

from msgspec import Struct, to_builtins

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.resources import Resource
from tidings.kernel.refusals import InvalidError
from tidings.notify.branding import store
from tidings.notify.branding.model import TenantBranding, link_faults, theme_etag_of
from tidings.notify.tenants.model import Tenant
from tidings.notify.tenants.store import own_tenant

branding = Resource("branding", at="/branding", tag="branding", scope="channels")


class BrandingView(Struct, frozen=True, kw_only=True):
    """How you look."""

    branding: TenantBranding
    #: Names this look, also as `@brand.theme_etag`: it changes with every change of it.
    theme_etag: str
    version: int


@branding.get(verb="show")
async def show_branding(tx: TenantTx) -> Answer[BrandingView]:
    """Show how you look in mails and on pages.

    Channels may override parts of it.
    """
    known, version = await store.find_branding(tx)
    return _shown(known, await own_tenant(tx), version)


@branding.put(problems=["stale_version"])
async def put_branding(
    tx: TenantTx, body: TenantBranding, if_match: IfMatch, caller: Caller, audit: AuditLog, clock: Clock
) -> Answer[BrandingView]:
    """Say how you look in mails and on pages, as a whole.

    What is left out is ours. It counts for every message that is rendered from then on.
    """
    before, version = await store.find_branding(tx, lock=True)
    if_match.expect(version)
    tenant = await own_tenant(tx)
    if faults := link_faults(body, tenant.notification_policy.allowed_link_domains):
        raise InvalidError(faults)
    if to_builtins(body) != to_builtins(before) or not version:
        version = await store.put_branding(tx, body, actor=caller.actor, now=clock.now())
        entry = Entry(
            entity_type="branding",
            entity_id=tx.tenant_id,
            action="branding.changed",
            actor=caller.actor,
            before=to_builtins(before),
            after=to_builtins(body),
        )
        await audit.append(tx, [entry])
    return _shown(body, tenant, version)


def _shown(known: TenantBranding, tenant: Tenant, version: int) -> Answer[BrandingView]:
    etag = theme_etag_of(tenant.theme_etag, version)
    view = BrandingView(branding=known, theme_etag=etag, version=version)
    return Answer(view, version=version)
