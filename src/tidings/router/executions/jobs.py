"""What a worker runs: takes up ladders when they are due."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.router.executions import store
from tidings.router.executions.advance import Advancer
from tidings.router.executions.model import ExecutionId, WorkerId
from tidings.router.executions.store import ExecutionClaim

_log = get_logger("executions")
#: Seconds until the next look at what is due and locked by somebody else.
_GRASPED = 0.02
#: Seconds between two looks whether the others know us by now.
_UNTIL_KNOWN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSettings:
    """How the job paces itself."""

    #: Ladders taken up at once.
    limit: int = 200
    #: Among so many of the oldest of each priority tenants take turns.
    window: int = 2_000
    #: Ladders in hand at most; a vendor that hangs must not fill the memory.
    most_in_hand: int = 2_000
    #: Seconds of the longest sleep. It is woken for whatever this process leaves waiting; what another process left and
    #: did not live to take up is found after this.
    longest_sleep: float = 5.0
    #: Seconds that calls under way get to end in after `stop`.
    grace: float = 10.0
    #: Seconds of the longest pause while the database does not answer.
    longest_outage_pause: float = 5.0


class DueJob:
    """Sleeps until something is due; any number of processes may run one."""

    def __init__(
        self,
        db: Database,
        advancer: Advancer,
        *,
        worker_id: WorkerId,
        clock: Clock,
        due_timer: DueTimer,
        known: asyncio.Event | None = None,
        in_hand: InHand | None = None,
        settings: DueSettings | None = None,
    ) -> None:
        """`known` is set while the other workers know this one: what it claims otherwise is taken for an orphan's."""
        self._db = db
        self._advancer = advancer
        self._worker_id = worker_id
        self._clock = clock
        self._due_timer = due_timer
        self._known = known
        self._in_hand = in_hand or InHand()
        self._settings = settings or DueSettings()
        self._tasks: dict[asyncio.Task[None], list[ExecutionId]] = {}
        #: There was no room for all that may have been due.
        self._full_hands = False
        self._backoff = Backoff(longest=self._settings.longest_outage_pause)

    async def run(self, stop: asyncio.Event) -> None:
        """Take up what is due until `stop`; then let what is under way end."""
        try:
            while not stop.is_set():
                try:
                    seconds = await self._turn()
                    self._backoff.after_success()
                except DatabaseError as error:
                    seconds = self._backoff.after_failure()
                    _log.warning("due_not_claimed", retry_seconds=seconds, **why(error))
                if seconds > 0:
                    await self._due_timer.wakeup.wait(stop, seconds)
        finally:
            await self._end()

    async def drain(self) -> int:
        """Take up all that is due now and wait for it; how many steps that were."""
        taken = 0
        while True:
            await self._turn()
            if not self._tasks:
                return taken
            taken += self._count()
            await asyncio.gather(*self._tasks)

    def _count(self) -> int:
        return sum(map(len, self._tasks.values()))

    async def _turn(self) -> float:
        """One look; how many seconds may be slept."""
        settings = self._settings
        self._due_timer.begin_look()
        if self._known is not None and not self._known.is_set():
            return _UNTIL_KNOWN
        room = settings.most_in_hand - self._count()
        self._full_hands = room <= 0
        if self._full_hands:
            return settings.longest_sleep
        limit = min(settings.limit, room)
        worker = self._worker_id()
        now = self._clock.now()
        async with self._in_hand.claiming:
            async with self._db.worker(claims=True) as tx:
                claims = await store.claim_due(
                    tx, worker=worker, now=now, limit=limit, window=settings.window
                )
                full = len(claims) >= limit
                found = None if full else await store.next_due(tx)
            self._start(worker, claims)
        if full:
            return 0.0
        left = self._due_timer.seconds_left(found, now=self._clock.now(), longest=settings.longest_sleep)
        # What is due and was not claimed is in somebody's grasp: to ask again at once would be to hammer.
        return left if claims or found is None or found > now else max(left, _GRASPED)

    def _start(self, worker: str, claims: Sequence[ExecutionClaim]) -> None:
        by_tenant: dict[TenantId, list[ExecutionId]] = {}
        for claim in claims:
            by_tenant.setdefault(claim.tenant_id, []).append(claim.id)
        for tenant_id, ids in by_tenant.items():
            task = asyncio.create_task(self._advancer.advance(tenant_id, worker, ids))
            self._tasks[task] = ids
            self._in_hand.take(ids)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        ids = self._tasks.pop(task)
        self._in_hand.drop(ids)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("advance_fell", count=len(ids), error=type(error).__name__, exc_info=error)
        if self._full_hands:
            self._due_timer.look_now()

    async def _end(self) -> None:
        if not self._tasks:
            return
        _, late = await asyncio.wait(list(self._tasks), timeout=self._settings.grace)
        for task in late:
            task.cancel()
        if late:
            # Their calls are noted; whoever frees what we had in hand finds that the answers were never learned.
            _log.warning("calls_left_unlearned", sets=len(late))
            await asyncio.wait(late, timeout=1)
