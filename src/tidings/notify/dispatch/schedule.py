"""Moves what is due from the schedule into the queue: scheduled sends, and what was deferred."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.presence import Presence
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)

_MOST: Final = 1000
#: The work behind a claim takes milliseconds; whoever needs longer is gone.
_LEASE: Final = timedelta(seconds=15)
#: Seconds between two looks while nothing is due: what another process scheduled is found then.
_LOOK_EVERY: Final = 1.0
#: Seconds until the next look at what is due and locked by another process.
_GRASPED: Final = 0.02
_KEEPS: Final = timedelta(days=1)

_log = get_logger("schedule")


class ScheduleJob:
    """Looks when the next one is due, and then moves all that are."""

    def __init__(
        self,
        db: Database,
        *,
        clock: Clock,
        presence: Presence,
        wake: Wakeup,
        wake_dispatcher: Callable[[], None],
    ) -> None:
        self._db = db
        self._clock = clock
        self._presence = presence
        #: Set when this process has scheduled something.
        self._wake = wake
        self._wake_dispatcher = wake_dispatcher

    async def run(self, stop: asyncio.Event) -> None:
        """Move what is due until `stop`."""
        backoff = Backoff(longest=2.0)
        while not stop.is_set():
            self._wake.clear()
            try:
                moved = await self.move_due()
                pause = 0.0 if moved == _MOST else await self._until_next()
                backoff.after_success()
            except DatabaseError as error:
                pause = backoff.after_failure()
                _log.warning("schedule_failed", retry_seconds=pause, **why(error))
            if pause:
                await self._wake.wait(stop, pause)

    async def move_due(self) -> int:
        """Move those that are due now, up to a thousand; how many that were."""
        now = self._clock.now()
        async with self._db.worker(claims=True) as tx:
            rows = await tx.fetch(
                QUERIES.claim_due, now=now, until=now + _LEASE, worker=self._presence.id, most=_MOST
            )
        by_tenant: dict[TenantId, list[str]] = {}
        for row in rows:
            by_tenant.setdefault(TenantId(row["tenant_id"]), []).append(row["id"])
        for tenant_id, ids in by_tenant.items():
            async with self._db.tenant(tenant_id) as tenant_tx:
                await tenant_tx.execute(QUERIES.release, tenant_id=tenant_id, ids=ids, now=now)
            self._wake_dispatcher()
        return len(rows)

    async def _until_next(self) -> float:
        async with self._db.worker() as tx:
            due: datetime | None = await tx.fetch_value(QUERIES.next_due, now=self._clock.now())
        if due is None:
            return _LOOK_EVERY
        return min(max((due - self._clock.now()).total_seconds(), _GRASPED), _LOOK_EVERY)


async def sweep_done(db: Database, clock: Clock, *, limit: int) -> int:
    """Remove about so many entries that are over."""
    async with db.worker() as tx:
        return await tx.execute(QUERIES.sweep_done, before=clock.now() - _KEEPS, limit=limit)
