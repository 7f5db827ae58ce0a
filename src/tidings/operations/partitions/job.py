"""Keeps partitions ahead while Tidings runs, and raises the alarm where it can't."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from tidings.kernel.clock import Clock
from tidings.kernel.db import translated
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger
from tidings.kernel.metrics import Metrics
from tidings.operations.partitions.drop import drop_old
from tidings.operations.partitions.make import make_missing
from tidings.operations.partitions.missing_message import REMEDY
from tidings.operations.partitions.plan import Partition
from tidings.operations.partitions.store import missing_partitions, registered_tables, server_time

_log = get_logger("partitions")
#: How soon to look again when that failed.
_AFTER_FAILURE = timedelta(minutes=1)
#: How far the server's clock and ours may be apart.
_SKEW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PartitionJob:
    """Looks at every interval; makes what is missing where it may, and counts what is still missing."""

    url: str
    may_make: bool
    every: timedelta
    clock: Clock
    metrics: Metrics

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; a database that is away for a while does not end it."""
        while not stop.is_set():
            wait = self.every
            try:
                await self.run_once()
            except TidingsError as error:
                self.metrics.job_failures.labels("partitions").inc()
                _log.error("partitions_not_checked", code=error.code, reason=str(error))
                wait = min(wait, _AFTER_FAILURE)
            await wait_for_stop(stop, wait.total_seconds())

    async def run_once(self) -> list[Partition]:
        """One look; what is still missing afterwards."""
        with translated():
            connection = await asyncpg.connect(self.url, timeout=10)
        try:
            now, theirs = self.clock.now(), await server_time(connection)
            if abs(now - theirs) > _SKEW:
                _log.error("clocks_differ", seconds=round((now - theirs).total_seconds()))
            # Rows are stamped by either clock; where they differ there has to be room for both.
            if self.may_make:
                for moment in (now, theirs):
                    for partition in await make_missing(connection, moment):
                        _log.info("partition_made", partition=partition.name)
                for name in await drop_old(connection, now):
                    _log.info("partition_dropped", partition=name)
            missing = sorted(
                {*await missing_partitions(connection, now), *await missing_partitions(connection, theirs)}
            )
            counts = Counter(partition.parent for partition in missing)
            for table in await registered_tables(connection):
                self.metrics.missing_partitions.labels(table.parent).set(counts[table.parent])
        finally:
            await connection.close(timeout=5)
        if missing:
            _log.error(
                "partitions_missing",
                severity="high",
                count=len(missing),
                tables=sorted(counts),
                first=min(missing, key=lambda one: (one.start, one.name)).name,
                remedy=REMEDY,
            )
        return missing
