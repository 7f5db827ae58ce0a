"""The dispatcher: claims batches as long as there is work, and rests without cost when there is none.

One claimer, several batches at once; `pace.py` says when it claims and how much.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tidings.contracts.delivery import SendFirstSteps
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.claims import cut_off
from tidings.kernel.durable.halving import is_of_an_item
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.presence import Presence, WorkerId
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup, run_on_wakeup
from tidings.kernel.errors import DatabaseBusyError, DatabaseError, PartitionMissingError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.kernel.metrics import Metrics
from tidings.kernel.postgres_bus.wakeups import Rest, Wakeups
from tidings.notify.dispatch.claim import ClaimedBatches, FairClaimer, free_orphans, give_back
from tidings.notify.dispatch.dispatch_batch import Dispatcher
from tidings.notify.dispatch.pace import MOMENT, ClaimPlan, DispatchBatch, DispatchPace, DispatchSettings
from tidings.notify.dispatch.store import OwnedId
from tidings.notify.dispatch.taken_limits import TakenLimits
from tidings.notify.render.errors import RenderInterruptedError

QUEUE_CHANNEL: Final = "tidings_queue"
#: The queue's name in its trigger, in the lock of the dispatcher that rests, and in the wake-up.
QUEUE_NAME: Final = "notification.dispatch"
#: The same for what is critical or high.
EXPRESS_NAME: Final = f"{QUEUE_NAME}.express"
#: After so many batches that ended in an error a notification is left for a person to look at.
_MOST_FAILURES: Final = 5
#: A claim of more than that is a load: from then on writers need not notify, because we look again by ourselves.
_FEW: Final = 8
#: Seconds in which a transaction that has inserted commits, as a rule.
_SOON: Final = 0.002
#: Parts of batches that failed are dispatched side by side.
_PARTS_AT_ONCE: Final = 4

_log = get_logger("dispatch")


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """A batch while it is dispatched, in as many parts as it takes."""

    batch: DispatchBatch
    worker: WorkerId
    taken: TakenLimits = field(default_factory=TakenLimits)
    #: Parts that are on their way, while others are still being dispatched.
    sends: set[asyncio.Task[None]] = field(default_factory=set)


class DispatchJob:
    """Claims batches, has them dispatched, and has the router carry them out."""

    def __init__(
        self,
        *,
        db: Database,
        claimer: FairClaimer,
        dispatcher: Dispatcher,
        presence: Presence,
        wakeups: Wakeups,
        wake: Wakeup,
        express: Wakeup,
        metrics: Metrics,
        held_up: Callable[[], Collection[str]] = frozenset,
        apart: Callable[[TenantId], bool] = lambda _: False,
        settings: DispatchSettings | None = None,
    ) -> None:
        """`held_up`: the tenants whose messages take long to render just now, or wait for a lock; no other tenant waits for them.

        `apart`: whether a tenant has batches of its own, because its messages took long lately or wait for a lock.
        """
        self._db = db
        self._claimer = claimer
        self._dispatcher = dispatcher
        self._presence = presence
        self._wakeups = wakeups
        #: Set when there may be work, and when there may be something critical or high among it.
        self._wake = wake
        self._express = express
        self._metrics = metrics
        self._pace = DispatchPace(
            settings or DispatchSettings(), held_up=held_up, apart=apart, workers=lambda: presence.workers
        )
        self._tasks: set[asyncio.Task[None]] = set()
        #: There may be something in the queue that no insert will notify us of.
        self._unseen = True
        #: Claimed, until all of its batch is sent.
        self._in_hand = InHand()
        #: For parts of batches that failed: connections are few.
        self._parts = asyncio.Semaphore(_PARTS_AT_ONCE)

    async def run(self, stop: asyncio.Event) -> None:
        """Dispatch until `stop`, then let what is under way end. Cancelling this cancels that too."""
        try:
            await run_on_wakeup(
                self._wake,
                stop,
                turn=self._look,
                failed=self._not_claimed,
                backoff=Backoff(longest=2.0),
            )
            await self._wait_for_tasks()
        except asyncio.CancelledError:
            # Calls are noted, and claims are freed as an orphan's.
            if self._tasks:
                _log.warning("turns_cut_off", sets=len(self._tasks))
                await cut_off(set(self._tasks))
            raise

    async def drain(self) -> int:
        """Dispatch all that is ready now, then return; how many that were."""
        done = 0
        while True:
            self._pace.hurry()
            claimed = await self._claim(self._pace.plan(time.monotonic()))
            if not claimed:
                return done
            done += len(claimed)
            await self._wait_for_tasks()

    async def free_orphans(self, tx: WorkerTx) -> int:
        """Free what no live worker has claimed; how much that was."""
        async with self._in_hand.claiming:
            freed = await free_orphans(tx, worker=self._presence.id, held=self._in_hand.ids())
        if freed:
            self._unseen = True
        return freed

    @property
    def _resting(self) -> bool:
        """Whether every insert notifies us."""
        return self._wakeups.rests(QUEUE_NAME)

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _wait_for_tasks(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _look(self) -> float:
        """Claim where the pace allows it; how many seconds may be slept."""
        if not self._presence.known.is_set():
            # Claims of a worker that the others do not know would be free for all.
            return MOMENT
        pause = self._pace.pause_before(
            time.monotonic(), express_called=self._express.called, when_full=self._wakeups.poll_seconds
        )
        if pause:
            # Called, and not looked: whatever allows a claim has to call again.
            self._unseen = True
            return pause
        plan = self._pace.plan(time.monotonic())
        claimed = await self._claim(plan)
        if not self._unseen:
            return self._wakeups.poll_seconds
        if claimed:
            return 0.0
        # The dispatcher does not begin to rest while batches are under way, so no writer wakes it, nor after it looked for what is
        # urgent alone: look again in a moment.
        return MOMENT if self._pace.busy or plan.express else await self._rest()

    def _not_claimed(self, error: TidingsError, seconds: float) -> None:
        _log.warning("claim_failed", retry_seconds=seconds, **why(error))

    async def _claim(self, plan: ClaimPlan) -> ClaimedBatches:
        """The next claim, with a task for each of its batches."""
        self._express.clear()
        # Until it is known: what ends meanwhile has to call again.
        self._unseen = True
        worker = self._presence.id
        async with self._in_hand.claiming:
            claimed = await self._claimer.claim(worker, most=plan.most, to_rank=plan.to_rank, full=plan.full)
            for ids in claimed.by_tenant.values():
                self._in_hand.take(ids)
        for batch in self._pace.claimed(plan, claimed):
            self._begin(self._turn(batch, worker))
        left = plan.passes_over or claimed.leaves_some or len(claimed) >= plan.most
        if self._resting and len(claimed) > _FEW:
            await self._wakeups.rise(QUEUE_NAME)
        self._unseen = left or not self._resting
        return claimed

    async def _turn(self, batch: DispatchBatch, worker: WorkerId) -> None:
        send: SendFirstSteps | None = None
        owned, turn = batch.owned, _Turn(batch, worker)
        try:
            try:
                way = None if batch.urgent else self._pace.give_way
                send = await self._dispatcher.dispatch_batch(owned, worker, taken=turn.taken, give_way=way)
            except Exception as error:  # noqa: BLE001  # one batch's mistake must not end the others
                await self._failed(owned, turn, error)
            finally:
                self._pace.dispatched(batch)
                self._look_again()
            if send is not None:
                await self._send(send, batch)
            if turn.sends:
                await asyncio.wait(turn.sends)
        except Exception as error:  # noqa: BLE001  # what it had in hand is found by the rescuer
            _log.error("carry_out_failed", error=type(error).__name__, exc_info=error)
        finally:
            # Not before: where a row was locked, sending begins with writing.
            self._in_hand.drop([id_ for _, id_ in owned])
            self._pace.sent(batch)
            self._look_again()

    async def _send(self, send: SendFirstSteps, batch: DispatchBatch) -> None:
        try:
            await send(partial(self._answered, batch))
        except Exception as error:  # noqa: BLE001  # what it had in hand is found by the rescuer
            _log.error("carry_out_failed", error=type(error).__name__, exc_info=error)

    def _answered(self, batch: DispatchBatch, tenant_id: TenantId, count: int) -> None:
        self._pace.answered(batch, tenant_id, count)
        self._look_again()

    def _look_again(self) -> None:
        """The pace may allow a claim now; where all that is in the queue has been seen there is nothing to claim."""
        if self._unseen:
            self._wake.set()

    async def _failed(self, batch: Sequence[OwnedId], turn: "_Turn", error: Exception) -> None:
        self._metrics.job_failures.labels("dispatch").inc()
        to_blame = is_of_an_item(error) and not isinstance(
            error, PartitionMissingError | RenderInterruptedError
        )
        if not to_blame:
            _log.warning("turn_interrupted", count=len(batch), **why(error))
        else:
            _log.error("turn_failed", error=type(error).__name__, count=len(batch), exc_info=error)
        of_several = len({tenant_id for tenant_id, _ in batch}) > 1
        if (to_blame and len(batch) > 1) or (isinstance(error, DatabaseBusyError) and of_several):
            return await self._apart(batch, turn)
        backoff = Backoff(first=0.2, longest=2.0)
        while True:
            await asyncio.sleep(backoff.after_failure())
            try:
                return await self._give_back(batch, turn.worker, to_blame=to_blame)
            except DatabaseError as away:
                _log.warning("claims_kept", count=len(batch), **why(away))

    async def _apart(self, batch: Sequence[OwnedId], turn: "_Turn") -> None:
        """Tenant by tenant, which do not wait for each other; of one tenant alone, one after the other: a poisonous one fails by itself."""
        tenants = sorted({tenant_id for tenant_id, _ in batch})
        if len(tenants) == 1:
            for owned in batch:
                await self._again([owned], turn)
            return
        parts = ([owned for owned in batch if owned[0] == tenant_id] for tenant_id in tenants)
        await asyncio.gather(*(self._again(part, turn) for part in parts))

    async def _again(self, batch: Sequence[OwnedId], turn: "_Turn") -> None:
        """Dispatch a part; it is sent at once, while the others are still being dispatched."""
        try:
            async with self._parts:
                send = await self._dispatcher.dispatch_batch(batch, turn.worker, taken=turn.taken)
        except Exception as error:  # noqa: BLE001  # one batch's mistake must not end the others
            await self._failed(batch, turn, error)
            return
        if send is not None:
            turn.sends.add(self._begin(self._send(send, turn.batch)))

    async def _give_back(self, batch: Sequence[OwnedId], worker: WorkerId, *, to_blame: bool) -> None:
        async with self._db.worker() as tx:
            failures = await give_back(tx, batch, worker=worker, to_blame=to_blame)
        self._wake.set()
        hopeless = [owned for owned, times in failures.items() if times >= _MOST_FAILURES]
        if hopeless:
            await self._dispatcher.give_up(hopeless)

    async def _rest(self) -> float:
        """Ask to be woken by inserts; how many seconds may be slept."""
        if not self._resting:
            rest = await self._wakeups.rest(QUEUE_NAME)
            if rest is Rest.WRITERS_AT_WORK:
                # A writer is between its insert and its commit: look again in a moment.
                return _SOON
            if rest is Rest.RESTING:
                return 0.0  # Look once more: what came before the rest woke no worker.
        return self._wakeups.poll_seconds
