"""Which properties an operator may see, with what the reservations service calls them."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from tidings.backoffice.properties.access import ALL_PROPERTIES, PropertyAccess, holds_property
from tidings.backoffice.properties.errors import PropertyNotFoundError
from tidings.backoffice.upstreams.client import Upstreams
from tidings.backoffice.upstreams.contract.reservations import UpstreamProperties, UpstreamProperty
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.backoffice.view_cache.cache import ViewCache
from tidings.backoffice.view_cache.entry import PARTIAL_TTL, CachedView
from tidings.backoffice.view_cache.keys import properties_key
from tidings.backoffice.views.model import MissingUpstream, PropertyView
from tidings.kernel.clock import Clock
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import NotAllowedError
from tidings.kernel.ttl_cache import TtlCache


class NeedsTenantError(NotAllowedError):
    """Properties are of a tenant: an operator of the platform names the one that they act for with X-Tenant-Id."""

    code = "needs_tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProperties:
    """What somebody may see."""

    properties: Sequence[PropertyView]
    #: Why names are missing, where they are.
    missing: MissingUpstream | None = None


class KnownProperties:
    """Asks the service, by way of the cache."""

    def __init__(self, upstreams: Upstreams, cache: ViewCache, clock: Clock) -> None:
        self._upstreams = upstreams
        self._cache = cache
        self._clock = clock
        self._away: TtlCache[TenantId, UpstreamAwayError] = TtlCache(clock=clock, ttl=PARTIAL_TTL)

    async def listed(self, caller: Caller) -> ListedProperties:
        """Those of the caller, by their ids; without the service those that their rights name."""
        if caller.tenant_id is None:
            raise NeedsTenantError
        try:
            known = await self.of_tenant(caller.tenant_id)
        except UpstreamAwayError as away:
            missing = MissingUpstream(upstream=away.upstream, reason=away.reason, since=away.since)
            named = [PropertyView(id=one) for one in sorted(caller.properties) if one != ALL_PROPERTIES]
            return ListedProperties(properties=named, missing=missing)
        shown = [PropertyView.of(one) for one in known if holds_property(caller.properties, one.id)]
        return ListedProperties(properties=sorted(shown, key=lambda one: one.id))

    async def find(self, access: PropertyAccess) -> UpstreamProperty:
        """One of them; a `PropertyNotFoundError` where the service knows none, an `UpstreamAwayError` where it does not answer."""
        known = await self.of_tenant(access.tenant_id)
        found = next((one for one in known if one.id == access.property_id), None)
        if found is None:
            raise PropertyNotFoundError
        return found

    async def of_tenant(self, tenant_id: TenantId) -> Sequence[UpstreamProperty]:
        """All of a tenant; while the service was away a moment ago it is not asked."""
        away = self._away.get(tenant_id)
        if away is not None:
            raise UpstreamAwayError(away.upstream, away.reason, since=away.since)
        try:
            return await self._cached(tenant_id)
        except UpstreamAwayError as error:
            self._away.put(tenant_id, error)
            raise

    async def _cached(self, tenant_id: TenantId) -> Sequence[UpstreamProperty]:
        async def make() -> CachedView:
            now = self._clock.now()
            found = await self._upstreams.read(
                UpstreamProperties, "reservations", "/v1/properties", tenant_id=tenant_id
            )
            return CachedView(
                made_at=now, body=msgspec.json.encode(found or UpstreamProperties(properties=[]))
            )

        cached = await self._cache.get(properties_key(tenant_id), make)
        return msgspec.json.decode(cached.body, type=UpstreamProperties).properties
