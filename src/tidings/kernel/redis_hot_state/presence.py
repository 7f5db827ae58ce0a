"""Presence in Redis: a sorted set for each key, ordered by when its members go."""

from collections.abc import Iterable
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import micros, to_micros
from tidings.kernel.local_hot_state.scope import checked_key
from tidings.kernel.redis_hot_state.names import Names
from tidings.kernel.redis_hot_state.scripts import Script
from tidings.kernel.redis_hot_state.server import RedisServer

_TOUCH = Script.named("presence_touch")
_LEAVE = Script.named("presence_leave")
_READ = Script.named("presence_read")


class RedisPresence:
    """Knows who is here."""

    def __init__(self, server: RedisServer, clock: Clock, names: Names) -> None:
        self._server = server
        self._clock = clock
        self._names = names

    async def touch(
        self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]], ttl: timedelta
    ) -> None:
        """Each (key, member) is here for that long from now."""
        keys, names = self._split(tenant_id, members)
        if keys:
            now = to_micros(self._clock.now())
            await self._server.run(_TOUCH, keys, now, now + micros(ttl), micros(ttl) // 1000 + 10_000, *names)

    async def leave(self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]]) -> None:
        """Each (key, member) is gone."""
        keys, names = self._split(tenant_id, members)
        if keys:
            await self._server.run(_LEAVE, keys, *names)

    async def present(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, set[str]]:
        """Who is here, for every key asked."""
        wanted = list(dict.fromkeys(keys))
        if not wanted:
            return {}
        names = [self._names.of(tenant_id, "presence", key) for key in wanted]
        found = await self._server.run(_READ, names, to_micros(self._clock.now()))
        return {
            key: {member.decode() for member in members} for key, members in zip(wanted, found, strict=True)
        }

    def _split(
        self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]]
    ) -> tuple[list[str], list[str]]:
        distinct = list(dict.fromkeys(members))
        keys = [self._names.of(tenant_id, "presence", key) for key, _ in distinct]
        return keys, [checked_key(member) for _, member in distinct]
