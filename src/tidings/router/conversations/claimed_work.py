"""Work that calls somebody outside: claimed in the name of a living worker, done without a transaction, then written.

Claims have no time limit: what a slow vendor or webhook holds up is nobody else's. What a dead worker had is freed by
`free_orphans`, which the presence of the workers calls.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why

_log = get_logger("conversations")
#: What was claimed within this may have been committed a moment ago, and is in our hands in the next.
_FRESH: Final = timedelta(seconds=5)
#: Seconds between two looks whether the others know us by now.
_UNTIL_KNOWN: Final = 0.05
#: Seconds until the next look at what is due and locked by somebody else.
_GRASPED: Final = 0.05
#: Seconds until the next look while some tenants have enough in hand: nobody asks when the others are due.
_BESIDE_THE_FULL: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSettings:
    """How such a job paces itself."""

    #: Taken up at once.
    limit: int = 100
    #: In hand at most; whoever hangs must not fill the memory.
    most_in_hand: int = 500
    #: In hand of one tenant before no more of it is taken up; whoever makes it hang keeps the others waiting for nothing.
    most_of_one: int = 50
    #: Seconds of the longest sleep; what another process left is found after this.
    longest_sleep: float = 5.0
    #: Seconds that calls under way get to end in after `stop`.
    grace: float = 10.0
    #: Seconds of the longest pause while the database does not answer.
    longest_outage_pause: float = 5.0


class Shelf(Protocol):
    """Where the work lies."""

    async def claim(
        self, tx: WorkerTx, *, worker: str, now: datetime, limit: int, besides: Sequence[TenantId]
    ) -> list[tuple[TenantId, str]]:
        """Take up what is due, in turns between tenants, and nothing of those `besides`: tenants and ids."""
        ...

    async def next_due(self, tx: WorkerTx) -> datetime | None:
        """When the next look is needed."""
        ...

    async def free_orphans(self, tx: WorkerTx, *, worker: str, held: Sequence[str], fresh: datetime) -> int:
        """Free what no living worker has in hand, and what is this worker's by name only."""
        ...


class ClaimedWork:
    """Sleeps until something is due, and has it done, tenant by tenant; any number of processes may run one."""

    def __init__(
        self,
        db: Database,
        shelf: Shelf,
        work: Callable[[TenantId, str, Sequence[str]], Awaitable[None]],
        *,
        wake: Wakeup,
        worker_id: Callable[[], str],
        clock: Clock,
        known: asyncio.Event | None = None,
        settings: WorkSettings | None = None,
    ) -> None:
        """`work` is given a tenant, the worker's name and what was claimed in it. `known` is set while the other workers
        know this one: what it claims otherwise is taken for an orphan's."""
        self._db = db
        self._shelf = shelf
        self._work = work
        self._wake = wake
        self._worker_id = worker_id
        self._clock = clock
        self._known = known
        self._settings = settings or WorkSettings()
        self._in_hand = InHand()
        self._tasks: dict[asyncio.Task[None], tuple[TenantId, list[str]]] = {}
        self._backoff = Backoff(longest=self._settings.longest_outage_pause)

    async def run(self, stop: asyncio.Event) -> None:
        """Do what is due until `stop`; then let what is under way end."""
        try:
            while not stop.is_set():
                self._wake.clear()
                try:
                    seconds = await self._turn()
                    self._backoff.after_success()
                except DatabaseError as error:
                    seconds = self._backoff.after_failure()
                    _log.warning("work_not_claimed", retry_seconds=seconds, **why(error))
                if seconds > 0:
                    await self._wake.wait(stop, seconds)
        finally:
            await self._end()

    async def drain(self) -> int:
        """Do all that is due now; how much that was."""
        done = 0
        while True:
            await self._turn()
            if not self._tasks:
                return done
            done += self._count()
            await asyncio.gather(*self._tasks)

    async def free_orphans(self, tx: WorkerTx) -> int:
        """Free what the dead had in hand; how much that was."""
        async with self._in_hand.claiming:
            freed = await self._shelf.free_orphans(
                tx,
                worker=self._worker_id(),
                held=self._in_hand.ids(),
                fresh=self._clock.now() - _FRESH,
            )
        if freed:
            self._wake.set()
        return freed

    def _count(self) -> int:
        return sum(len(ids) for _, ids in self._tasks.values())

    def _full(self) -> set[TenantId]:
        """Tenants that have enough in hand."""
        counts: Counter[TenantId] = Counter()
        for tenant_id, ids in self._tasks.values():
            counts[tenant_id] += len(ids)
        return {one for one, count in counts.items() if count >= self._settings.most_of_one}

    async def _turn(self) -> float:
        """One look; how many seconds may be slept."""
        settings = self._settings
        if self._known is not None and not self._known.is_set():
            return _UNTIL_KNOWN
        limit = min(settings.limit, settings.most_in_hand - self._count())
        if limit <= 0:
            return settings.longest_sleep
        worker = self._worker_id()
        now = self._clock.now()
        full = self._full()
        async with self._in_hand.claiming:
            async with self._db.worker(claims=True) as tx:
                claims = await self._shelf.claim(
                    tx, worker=worker, now=now, limit=limit, besides=sorted(full)
                )
                known = len(claims) >= limit or full
                next_at = None if known else await self._shelf.next_due(tx)
            self._start(worker, claims)
        if len(claims) >= limit:
            return 0.0
        if full:
            return min(_BESIDE_THE_FULL, settings.longest_sleep)
        if next_at is None:
            return settings.longest_sleep
        return min(max((next_at - self._clock.now()).total_seconds(), _GRASPED), settings.longest_sleep)

    def _start(self, worker: str, claims: Sequence[tuple[TenantId, str]]) -> None:
        by_tenant: dict[TenantId, list[str]] = {}
        for tenant_id, id_ in claims:
            by_tenant.setdefault(tenant_id, []).append(id_)
        for tenant_id, ids in by_tenant.items():
            task = asyncio.ensure_future(self._do(tenant_id, worker, ids))
            self._tasks[task] = tenant_id, ids
            self._in_hand.take(ids)
            task.add_done_callback(self._done)

    async def _do(self, tenant_id: TenantId, worker: str, ids: Sequence[str]) -> None:
        try:
            await self._work(tenant_id, worker, ids)
        except DatabaseError as error:
            # Nobody has it in hand any more: it is freed as what is ours by name only.
            _log.warning("work_left", count=len(ids), error=error.code)

    def _done(self, task: asyncio.Task[None]) -> None:
        full = self._full()
        tenant_id, ids = self._tasks.pop(task)
        self._in_hand.drop(ids)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("work_fell", count=len(ids), error=type(error).__name__)
        if tenant_id in full or self._count() + len(ids) >= self._settings.most_in_hand:
            self._wake.set()

    async def _end(self) -> None:
        if not self._tasks:
            return
        _, late = await asyncio.wait(list(self._tasks), timeout=self._settings.grace)
        for task in late:
            task.cancel()
        if late:
            _log.warning("calls_left_unlearned", sets=len(late))
            await asyncio.wait(late, timeout=1)
