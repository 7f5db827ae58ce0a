"""De-duplication in Redis: a key with the moment it may pass again."""

from collections.abc import Iterable
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import micros, to_micros
from tidings.kernel.redis_hot_state.names import Names
from tidings.kernel.redis_hot_state.scripts import Script
from tidings.kernel.redis_hot_state.server import RedisServer

_SEE = Script.named("seen_keys")


class RedisDedupe:
    """Lets every key through once, as long as the server forgets nothing."""

    def __init__(self, server: RedisServer, clock: Clock, names: Names) -> None:
        self._server = server
        self._clock = clock
        self._names = names

    async def first_time(self, tenant_id: TenantId | None, keys: Iterable[str], ttl: timedelta) -> set[str]:
        """Those never seen, or not within the time that was said then."""
        wanted = list(dict.fromkeys(keys))
        if not wanted:
            return set()
        now = to_micros(self._clock.now())
        names = [self._names.of(tenant_id, "seen", key) for key in wanted]
        fresh = await self._server.run(_SEE, names, now, now + micros(ttl), micros(ttl) // 1000 + 10_000)
        return {wanted[place - 1] for place in fresh}
