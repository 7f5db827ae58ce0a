"""Hot state in Redis or Valkey: one script, one round trip for each call, however many keys.

Importing this needs the extra `redis`. In production it stands behind `kernel.hot_state_takeover`, which goes on
without it and keeps in Postgres what must survive it.
"""

from tidings.kernel.clock import Clock
from tidings.kernel.local_hot_state.single_flight import LocalSingleFlight
from tidings.kernel.redis_hot_state.cache import RedisCache
from tidings.kernel.redis_hot_state.errors import RedisLostError
from tidings.kernel.redis_hot_state.leases import RedisLeases
from tidings.kernel.redis_hot_state.limits import RedisLimits
from tidings.kernel.redis_hot_state.names import Names
from tidings.kernel.redis_hot_state.presence import RedisPresence
from tidings.kernel.redis_hot_state.seen_keys import RedisDedupe
from tidings.kernel.redis_hot_state.server import RedisServer

__all__ = ["RedisHotState", "RedisLostError", "RedisServer"]


class RedisHotState:
    """`kernel.hot_state.HotState` on one server, in one epoch."""

    def __init__(self, server: RedisServer, clock: Clock, *, epoch: int = 0) -> None:
        names = Names(epoch)
        self.limits = RedisLimits(server, clock, names)
        self.presence = RedisPresence(server, clock, names)
        self.dedupe = RedisDedupe(server, clock, names)
        self.leases = RedisLeases(server, clock, names)
        self.cache = RedisCache(server, clock, names)
        self.single_flight = LocalSingleFlight()

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:  # noqa: ARG002
        """Nothing to do: the server drops by itself what has run out."""
        return {}
