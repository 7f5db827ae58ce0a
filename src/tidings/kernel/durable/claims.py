"""Jobs that claim rows in the name of a living worker and work on them without a transaction: the form for calls outside.

A claim has no time limit: what a slow vendor or webhook holds up is freed for no other worker. What a dead worker had
claimed is freed by `free_orphans`, which `presence.py` calls. A new job is a table, three queries and a function:
`docs/adding-a-job.md` shows the smallest one.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import DueTimer, run_on_wakeup
from tidings.kernel.errors import DatabaseError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, where, why
from tidings.kernel.metrics import Metrics
from tidings.kernel.sql import Query

K = TypeVar("K", bound=str)

#: What was claimed within this may have been committed a moment ago, and is in our hands in the next.
_FRESH: Final = timedelta(seconds=5)
#: Seconds between two looks whether the other workers know this one by now.
_UNTIL_KNOWN: Final = 0.05
#: Seconds until the next look while some tenants have enough in hand: the query that says when the next is due counts them in.
_BESIDE_THE_FULL: Final = 0.5
#: Seconds that tasks get to end in once they are cut off.
_LAST: Final = 1.0


class Claim(NamedTuple, Generic[K]):
    """A row that is this worker's to work on."""

    tenant_id: TenantId
    id: K


class Claims(Protocol[K]):
    """Where the work lies."""

    async def claim(
        self, tx: WorkerTx, *, worker: str, now: datetime, limit: int, full: Collection[TenantId]
    ) -> list[Claim[K]]:
        """Claim rows that are due, in turns between tenants, and none of the tenants that are `full`."""
        ...

    async def next_due(self, tx: WorkerTx, *, now: datetime) -> datetime | None:
        """When the next row is due that no worker has claimed."""
        ...

    async def free_orphans(self, tx: WorkerTx, *, worker: str, held: Sequence[str], fresh: datetime) -> int:
        """Free what no living worker has claimed, and what `worker` has claimed before `fresh` and does not hold."""
        ...


class TableClaims(Generic[K]):
    """`Claims` by the queries of a table. Each query takes those of the arguments that it names."""

    def __init__(
        self, *, claim: Query, next_due: Query, free_orphans: Query | None = None, **constants: Any
    ) -> None:
        """`claim` gives `tenant_id` and `id`. Without `free_orphans` a claim has to end by itself, by a lease.

        The `constants` are arguments too.
        """
        self._claim = claim
        self._next_due = next_due
        self._free_orphans = free_orphans
        self._constants = constants

    async def claim(
        self, tx: WorkerTx, *, worker: str, now: datetime, limit: int, full: Collection[TenantId] = ()
    ) -> list[Claim[K]]:
        """Claim rows that are due, in turns between tenants, and none of the tenants that are `full`."""
        arguments = self._arguments(self._claim, worker=worker, now=now, limit=limit, full=sorted(full))
        return [Claim(row["tenant_id"], row["id"]) for row in await tx.fetch(self._claim, **arguments)]

    async def next_due(self, tx: WorkerTx, *, now: datetime) -> datetime | None:
        """When the next row is due that no worker has claimed."""
        at: datetime | None = await tx.fetch_value(self._next_due, **self._arguments(self._next_due, now=now))
        return at

    async def free_orphans(
        self, tx: WorkerTx, *, worker: str | None, held: Sequence[str], fresh: datetime | None
    ) -> int:
        """Free what no living worker has claimed, and what `worker` has claimed before `fresh` and does not hold."""
        if self._free_orphans is None:
            return 0
        arguments = self._arguments(self._free_orphans, worker=worker, held=list(held), fresh=fresh)
        return await tx.execute(self._free_orphans, **arguments)

    def _arguments(self, query: Query, **given: Any) -> dict[str, Any]:
        known = {**self._constants, **given}
        return {name: known[name] for name in query.parameters}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSettings:
    """How such a job paces itself."""

    #: Rows of one claim.
    limit: int = 100
    #: Rows in hand at most; a vendor that hangs must not fill the memory.
    most_in_hand: int = 500
    #: Rows in hand of one tenant before no more of it are claimed; None: all may be of one.
    most_of_a_tenant: int | None = 50
    #: Seconds of the longest sleep; what another process left is found after this.
    longest_sleep: float = 5.0
    #: Seconds until the next look at rows that are due and locked by another worker.
    locked_pause: float = 0.05
    #: Seconds that calls under way get to end in after `stop`.
    grace: float = 10.0
    #: Seconds of the longest pause while the database does not answer.
    longest_outage_pause: float = 5.0


