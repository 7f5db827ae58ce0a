"""Whether partitions are missing that should exist by now."""

from datetime import timedelta

from tidings.contracts.conditions import Condition, Figure, Look
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.operations.partitions.store import missing_partitions


class PartitionConditions:
    """Critical where one is missing for what is written within a day; a warning where it is for later."""

    name = "partitions"
    every = timedelta(minutes=1)

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def look(self) -> Look:
        """What the catalogue lacks."""
        now = self._clock.now()
        async with self._db.platform() as tx:
            missing = await missing_partitions(tx.connection, now)
        figures = [Figure(name="partitions_missing", value=len(missing))]
        if not missing:
            return Look(figures=figures)
        first = min(missing, key=lambda one: one.start)
        is_near = any(one.start < now + timedelta(days=1) and now < one.end for one in missing)
        found = Condition(
            category="partition_missing",
            about="all",
            severity="critical" if is_near else "warning",
            tenant_id=None,
            facts={"partitions": len(missing), "table": first.parent, "partition": first.name},
        )
        return Look(conditions=[found], figures=figures)
