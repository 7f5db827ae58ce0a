"""Rolls up the history of executions: each row once, those of late transactions too, however often it is killed."""

import asyncio
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import DatabaseError
from tidings.kernel.logs import get_logger, why
from tidings.router.metrics import RouterMetrics
from tidings.router.statistics import store

_MARK: Final = "executions"
#: No execution lasts longer than 30 days; months before that need not be looked at.
_LONGEST: Final = timedelta(days=32)
#: Transactions of one turn at first; a turn that finds little is followed by a larger one.
_FIRST: Final = 20_000
_LARGEST: Final = 100_000_000
#: Executions of a turn: more than this and the next one is smaller.
_MOST: Final = 50_000
_STEPS_KEPT: Final = timedelta(days=92)
_OTHERS_KEPT: Final = timedelta(days=400)

_log = get_logger("statistics")


@dataclass(slots=True, eq=False, repr=False)
class StatisticsJob:
    """Every process of the router may run one: whoever holds the mark works."""

    db: Database
    _: KW_ONLY
    clock: Clock
    metrics: RouterMetrics
    every: timedelta = timedelta(seconds=15)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop."""
        backoff = Backoff(longest=60.0)
        while not stop.is_set():
            try:
                await self.drain(stop)
                backoff.after_success()
                pause = self.every.total_seconds()
            except DatabaseError as error:
                pause = max(self.every.total_seconds(), backoff.after_failure())
                _log.warning("statistics_not_rolled_up", retry_seconds=pause, **why(error))
            await wait_for_stop(stop, pause)

    async def drain(self, stop: asyncio.Event | None = None) -> int:
        """All that is there; how many executions."""
        rolled, turn = 0, _FIRST
        while not (stop and stop.is_set()):
            found, is_through = await self._turn(turn)
            rolled += found
            if is_through:
                break
            turn = max(_FIRST, turn // 2) if found > _MOST else min(_LARGEST, turn * 2)
        return rolled

    async def _turn(self, transactions: int) -> tuple[int, bool]:
        """What so many transactions have ended, and whether there are no more."""
        now = self.clock.now()
        async with self.db.worker() as tx:
            mark = await store.take_mark(tx, _MARK)
            if mark is None:
                return 0, True
            # After a dump was restored elsewhere transactions are counted anew: what is left of before is rolled up as one.
            moved = mark.after_xid > mark.unborn
            until = 2**62 if moved else min(mark.finished, mark.after_xid + transactions)
            if until <= mark.after_xid:
                return 0, True
            found = await store.roll_up(
                tx, after=mark.after_xid, until=until, not_before=mark.not_before, oldest=now - _LONGEST
            )
            await store.move_mark(
                tx,
                _MARK,
                after=mark.finished if moved else until,
                not_before=now if moved else None,
            )
        self.metrics.statistics_rolled_up.inc(found)
        return found, moved or until == mark.finished

    async def sweep(self, most: int) -> int:
        """Remove what is old; how many rows."""
        now = self.clock.now()
        async with self.db.worker() as tx:
            return await store.sweep(
                tx, steps_before=now - _STEPS_KEPT, others_before=now - _OTHERS_KEPT, limit=most
            )
