"""What a worker runs: finds the attempts that callbacks are about, and has them told."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.locked_sets import LockedSetJob, LockedSetSettings, SetTurn
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger, why
from tidings.router.callbacks import store
from tidings.router.callbacks.apply import Applier
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.callbacks.retry_policy import CORRELATION_RETRY, OLDEST_ATTEMPT
from tidings.router.callbacks.store import ClaimedEvent, UncorrelatedEvent

_log = get_logger("callbacks")
#: Where processes that only take in notify those that apply.
WAKEUP_CHANNEL: Final = "tidings_callbacks"
WAKEUP_PAYLOAD: Final = "queued"


class CallbackJob(LockedSetJob):
    """Finds the attempts of events. Ladders are told in transactions of their own, and the set is marked after; if that is
    lost, it is told again, and taken once."""

    def __init__(
        self,
        db: Database,
        applier: Applier,
        *,
        wakeup: Wakeup,
        clock: Clock,
        observer: CallbackObserver | None = None,
        settings: LockedSetSettings | None = None,
        poll_seconds: Callable[[], float] | None = None,
    ) -> None:
        """`settings.limit` holds for the events that are new and for those that wait, each."""
        settings = settings or LockedSetSettings()
        super().__init__(wakeup=wakeup, clock=clock, settings=settings, poll_seconds=poll_seconds)
        self._db = db
        self._applier = applier
        self._clock = clock
        self._observer = observer or CallbackObserver()
        self._limit = settings.limit

    async def turn(self) -> SetTurn:
        """Apply one set."""
        now = self._clock.now()
        async with self._db.worker(claims=True) as tx:
            claimed = await store.claim_events(
                tx,
                now=now,
                since=now - OLDEST_ATTEMPT,
                oldest_attempt=now - OLDEST_ATTEMPT,
                limit=self._limit,
            )
            if not claimed:
                next_at = await store.next_late(tx, since=now - OLDEST_ATTEMPT)
                self._observer.waiting(0.0)
                return self.sleep_until(next_at)
            correlated = [(event, event.found) for event in claimed if event.found is not None]
            failed = await self._applier.apply(correlated, now=now)
            applied = [(event, found) for event, found in correlated if event.id not in failed]
            waiting = [_waiting(event, now) for event in claimed if event.found is None or event.id in failed]
            if applied:
                await store.mark_applied(tx, applied, now=now)
            if waiting:
                await store.mark_waiting(tx, waiting, now=now)
            dead = [one.event for one in waiting if one.next_at is None]
            ended = {(e.request_id, e.received_at) for e in (*(event for event, _ in applied), *dead)}
            if ended:
                await store.settle_requests(tx, sorted(ended), now=now)
        self._tell(claimed, len(applied), len(waiting) - len(dead), len(dead), now)
        return SetTurn(done=len(applied), again=len(waiting) - len(dead), dead=len(dead))

    def failed(self, error: TidingsError, seconds: float) -> None:
        """Count it, and say when it is tried again."""
        self._observer.failed("callbacks")
        _log.warning("callbacks_not_applied", retry_seconds=seconds, **why(error))

    def _tell(
        self, claimed: Sequence[ClaimedEvent], applied: int, late: int, dead: int, now: datetime
    ) -> None:
        fresh = [event.received_at for event in claimed if event.fresh]
        self._observer.waiting((now - min(fresh)).total_seconds() if fresh else 0.0)
        if applied:
            oldest = min(event.received_at for event in claimed if event.found is not None)
            self._observer.applied(applied, (now - oldest).total_seconds())
        if late:
            self._observer.late(late)
        if dead:
            self._observer.died(dead)
            _log.warning("callbacks_dead", count=dead)


def _waiting(event: ClaimedEvent, now: datetime) -> UncorrelatedEvent:
    pause = CORRELATION_RETRY.next_delay(event.looks + 1)
    return UncorrelatedEvent(event=event, next_at=None if pause is None else now + pause)
