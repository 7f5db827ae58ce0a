"""Which keys do what, for one version of a tenant's theme: asked of the service `operators` once an hour."""

from datetime import timedelta
from typing import Final

from tidings.backoffice.preferences.errors import UnknownPreferencesError
from tidings.backoffice.upstreams.client import Upstreams
from tidings.backoffice.upstreams.contract.operators import ShortcutMap
from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.kernel.ttl_cache import TtlCache

KEPT: Final = timedelta(hours=1)


class Shortcuts:
    """Remembered in each process; many that ask at once ask the service once."""

    def __init__(self, upstreams: Upstreams, clock: Clock) -> None:
        self._upstreams = upstreams
        self._kept: TtlCache[tuple[TenantId, str], ShortcutMap] = TtlCache(clock=clock, ttl=KEPT, size=1_000)

    async def of(self, tenant_id: TenantId, theme_version: str) -> ShortcutMap:
        """The map of this tenant."""
        return await self._kept.get_or_fetch((tenant_id, theme_version), self._fetch)

    async def _fetch(self, key: tuple[TenantId, str]) -> ShortcutMap:
        tenant_id, theme_version = key
        found = await self._upstreams.read(
            ShortcutMap,
            "operators",
            "/v1/shortcuts",
            tenant_id=tenant_id,
            query={"theme_version": theme_version},
        )
        if found is None:
            raise UnknownPreferencesError("the service has no map of shortcuts for this theme")
        return found
