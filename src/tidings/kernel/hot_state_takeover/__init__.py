"""Hot state with failover: limits are counted in Redis, in Postgres while Redis is away, and in Redis again afterwards.

Each take in Redis is flushed to Postgres within a second. Leases must survive the loss of a store, so they are always in
Postgres. Importing this needs the extra `redis`.
"""

import asyncio

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import DegradedError, TidingsError
from tidings.kernel.hot_state_takeover.failover import FailoverLimits
from tidings.kernel.hot_state_takeover.fill import Filler
from tidings.kernel.hot_state_takeover.heartbeat import Heartbeat
from tidings.kernel.hot_state_takeover.leader_agreement import (
    AgreementSettings,
    LeaderAgreement,
    LeaderObserver,
)
from tidings.kernel.hot_state_takeover.ledger import TakeLedger
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.logs import get_logger
from tidings.kernel.redis_hot_state.server import RedisServer
from tidings.kernel.secrets import Secret

__all__ = ["AgreementSettings", "LeaderObserver", "TakeoverHotState"]

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
        settings: AgreementSettings | None = None,
        observer: LeaderObserver | None = None,
        wake: Wakeup | None = None,
        call_seconds: float = 0.25,
    ) -> None:
        """`wake`: set when `tidings_hot_state` is notified, so that a change is seen at once and not at the next beat."""
        settings = settings or AgreementSettings()
        self._local = LocalHotState(db, clock)
        self._server = RedisServer(url, call_seconds=call_seconds)
        ledger = TakeLedger(self._local.limits, clock)
        self._agreement = LeaderAgreement(
            db,
            self._server,
            flush=ledger.flush,
            settings=settings,
            observer=observer,
        )
        self._heartbeat = Heartbeat(
            self._agreement,
            ledger=ledger,
            filler=Filler(db, self._local.limits, clock),
            server=self._server,
            leases=self._local.leases,
            clock=clock,
            settings=settings,
            wake=wake or Wakeup(),
        )
        self.limits = FailoverLimits(
            self._agreement,
            server=self._server,
            postgres=self._local.limits,
            ledger=ledger,
            clock=clock,
            start=self._heartbeat.start,
        )
        self.leases = self._local.leases

    @property
    def leader(self) -> str | None:
        """Who counts, `redis` or `postgres`; None before the first use."""
        epoch = self._agreement.epoch
        return epoch.leader if epoch is not None else None

    async def check(self) -> None:
        """For `/readyz`: a `DegradedError` while Postgres counts. A Redis that was not used yet is tried first."""
        self._heartbeat.start()
        if self._agreement.epoch is None:
            await self._agreement.current()
        if self._agreement.why_postgres is not None:
            raise DegradedError(f"Postgres counts, because Redis failed ({self._agreement.why_postgres})")

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        """Remove about so many expired rows of each table; Redis drops by itself what has run out."""
        return await self._local.sweep(limit=limit)

    async def close(self) -> None:
        """Flush the ledger to Postgres, and drop the connections to Redis; before the database is closed."""
        await self._heartbeat.end()
        try:
            async with asyncio.timeout(_LAST_MOMENT):
                await self._agreement.leave()
        except (TidingsError, TimeoutError) as error:
            # The database is away. Redis has it all, as long as it lives.
            _log.warning("hot_state_not_noted", error=type(error).__name__)
        finally:
            await self._server.close()
