"""What dispatch hears of the paces of batches: read once, and said anew for each day."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from tidings.contracts.delivery import MessagePace
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.set_cache import SetCache
from tidings.notify.batches import store
from tidings.notify.batches.account_pace import PacedBatch, pace_at
from tidings.notify.ids import BatchId

#: A batch that runs is not changed any more; what may change is its tenant's zone.
_REMEMBERED: Final = timedelta(minutes=1)

_Owned: TypeAlias = tuple[TenantId, BatchId]


class StoredBatchPaces:
    """Dispatch's `BatchPaces`; one per process."""

    def __init__(self, db: Database, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._known: SetCache[_Owned, PacedBatch | None] = SetCache(
            self._look_up, clock=clock, ttl=_REMEMBERED
        )

    async def of(self, batches: Collection[_Owned]) -> Mapping[BatchId, MessagePace]:
        """Those that have one at this moment."""
        now = self._clock.now()
        found = await self._known.of_all(batches)
        paces = {batch.id: pace_at(batch, now) for batch in found.values() if batch is not None}
        return {batch_id: pace for batch_id, pace in paces.items() if pace is not None}

    async def _look_up(self, batches: Sequence[_Owned]) -> Mapping[_Owned, PacedBatch | None]:
        async with self._db.tenants({tenant_id for tenant_id, _ in batches}, by_index=True) as tx:
            found = await store.find_paced(tx, batches)
        return {owned: found.get(owned) for owned in batches}
