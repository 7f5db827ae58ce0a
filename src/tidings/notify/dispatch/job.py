"""The dispatcher: claims sets as long as there is work, rests without cost when there is none.

One claimer, several turns at once. A place is kept for what is critical or high, so that it never waits for a set of
ordinary ones to end. What is being sent is bounded, for each tenant and in all: a vendor that hangs keeps up the
messages that it was given, and no more.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.delivery import Begun, Router
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.presence import Presence, WorkerId
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import DatabaseError, DatabaseUnavailableError, PartitionMissingError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.kernel.metrics import Metrics
from tidings.kernel.postgres_bus.wakeups import Rest, Wakeups
from tidings.notify.dispatch.claim import LOWEST, Claimed, Turns, free_orphans, give_back
from tidings.notify.dispatch.turn import TurnTaker
from tidings.notify.render.errors import RenderInterruptedError

QUEUE_CHANNEL: Final = "tidings_queue"
#: The queue's name in its trigger, in the lock of whoever rests, and in the wake-up.
QUEUE_NAME: Final = "notification.dispatch"
#: The same for what is critical or high.
EXPRESS_NAME: Final = f"{QUEUE_NAME}.express"
#: Critical and high.
_EXPRESS: Final = 1
#: After so many turns that ended in an error a notification is left for a person to look at.
_MOST_FAILURES: Final = 5

#: Seconds until the next look while something is under way that will wake us, as a rule.
_MOMENT: Final = 0.05
#: Seconds that an ordinary turn waits for urgent ones at most, between two of its stages.
_COURTESY: Final = 0.1
#: Seconds in which somebody who has inserted commits, as a rule.
_SOON: Final = 0.002
#: Seconds that turns get to end in once they are cut off.
_LAST: Final = 1.0

_log = get_logger("dispatch")


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchSettings:
    """How much is done at once."""

    #: Notifications of one claim.
    most: int = 100
    #: Turns at once; one more is kept for what is critical or high.
    turns: int = 3
    #: Notifications of one ordinary claim, and turns at once, while something critical or high was about in the last
    #: `wary` seconds: the next of that kind should find nobody in the middle of a long set, and processors that are idle
    #: now and then. After each such turn there is a pause as long as the turn was, times `idle_beside_urgent`.
    most_beside_urgent: int = 10
    turns_beside_urgent: int = 1
    idle_beside_urgent: float = 3.0
    wary: float = 1.0
    #: Seconds between the beginnings of two ordinary claims at least, unless the one before was full: under load sets
    #: grow, after a rest nobody waits. What is critical or high never waits for it.
    gather: float = 0.03
    #: Notifications that may be on their way to vendors, in all and for each tenant.
    most_on_the_way: int = 4000
    most_of_a_tenant: int = 1000


class DispatchJob:
    """Claims, takes turns, has them carried out."""

    def __init__(
        self,
        *,
        db: Database,
        turns: Turns,
        taker: TurnTaker,
        router: Router,
        presence: Presence,
        wakeups: Wakeups,
        wake: Wakeup,
        express: Wakeup,
        metrics: Metrics,
        held_up: Callable[[], Collection[str]] = frozenset,
        settings: DispatchSettings | None = None,
    ) -> None:
        """`held_up`: the tenants whose messages take long to render just now; nobody else waits for them."""
        self._db = db
        self._turns = turns
        self._taker = taker
        self._router = router
        self._presence = presence
        self._wakeups = wakeups
        #: Set when there may be work, and when there may be something critical or high among it.
        self._wake = wake
        self._express = express
        self._metrics = metrics
        self._settings = settings or DispatchSettings()
        self._held_up = held_up
        #: Turns under way, by tenant.
        self._busy: Counter[TenantId] = Counter()
        self._express_busy: Counter[TenantId] = Counter()
        self._on_the_way: Counter[TenantId] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._resting = False
        #: Claimed and not yet handed over.
        self._in_hand = InHand()
        #: Urgent turns under way, until they are sent, and what is set when there is none any more.
        self._urgent = 0
        self._urgent_at = float("-inf")
        self._calm = asyncio.Event()
        #: Until when ordinary turns pause while something urgent is about.
        self._idle_until = float("-inf")
        #: When the last ordinary claim that was not full began.
        self._began = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Dispatch until `stop`, then let what is under way end. Whoever cuts this off cuts that off too."""
        try:
            await self._run(stop)
            await self._wait_for_tasks()
        except asyncio.CancelledError:
            await self._cut_off()
            raise

    async def _run(self, stop: asyncio.Event) -> None:
        backoff = Backoff(longest=2.0)
        while not stop.is_set():
            self._wake.clear()
            pause = self._pause_before(time.monotonic())
            if pause:
                await self._wake.wait(stop, pause)
                continue
            try:
                claimed = await self._claim()
                backoff.after_success()
            except DatabaseError as error:
                pause = backoff.after_failure()
                _log.warning("claim_failed", retry_seconds=pause, **why(error))
                await self._wake.wait(stop, pause)
                continue
            if claimed:
                continue
            if self._busy or self._express_busy:
                # Nobody rests while turns are under way, so nobody is told: look again in a moment.
                await self._wake.wait(stop, _MOMENT)
            else:
                await self._rest(stop)

    async def drain(self) -> int:
        """Dispatch all that is ready now, then return; how many that were."""
        done = 0
        while True:
            # Whoever drains waits for nothing: neither for more to come together nor beside what is urgent.
            self._began = self._idle_until = float("-inf")
            claimed = await self._claim()
            if not claimed:
                return done
            done += len(claimed)
            await self._wait_for_tasks()

    async def free_orphans(self, tx: WorkerTx) -> int:
        """Free what nobody alive has in hand; how much that was."""
        async with self._in_hand.claiming:
            return await free_orphans(tx, worker=self._presence.id, held=self._in_hand.ids())

    async def _wait_for_tasks(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _cut_off(self) -> None:
        """Nothing of ours goes on beside whoever closes what it needs. Calls are noted, and claims are freed as an orphan's."""
        late = set(self._tasks)
        for task in late:
            task.cancel()
        if late:
            _log.warning("turns_cut_off", sets=len(late))
            await asyncio.wait(late, timeout=_LAST)

    def _pause_before(self, now: float) -> float:
        """How long to wait before the next claim; 0 for none."""
        settings = self._settings
        if not self._presence.known.is_set():
            # Claims of somebody whom nobody knows would be free for all.
            return _MOMENT
        if self._on_the_way.total() >= settings.most_on_the_way:
            return self._wakeups.poll_seconds
        if self._may_claim_all(now) or (self._express.called and not self._in_the_way(self._express_busy)):
            return 0.0
        # A turn that ends wakes us, and so does whatever is critical or high.
        early = max(self._began + settings.gather, self._idle_until) - now
        return min(early, _MOMENT) if early > 0 else _MOMENT

    def _in_the_way(self, turns: Counter[TenantId]) -> int:
        """Turns that others wait for; not those that wait in the slow lane of rendering."""
        held_up = self._held_up()
        return sum(count for tenant, count in turns.items() if tenant not in held_up)

    def _may_claim_all(self, now: float) -> bool:
        settings, busy = self._settings, self._in_the_way(self._busy)
        if self._wary(now):
            return busy < settings.turns_beside_urgent and now >= self._idle_until
        return busy < settings.turns and now >= self._began + settings.gather

    def _wary(self, now: float) -> bool:
        return now < self._urgent_at + self._settings.wary

    async def _claim(self) -> Claimed:
        """The next set, given to a task for each tenant in it."""
        settings = self._settings
        looked = time.monotonic()
        express = not self._may_claim_all(looked)
        self._express.clear()
        held_up = self._held_up()
        # Of those that are held up one set is enough until it is through.
        full = [t for t, n in self._on_the_way.items() if n >= settings.most_of_a_tenant or t in held_up]
        worker = self._presence.id
        most = settings.most_beside_urgent if self._wary(looked) else settings.most
        async with self._in_hand.claiming:
            claimed = await self._turns.claim(
                worker, most=most, to_rank=_EXPRESS if express else LOWEST, full=full
            )
            for ids in claimed.by_tenant.values():
                self._in_hand.take(ids)
        if not express:
            # One by itself is no load.
            gathers = 1 < len(claimed) < most
            self._began = looked if gathers else float("-inf")
        if claimed and claimed.rank <= _EXPRESS:
            self._urgent_at = looked
        for tenant_id, ids in claimed.by_tenant.items():
            self._on_the_way[tenant_id] += len(ids)
            (self._express_busy if express else self._busy)[tenant_id] += 1
            urgent = claimed.rank <= _EXPRESS
            task = asyncio.create_task(self._turn(tenant_id, ids, worker, express=express, urgent=urgent))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if claimed and self._resting:
            # From here on writers need not tell us: we look again by ourselves.
            self._resting = False
            await self._wakeups.rise(QUEUE_NAME)
        return claimed

    async def _turn(
        self,
        tenant_id: TenantId,
        ids: Sequence[NotificationId],
        worker: WorkerId,
        *,
        express: bool,
        urgent: bool,
    ) -> None:
        begun: Begun | None = None
        began = time.monotonic()
        self._urgent += urgent
        try:
            try:
                way = None if urgent else self._give_way
                begun = await self._taker.take(tenant_id, ids, worker, give_way=way)
            except Exception as error:  # noqa: BLE001  # one set's mistake must not end the others
                await self._failed(tenant_id, ids, worker, error)
            finally:
                self._in_hand.drop(ids)
                turns = self._express_busy if express else self._busy
                turns[tenant_id] -= 1
                if not turns[tenant_id]:
                    del turns[tenant_id]
                if not urgent:
                    ended = time.monotonic()
                    self._idle_until = ended + (ended - began) * self._settings.idle_beside_urgent
                self._wake.set()
            if begun is not None:
                await self._router.carry_out(begun)
        except Exception as error:  # noqa: BLE001  # what it had in hand is found by the rescuer
            _log.error("carry_out_failed", error=type(error).__name__, exc_info=error)
        finally:
            self._urgent -= urgent
            if not self._urgent:
                self._calm.set()
                self._calm = asyncio.Event()
            self._on_the_way[tenant_id] -= len(ids)
            if not self._on_the_way[tenant_id]:
                del self._on_the_way[tenant_id]
            self._wake.set()

    async def _give_way(self) -> None:
        """Let what is critical or high by; not for long, because a vendor of theirs may hang."""
        if self._urgent:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_COURTESY):
                    await self._calm.wait()

    async def _failed(
        self, tenant_id: TenantId, ids: Sequence[NotificationId], worker: WorkerId, error: Exception
    ) -> None:
        self._metrics.job_failures.labels("dispatch").inc()
        to_blame = not isinstance(
            error, DatabaseUnavailableError | PartitionMissingError | RenderInterruptedError
        )
        if not to_blame:
            _log.warning("turn_interrupted", count=len(ids), **why(error))
        else:
            _log.error("turn_failed", error=type(error).__name__, count=len(ids), exc_info=error)
        # Alone, one after the other: whoever is to blame fails by itself.
        if len(ids) > 1 and to_blame:
            for id_ in ids:
                try:
                    begun = await self._taker.take(tenant_id, [id_], worker)
                    if begun is not None:
                        await self._router.carry_out(begun)
                except Exception as again:  # noqa: BLE001
                    await self._failed(tenant_id, [id_], worker, again)
            return None
        backoff = Backoff(first=0.2, longest=2.0)
        while True:
            await asyncio.sleep(backoff.after_failure())
            try:
                return await self._give_back(tenant_id, ids, worker, to_blame=to_blame)
            except DatabaseError as away:
                _log.warning("claims_kept", count=len(ids), **why(away))

    async def _give_back(
        self, tenant_id: TenantId, ids: Sequence[NotificationId], worker: WorkerId, *, to_blame: bool
    ) -> None:
        async with self._db.worker() as tx:
            failures = await give_back(tx, tenant_id, ids, worker=worker, to_blame=to_blame)
        hopeless = [id_ for id_, times in failures.items() if times >= _MOST_FAILURES]
        if hopeless:
            await self._taker.give_up(tenant_id, hopeless)

    async def _rest(self, stop: asyncio.Event) -> None:
        """Until there is something; whoever inserts while we rest tells us."""
        if not self._resting:
            rest = await self._wakeups.rest(QUEUE_NAME)
            self._resting = rest is Rest.RESTING
            if rest is Rest.WRITERS_AT_WORK:
                # Somebody is between its insert and its commit: look again in a moment.
                await self._wake.wait(stop, _SOON)
                return
            if self._resting:
                return  # Look once more: what came before we rested was announced to nobody.
        await self._wake.wait(stop, self._wakeups.poll_seconds)
