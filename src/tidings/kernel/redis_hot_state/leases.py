"""Leases in Redis: a hash for each key, and a fence that rises with every holder."""

from dataclasses import replace
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Lease
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import micros, to_micros
from tidings.kernel.local_hot_state.scope import checked_key
from tidings.kernel.redis_hot_state.names import Names
from tidings.kernel.redis_hot_state.scripts import Script
from tidings.kernel.redis_hot_state.server import RedisServer

_ACQUIRE = Script.named("leases_acquire")
_RENEW = Script.named("leases_renew")
_RELEASE = Script.named("leases_release")


class RedisLeases:
    """Gives each key to one holder at a time, as long as the server forgets nothing."""

    def __init__(self, server: RedisServer, clock: Clock, names: Names) -> None:
        self._server = server
        self._clock = clock
        self._names = names

    async def acquire(
        self, tenant_id: TenantId | None, key: str, holder: str, ttl: timedelta
    ) -> Lease | None:
        """The lease; None while another holds it."""
        now = self._clock.now()
        keys = [self._names.of(tenant_id, "lease", key), self._names.of(tenant_id, "fence", "last")]
        fence: int = await self._server.run(
            _ACQUIRE, keys, checked_key(holder), to_micros(now), to_micros(now + ttl), _ms(ttl)
        )
        if not fence:
            return None
        return Lease(tenant_id=tenant_id, key=key, holder=holder, fence=fence, expires_at=now + ttl)

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        """The same lease for longer; None if it ran out."""
        now = self._clock.now()
        keys = [self._names.of(lease.tenant_id, "lease", lease.key)]
        renewed = await self._server.run(
            _RENEW, keys, lease.holder, lease.fence, to_micros(now), to_micros(now + ttl), _ms(ttl)
        )
        return replace(lease, expires_at=now + ttl) if renewed else None

    async def release(self, lease: Lease) -> None:
        """Give it back."""
        keys = [self._names.of(lease.tenant_id, "lease", lease.key)]
        await self._server.run(_RELEASE, keys, lease.holder, lease.fence)


def _ms(ttl: timedelta) -> int:
    return micros(ttl) // 1000 + 10_000
