"""Hot state without another server: in Postgres, which all processes share."""

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.local_hot_state.leases import PostgresLeases
from tidings.kernel.local_hot_state.limits import PostgresLimits
from tidings.kernel.local_hot_state.sweep import sweep_hot_state

__all__ = ["LocalHotState"]


class LocalHotState:
    """The embedded implementation of `kernel.hot_state.HotState`."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self.limits = PostgresLimits(db, clock)
        self.leases = PostgresLeases(db, clock)

    async def check(self) -> None:
        """For `/readyz`: it is as well as the database."""

    async def close(self) -> None:
        """Nothing of its own is open."""

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        """Remove about so many expired rows of each table; how many went, by table."""
        return await sweep_hot_state(self._db, self._clock.now(), limit=limit)
