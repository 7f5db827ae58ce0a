"""Moves what is due from the schedule into the queue: scheduled sends, and what was deferred."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimSettings, TableClaims
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)

_KEEPS: Final = timedelta(days=1)

#: What is due. The work behind a claim takes milliseconds, and a worker that needs longer than the lease is gone.
SCHEDULED: Final = TableClaims[str](
    claim=QUERIES.claim_due, next_due=QUERIES.next_due, lease=timedelta(seconds=15)
)
#: What another process has scheduled is found within the longest sleep.
SCHEDULE_SETTINGS: Final = ClaimSettings(
    limit=1_000,
    most_in_hand=1_000,
    most_of_a_tenant=None,
    longest_sleep=1.0,
    locked_pause=0.02,
    longest_outage_pause=2.0,
)


class ScheduleReleaser:
    """Puts what is due into the queue, one tenant after the other: the dispatcher needs the connections."""

    def __init__(self, db: Database, *, clock: Clock, wake_dispatcher: Callable[[], None]) -> None:
        self._db = db
        self._clock = clock
        self._wake_dispatcher = wake_dispatcher
        self._one_at_a_time = asyncio.Lock()

    async def release(self, tenant_id: TenantId, _worker: str, ids: Sequence[str]) -> None:
        """Move claimed entries from the schedule into the queue."""
        async with self._one_at_a_time, self._db.tenant(tenant_id) as tx:
            await tx.execute(QUERIES.release, ids=list(ids), now=self._clock.now())
        self._wake_dispatcher()


async def sweep_done(db: Database, clock: Clock, *, limit: int) -> int:
    """Remove about so many entries that are over."""
    async with db.worker() as tx:
        return await tx.execute(QUERIES.sweep_done, before=clock.now() - _KEEPS, limit=limit)
