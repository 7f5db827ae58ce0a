"""Frees what dead workers had in hand.

Here by ids alone and across tenants. The calls that were under way stay noted in their rows: whoever takes such a
ladder up writes that the answer was never learned, and the ladder goes on from there (`advance.py`).
"""

from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.db import WorkerTx
from tidings.kernel.durable.in_hand import InHand
from tidings.router.executions import store
from tidings.router.executions.model import WorkerId

#: What was begun within this may have been committed a moment ago, and is in our hands in the next.
_FRESH = timedelta(seconds=5)


class Rescuer:
    """Frees what the dead had in hand, and what is ours by name only."""

    def __init__(self, in_hand: InHand, *, worker_id: WorkerId, clock: Clock) -> None:
        self._in_hand = in_hand
        self._worker_id = worker_id
        self._clock = clock

    async def free_orphans(self, tx: WorkerTx) -> int:
        """How much that was; after the commit the alarm has to be told to look."""
        async with self._in_hand.claiming:
            fresh = self._clock.now() - _FRESH
            held = self._in_hand.ids()
            return await store.free_orphans(tx, worker=self._worker_id(), held=held, fresh=fresh)
