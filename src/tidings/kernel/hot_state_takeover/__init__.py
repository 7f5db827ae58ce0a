"""Hot state in Redis that goes on in Postgres when Redis fails, and back when it has returned.

| port | with Redis | without |
|---|---|---|
| limits | Redis; each take is noted in Postgres within a second | Postgres |
| presence | Redis | Postgres |
| cache | Redis, shared | in the process |
| dedupe, leases | Postgres | Postgres |
| single flight | in the process | in the process |

De-duplication and leases are promises that must survive the loss of a store, so they are where everything else is that
must. Importing this needs the extra `redis`.
"""

import asyncio

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import DegradedError, TidingsError
from tidings.kernel.hot_state_takeover.fill import Filler
from tidings.kernel.hot_state_takeover.following import (
    Follower,
    FollowingCache,
    FollowingLimits,
    FollowingPresence,
)
from tidings.kernel.hot_state_takeover.hands import HandObserver, Hands, HandSettings
from tidings.kernel.hot_state_takeover.keeper import Keeper
from tidings.kernel.hot_state_takeover.ledger import Ledger
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.logs import get_logger
from tidings.kernel.redis_hot_state import RedisServer
from tidings.kernel.secrets import Secret

__all__ = ["HandObserver", "HandSettings", "TakeoverHotState"]

_log = get_logger("hot_state")
_LAST_MOMENT = 5.0


class TakeoverHotState:
    """`kernel.hot_state.HotState` on Redis, with Postgres behind it."""

    def __init__(
        self,
        url: Secret,
        db: Database,
        clock: Clock,
        *,
        settings: HandSettings | None = None,
        observer: HandObserver | None = None,
        wake: Wakeup | None = None,
        call_seconds: float = 0.25,
    ) -> None:
        """`wake`: set when `tidings_hot_state` is notified, so that a change is seen at once and not at the next beat."""
        settings = settings or HandSettings()
        self._local = LocalHotState(db, clock)
        self._server = RedisServer(url, call_seconds=call_seconds)
        ledger = Ledger(self._local.limits, clock)
        self._hands = Hands(
            db,
            self._server,
            bring_home=ledger.bring_home,
            forget=self._local.cache.clear,
            settings=settings,
            observer=observer,
        )
        self._keeper = Keeper(
            self._hands,
            ledger=ledger,
            filler=Filler(db, self._local.limits, clock),
            server=self._server,
            leases=self._local.leases,
            clock=clock,
            settings=settings,
            wake=wake or Wakeup(),
        )
        follower = Follower(self._hands, self._server, self._local, clock, self._keeper.start)
        self.limits = FollowingLimits(follower, ledger, clock)
        self.presence = FollowingPresence(follower)
        self.cache = FollowingCache(follower)
        self.dedupe = self._local.dedupe
        self.leases = self._local.leases
        self.single_flight = self._local.single_flight

    @property
    def hand(self) -> str | None:
        """Who counts, `redis` or `postgres`; None before the first use."""
        hand = self._hands.present
        return hand.name if hand is not None else None

    async def check(self) -> None:
        """For `/readyz`: a `DegradedError` while Postgres counts. A Redis that nobody used yet is tried first."""
        self._keeper.start()
        if self._hands.present is None:
            await self._hands.ready()
        if self._hands.why_postgres is not None:
            raise DegradedError(f"Postgres counts, because Redis failed ({self._hands.why_postgres})")

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        """Remove about so many expired rows of each table; Redis drops by itself what has run out."""
        return await self._local.sweep(limit=limit)

    async def close(self) -> None:
        """Note everything in Postgres, and drop the connections to Redis; before the database is closed."""
        await self._keeper.end()
        try:
            async with asyncio.timeout(_LAST_MOMENT):
                await self._hands.leave()
        except (TidingsError, TimeoutError) as error:
            # The database is away. Redis has it all, as long as it lives.
            _log.warning("hot_state_not_noted", error=type(error).__name__)
        finally:
            await self._server.close()