#: Hears how many rows of a set need no more waiting for.
SetAnswered: TypeAlias = Callable[[int], None]


@dataclass(slots=True, eq=False)
class _ClaimedSet(Generic[K]):
    """What one task has in hand."""

    claims: Sequence[Claim[K]]
    #: How many of them are still waited for.
    open: int


class ClaimingJob(Generic[K]):
    """Sleeps until a row is due, claims, and has the claims worked on, tenant by tenant or as one set; any number of processes run one."""

    def __init__(
        self,
        db: Database,
        claims: Claims[K],
        work: Callable[[TenantId, str, Sequence[K]], Awaitable[None]] | None = None,
        *,
        work_on_set: Callable[[str, Sequence[Claim[K]], SetAnswered], Awaitable[None]] | None = None,
        name: str,
        worker_id: Callable[[], str],
        clock: Clock,
        due_timer: DueTimer,
        known: asyncio.Event | None = None,
        in_hand: InHand | None = None,
        metrics: Metrics | None = None,
        settings: ClaimSettings | None = None,
    ) -> None:
        """`work` gets a tenant, the worker's id and the claimed ids, and writes what became of each. `work_on_set`, in its
        place, gets the worker's id and a whole claim that spans tenants; a tenant that is slow must not hold up another there:
        it tells, while it works, how many rows are done, and those do not count as in hand any more.

        `known` is set while the other workers know this one: what it claims otherwise is taken for an orphan's.
        """
        self._db = db
        self._claims = claims
        if (work is None) == (work_on_set is None):
            raise TypeError("either work or work_on_set")
        self._work = work
        self._work_on_set = work_on_set
        self._name = name
        self._worker_id = worker_id
        self._clock = clock
        self._due_timer = due_timer
        self._known = known
        self._in_hand = in_hand or InHand()
        self._metrics = metrics
        self._settings = settings or ClaimSettings()
        self._tasks: dict[asyncio.Task[None], _ClaimedSet[K]] = {}
        self._log = get_logger(name)

    async def run(self, stop: asyncio.Event) -> None:
        """Work on what is due until `stop`; then let what is under way end."""
        backoff = Backoff(longest=self._settings.longest_outage_pause)
        try:
            await run_on_wakeup(
                self._due_timer.wakeup, stop, turn=self._turn, failed=self._not_claimed, backoff=backoff
            )
        finally:
            await self._end()

    async def drain(self) -> int:
        """Work on all that is due now and wait for it; how many rows that were."""
        done = 0
        while True:
            await self._turn()
            if not self._tasks:
                return done
            done += sum(len(some.claims) for some in self._tasks.values())
            for ended in await asyncio.gather(*self._tasks, return_exceptions=True):
                if ended is not None:
                    raise ended

    async def free_orphans(self, tx: WorkerTx) -> int:
        """Orphan rescue: free what dead workers had claimed, and what is claimed in our name without our knowing."""
        async with self._in_hand.claiming:
            freed = await self._claims.free_orphans(
                tx,
                worker=self._worker_id(),
                held=self._in_hand.ids(),
                fresh=self._clock.now() - _FRESH,
            )
        if freed:
            self._due_timer.look_now()
        return freed

    def _count(self) -> int:
        """Rows that are waited for."""
        return sum(some.open for some in self._tasks.values())

    def _full(self) -> set[TenantId]:
        """Tenants that have enough in hand."""
        most = self._settings.most_of_a_tenant
        if most is None:
            return set()
        counts: Counter[TenantId] = Counter()
        for some in self._tasks.values():
            counts.update(claim.tenant_id for claim in some.claims)
        return {tenant_id for tenant_id, count in counts.items() if count >= most}

    async def _turn(self) -> float:
        """Claim once; how many seconds the job may sleep."""
        settings = self._settings
        self._due_timer.begin_look()
        if self._known is not None and not self._known.is_set():
            return _UNTIL_KNOWN
        limit = min(settings.limit, settings.most_in_hand - self._count())
        if limit <= 0:
            return settings.longest_sleep
        worker, now, full = self._worker_id(), self._clock.now(), self._full()
        async with self._in_hand.claiming:
            async with self._db.worker(claims=True) as tx:
                claims = await self._claims.claim(tx, worker=worker, now=now, limit=limit, full=full)
                more = len(claims) >= limit
                next_at = None if more or full else await self._claims.next_due(tx, now=now)
            self._start(worker, claims)
        if more:
            return 0.0
        if full:
            return min(_BESIDE_THE_FULL, settings.longest_sleep)
        left = self._due_timer.seconds_left(next_at, now=self._clock.now(), longest=settings.longest_sleep)
        # What is due and was not claimed is locked by another worker: to ask again at once would be to hammer.
        return left if claims or next_at is None or next_at > now else max(left, settings.locked_pause)

    def _start(self, worker: str, claims: Sequence[Claim[K]]) -> None:
        sets: dict[TenantId | None, list[Claim[K]]] = {}
        for claim in claims:
            sets.setdefault(claim.tenant_id if self._work is not None else None, []).append(claim)
        for some in sets.values():
            claimed = _ClaimedSet(some, len(some))
            task = asyncio.create_task(self._do(worker, claimed))
            self._tasks[task] = claimed
            self._in_hand.take(claim.id for claim in some)
            task.add_done_callback(self._done)

    async def _do(self, worker: str, claimed: _ClaimedSet[K]) -> None:
        claims = claimed.claims
        try:
            if self._work is not None:
                await self._work(claims[0].tenant_id, worker, [claim.id for claim in claims])
            elif self._work_on_set is not None:
                await self._work_on_set(worker, claims, partial(self._answered, claimed))
        except DatabaseError as error:
            # No worker has it in hand any more: it is freed as what is ours by name only.
            self._log.warning("work_left", count=len(claims), error=error.code)

    def _answered(self, claimed: _ClaimedSet[K], count: int) -> None:
        """So many of a set are done, while others may be waited for."""
        was_full = self._count() >= self._settings.most_in_hand
        claimed.open = max(0, claimed.open - count)
        if was_full and self._count() < self._settings.most_in_hand:
            self._due_timer.look_now()

    def _done(self, task: asyncio.Task[None]) -> None:
        full = self._full()
        claimed = self._tasks.pop(task)
        claims = claimed.claims
        self._in_hand.drop(claim.id for claim in claims)
        if not task.cancelled() and (error := task.exception()) is not None:
            if self._metrics is not None:
                self._metrics.job_failures.labels(self._name).inc()
            # Without its words: they may quote what was worked on.
            self._log.error("work_failed", count=len(claims), error=type(error).__name__, where=where(error))
        enough = any(claim.tenant_id in full for claim in claims)
        if enough or self._count() + claimed.open >= self._settings.most_in_hand:
            self._due_timer.look_now()

    def _not_claimed(self, error: TidingsError, seconds: float) -> None:
        self._log.warning("claim_failed", retry_seconds=seconds, **why(error))

    async def _end(self) -> None:
        if not self._tasks:
            return
        _, late = await asyncio.wait(list(self._tasks), timeout=self._settings.grace)
        if late:
            # Their calls are noted; the rescue of their claims finds that the answers were never learned.
            self._log.warning("calls_left_unlearned", sets=len(late))
            await cut_off(late)


async def cut_off(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for their end, so that none of them goes on beside the code that closes what it needs."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_LAST)
