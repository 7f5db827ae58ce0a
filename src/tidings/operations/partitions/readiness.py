"""For `/readyz`: not ready where the present has no partition, degraded where a later or an earlier one is missing."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import DegradedError, NotReadyError
from tidings.kernel.ttl_cache import TtlCache
from tidings.operations.partitions.missing_message import REMEDY, missing_words
from tidings.operations.partitions.plan import Partition
from tidings.operations.partitions.store import missing_partitions

#: A probe asks every few seconds, and partitions are missing for hours.
_REMEMBERED_SECONDS: Final = 10.0


class PartitionReadiness:
    """Looks at most every few seconds, however often it is asked."""

    def __init__(self, db: Database, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._memory: TtlCache[None, Sequence[Partition]] = TtlCache(
            clock=clock, ttl=timedelta(seconds=_REMEMBERED_SECONDS), size=1
        )

    async def check(self) -> str:
        """That none is missing; otherwise which, and what to do."""
        missing = await self._memory.get_or_fetch(None, self._look)
        now = self._clock.now()
        present = [one for one in missing if one.start <= now < one.end]
        if present:
            raise NotReadyError(f"{missing_words(present)}: {REMEDY}")
        if missing:
            raise DegradedError(f"{missing_words(missing)}: {REMEDY}")
        return "none is missing"

    async def _look(self, _: None) -> Sequence[Partition]:
        async with self._db.platform() as tx:
            return await missing_partitions(tx.connection, self._clock.now())
