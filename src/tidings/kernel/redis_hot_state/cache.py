"""The cache in Redis: values that processes share, each with the moment it is forgotten."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import micros, to_micros
from tidings.kernel.redis_hot_state.names import Names
from tidings.kernel.redis_hot_state.scripts import Script
from tidings.kernel.redis_hot_state.server import RedisServer

_SET = Script.named("cache_set")
_MOMENT = 8


class RedisCache:
    """Remembers bytes for a while."""

    def __init__(self, server: RedisServer, clock: Clock, names: Names) -> None:
        self._server = server
        self._clock = clock
        self._names = names

    async def get(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, bytes]:
        """Those that are known."""
        wanted = list(dict.fromkeys(keys))
        if not wanted:
            return {}
        found = await self._server.command(
            "MGET", *(self._names.of(tenant_id, "cache", key) for key in wanted)
        )
        now = to_micros(self._clock.now())
        return {
            key: value[_MOMENT:]
            for key, value in zip(wanted, found, strict=True)
            if value is not None and int.from_bytes(value[:_MOMENT]) > now
        }

    async def set(self, tenant_id: TenantId | None, values: Mapping[str, bytes], ttl: timedelta) -> None:
        """Remember them for at most that long."""
        if values:
            until = (to_micros(self._clock.now()) + micros(ttl)).to_bytes(_MOMENT)
            await self._server.run(
                _SET,
                [self._names.of(tenant_id, "cache", key) for key in values],
                max(1, micros(ttl) // 1000),
                *(until + value for value in values.values()),
            )

    async def delete(self, tenant_id: TenantId | None, keys: Iterable[str]) -> None:
        """Forget them."""
        names = [self._names.of(tenant_id, "cache", key) for key in keys]
        if names:
            await self._server.command("UNLINK", *names)
