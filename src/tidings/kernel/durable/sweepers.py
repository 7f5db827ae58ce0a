"""Removes rows whose time is over, a chunk at a time, while Tidings runs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

from tidings.kernel.db import WorkerTx
from tidings.kernel.durable.job_watch import turn_is_over
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger
from tidings.kernel.metrics import Metrics
from tidings.kernel.sql import Queries

#: Removes at most so many rows; how many went.
Sweep: TypeAlias = Callable[[int], Awaitable[int]]

QUERIES = Queries.beside(__file__)
_log = get_logger("sweepers")


class SweepJob:
    """Every so often each sweeper has its turn, and turn after turn while it finds a full chunk."""

    def __init__(
        self, sweepers: Mapping[str, Sweep], *, every: timedelta, metrics: Metrics, chunk: int = 5_000
    ) -> None:
        self._sweepers = dict(sweepers)
        self._every = every
        self._metrics = metrics
        self._chunk = chunk

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; one that fails does not keep the others from their turn."""
        while not stop.is_set():
            await self.run_once(stop)
            await wait_for_stop(stop, self._every.total_seconds())

    async def run_once(self, stop: asyncio.Event | None = None) -> dict[str, int]:
        """One round; how many rows each removed."""
        swept: dict[str, int] = {}
        for name, sweep in self._sweepers.items():
            swept[name] = 0
            try:
                while not (stop and stop.is_set()):
                    turn_is_over()
                    count = await sweep(self._chunk)
                    swept[name] += count
                    self._metrics.swept.labels(name).inc(count)
                    if count < self._chunk:
                        break
            except TidingsError as error:
                self._metrics.job_failures.labels(f"sweep_{name}").inc()
                _log.error("sweep_failed", sweeper=name, code=error.code)
        return swept


async def take_mark(tx: WorkerTx, name: str) -> datetime | None:
    """How far a sweep has come that goes through everything once, held until the transaction ends; None where another
    process has it. A new sweep begins now."""
    await tx.execute(QUERIES.begin_mark, name=name)
    mark: datetime | None = await tx.fetch_value(QUERIES.take_mark, name=name)
    return mark


async def move_mark(tx: WorkerTx, name: str, until: datetime) -> None:
    """The sweep has come so far, once the transaction commits."""
    await tx.execute(QUERIES.move_mark, name=name, until=until)
