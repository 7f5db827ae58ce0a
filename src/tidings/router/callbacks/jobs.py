"""What a worker runs: finds the attempts that callbacks are about, and has them told."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup, run_on_wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger, why
from tidings.router.callbacks import store
from tidings.router.callbacks.apply import Applier
from tidings.router.callbacks.model import Observer, Unobserved
from tidings.router.callbacks.retry_policy import CORRELATION_RETRY, OLDEST_ATTEMPT
from tidings.router.callbacks.store import Claimed, Waiting

_log = get_logger("callbacks")
#: Where processes that only take in notify those that apply.
WAKEUP_CHANNEL: Final = "tidings_callbacks"
WAKEUP_PAYLOAD: Final = "queued"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackSettings:
    """How the job paces itself."""

    #: Events taken up at once, of those that are new and of those that wait.
    limit: int = 500
    #: Seconds of the longest sleep where notifications come through.
    longest_sleep: float = 5.0
    #: Seconds of the longest pause while the database, or whoever keeps the keys, does not answer.
    longest_outage_pause: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one look came to."""

    applied: int = 0
    late: int = 0
    dead: int = 0
    #: Seconds that may be slept.
    sleep: float = 0.0


class CallbackJob:
    """Sleeps until it is woken or one that waits is due; any number of processes may run one.

    A set is locked while it is worked on: two workers never have the same event, and what a killed one had is free at
    once. Ladders are told in transactions of their own, and the set is marked after; if that is lost, it is told again,
    and taken once.
    """

    def __init__(
        self,
        db: Database,
        applier: Applier,
        *,
        wakeup: Wakeup,
        clock: Clock,
        observer: Observer | None = None,
        settings: CallbackSettings | None = None,
        poll_seconds: Callable[[], float] | None = None,
    ) -> None:
        """`poll_seconds` says how long may be slept while notifications may be missed."""
        self._db = db
        self._applier = applier
        self._wakeup = wakeup
        self._clock = clock
        self._observer = observer or Unobserved()
        self._settings = settings or CallbackSettings()
        self._poll_seconds = poll_seconds or (lambda: self._settings.longest_sleep)
        self._backoff = Backoff(longest=self._settings.longest_outage_pause)

    async def run(self, stop: asyncio.Event) -> None:
        """Apply what comes until `stop`."""
        await run_on_wakeup(
            self._wakeup, stop, turn=self._take_turn, failed=self._failed, backoff=self._backoff
        )

    async def drain(self) -> int:
        """Apply all that can be applied now; how many events that were."""
        applied = 0
        while True:
            turn = await self.turn()
            applied += turn.applied
            if turn.sleep > 0:
                return applied

    async def turn(self) -> Turn:
        """One set."""
        settings = self._settings
        now = self._clock.now()
        async with self._db.worker(claims=True) as tx:
            claimed = await store.claim_events(
                tx,
                now=now,
                since=now - OLDEST_ATTEMPT,
                oldest_attempt=now - OLDEST_ATTEMPT,
                limit=settings.limit,
            )
            if not claimed:
                next_at = await store.next_late(tx, since=now - OLDEST_ATTEMPT)
                self._observer.waiting(0.0)
                return Turn(sleep=self._until(next_at))
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
        return Turn(applied=len(applied), late=len(waiting) - len(dead), dead=len(dead))

    async def _take_turn(self) -> float:
        return (await self.turn()).sleep

    def _failed(self, error: TidingsError, seconds: float) -> None:
        self._observer.failed("callbacks")
        _log.warning("callbacks_not_applied", retry_seconds=seconds, **why(error))

    def _until(self, next_at: datetime | None) -> float:
        longest = min(self._settings.longest_sleep, self._poll_seconds())
        if next_at is None:
            return longest
        # At least a moment: one that is due and was passed over is in another worker's grasp.
        return min(max((next_at - self._clock.now()).total_seconds(), 0.05), longest)

    def _tell(self, claimed: Sequence[Claimed], applied: int, late: int, dead: int, now: datetime) -> None:
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


def _waiting(event: Claimed, now: datetime) -> Waiting:
    pause = CORRELATION_RETRY.next_delay(event.looks + 1)
    return Waiting(event=event, next_at=None if pause is None else now + pause)
