"""Hot state without another server: in the process where that is right, in Postgres where it must be shared."""

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.local_hot_state.leases import PostgresLeases
from tidings.kernel.local_hot_state.limits import PostgresLimits
from tidings.kernel.local_hot_state.memory_cache import MemoryCache
from tidings.kernel.local_hot_state.presence import PostgresPresence
from tidings.kernel.local_hot_state.seen_keys import PostgresDedupe
from tidings.kernel.local_hot_state.single_flight import LocalSingleFlight
from tidings.kernel.local_hot_state.sweep import sweep_hot_state

__all__ = ["LocalHotState"]


class LocalHotState:
    """The embedded implementation of `kernel.hot_state.HotState`."""

    def __init__(self, db: Database, clock: Clock, *, cache_bytes: int = 64 * 1024 * 1024) -> None:
        self._db = db
        self._clock = clock
        self.limits = PostgresLimits(db, clock)
        self.presence = PostgresPresence(db, clock)
        self.dedupe = PostgresDedupe(db, clock)
        self.leases = PostgresLeases(db, clock)
        self.cache = MemoryCache(clock, most_bytes=cache_bytes)
        self.single_flight = LocalSingleFlight()

    async def check(self) -> None:
        """For `/readyz`: it is as well as the database."""

    async def close(self) -> None:
        """Nothing of its own is open."""

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        """Remove about so many expired rows of each table, and all of the cache; how many went, by sort."""
        swept = await sweep_hot_state(self._db, self._clock.now(), limit=limit)
        return {**swept, "cache": self.cache.sweep()}
