"""Removes what counts no more: old soft bounces, and bounces whose outcomes never came."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.notify.receipts.soft_bounces import sweep_bounces
from tidings.notify.receipts.store import sweep_early

#: A ladder ends with its message's clock, which is days; the bus keeps its outcome for a week.
_WAITED_FOR: Final = timedelta(days=60)


async def sweep_receipts(db: Database, clock: Clock, *, limit: int) -> int:
    """At most so many of each; how many went of those that were more."""
    now = clock.now()
    async with db.worker() as tx:
        soft = await sweep_bounces(tx, now=now, limit=limit)
        early = await sweep_early(tx, before=now - _WAITED_FOR, limit=limit)
    return max(soft, early)
