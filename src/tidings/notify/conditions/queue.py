"""Whether messages are taken up."""

from datetime import timedelta
from typing import Final

from tidings.contracts.conditions import Condition, Figure, Look
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.notify.conditions import store

#: Seconds of the oldest message: from when on it is a warning, from when on critical, below which it is well.
_WARNING: Final = 120.0
_CRITICAL: Final = 900.0
_WELL: Final = 30.0


class QueueConditions:
    """A queue that moves may be long; one whose oldest message gets older does not move."""

    name = "queue"
    every = timedelta(seconds=20)

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def look(self) -> Look:
        """One statement over a sample."""
        async with self._db.worker() as tx:
            sampled, seconds = await store.oldest_in_queue(tx, now=self._clock.now())
        figures = [
            Figure(name="queue_depth", value=sampled),
            Figure(name="queue_seconds", value=max(int(seconds), 0)),
        ]
        if seconds < _WELL:
            return Look(figures=figures)
        found = Condition(
            category="queue_waiting",
            about="dispatch",
            severity="critical" if seconds >= _CRITICAL else "warning",
            tenant_id=None,
            facts={"seconds": int(seconds)},
            is_fading=seconds < _WARNING,
        )
        return Look(conditions=[found], figures=figures)
