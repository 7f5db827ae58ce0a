"""The keys of the cache tier, with how long each is kept; what is older is never shown."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from tidings.backoffice.properties.access import PropertyAccess
from tidings.backoffice.upstreams.names import CONTRACT_VERSIONS, UPSTREAMS, UpstreamName
from tidings.kernel.ids import TenantId

#: Grows when the form of a cached view changes.
_FORM: Final = 1
#: `cacheKeyVersion`: our own form and the versions of the upstream contracts. Keys of other versions age out.
CACHE_KEY_VERSION: Final = ".".join(map(str, (_FORM, *(CONTRACT_VERSIONS[name] for name in UPSTREAMS))))

_BOARD_TTL: Final = timedelta(seconds=15)
_DASHBOARD_TTL: Final = timedelta(seconds=30)
_PROPERTIES_TTL: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewKey:
    """What is cached, for how long, and whose changes end it."""

    text: str
    #: As metrics call it.
    view: str
    tenant_id: TenantId
    #: None: it is about all of them.
    property_id: str | None
    ttl: timedelta
    sources: tuple[UpstreamName, ...]


def dashboard_key(access: PropertyAccess, role: str, sources: tuple[UpstreamName, ...]) -> ViewKey:
    """`dash:{tenant}:{property}:{role}:{cacheKeyVersion}`, 30 seconds."""
    return ViewKey(
        text=f"dash:{access.tenant_id}:{access.property_id}:{role}:{CACHE_KEY_VERSION}",
        view="dashboard",
        tenant_id=access.tenant_id,
        property_id=access.property_id,
        ttl=_DASHBOARD_TTL,
        sources=sources,
    )


def board_key(
    access: PropertyAccess, view: str, short: str, day: date | None, sources: tuple[UpstreamName, ...]
) -> ViewKey:
    """`wb:{short}:{tenant}:{property}`, with the date where the view has one; 15 seconds."""
    dated = "" if day is None else f":{day.isoformat()}"
    return ViewKey(
        text=f"wb:{short}:{access.tenant_id}:{access.property_id}{dated}",
        view=view,
        tenant_id=access.tenant_id,
        property_id=access.property_id,
        ttl=_BOARD_TTL,
        sources=sources,
    )


def properties_key(tenant_id: TenantId) -> ViewKey:
    """`props:{tenant}`, a minute: which properties there are."""
    return ViewKey(
        text=f"props:{tenant_id}",
        view="properties",
        tenant_id=tenant_id,
        property_id=None,
        ttl=_PROPERTIES_TTL,
        sources=("reservations",),
    )
