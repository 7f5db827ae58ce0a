"""Writes what became of a set; an answer that was learned is not forgotten because the database is away."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias, TypeVar

from msgspec.structs import replace

from tidings.contracts.delivery import DeliveryResult
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.errors import (
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    PartitionMissingError,
)
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.router.conversations.sent import SentTurn
from tidings.router.executions import load, store
from tidings.router.executions.bill import spent_in
from tidings.router.executions.columns import columns_of
from tidings.router.executions.learning import observations_of
from tidings.router.executions.model import (
    ClaimedExecution,
    ExecutionChange,
    ExecutionId,
    ExecutionObserver,
    moment,
)
from tidings.router.executions.store import ExecutionClaim
from tidings.router.profiles.store import learn
from tidings.router.spend import add as spend
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import (
    NOT_IN_TIME,
    CallSkipped,
    ExecutionEvent,
    ExecutionState,
    Transition,
    VendorAnswered,
    WorkerDied,
)

T = TypeVar("T")

_log = get_logger("executions")
#: What could not be written is looked at again after this.
_LOOK_AGAIN = timedelta(seconds=5)
#: The same set will be written some day, as it is; a missing partition is made by an operator, or by the job.
_NOBODYS_FAULT: Final = (DatabaseUnavailableError, DatabaseBusyError, PartitionMissingError)
#: Receipts that come while we write make us read and decide anew; so often at most before others get a go at it.
_MOST_NEWS = 20


#: Hears of messages that were taken and can be answered, in the transaction that writes it.
NoteSent: TypeAlias = Callable[[TenantTx, Sequence[SentTurn], datetime], Awaitable[None]]


class Recorder:
    """Writes notes. Nobody who lost a claim writes anything; whoever has not heard the news hears it and decides anew."""

    def __init__(
        self,
        db: Database,
        *,
        ladder: ExecutionStateMachine,
        clock: Clock,
        jitter: Callable[[], float],
        due_timer: DueTimer,
        observer: ExecutionObserver,
        note_sent: NoteSent,
        stripe: int = 0,
        patience: timedelta = timedelta(minutes=10),
    ) -> None:
        """`note_sent` hears of messages that people can answer. `stripe`: which of the counts of a day this worker adds to. `patience`: how long an answer that was learned is kept while the database is away."""
        self.db = db
        self._ladder = ladder
        self._clock = clock
        self._jitter = jitter
        self._due_timer = due_timer
        self._observer = observer
        self._note_sent = note_sent
        self._stripe = stripe
        self._patience = patience.total_seconds()

    def after(self, execution: ClaimedExecution, events: Sequence[ExecutionEvent] = ()) -> ExecutionChange:
        """What follows from what happened to a ladder."""
        transition = self._ladder.transition(
            execution.state, events, now=self._clock.now(), jitter=self._jitter()
        )
        return ExecutionChange(execution=execution, transition=transition, events=tuple(events))

    def further(self, change: ExecutionChange, events: Sequence[ExecutionEvent]) -> ExecutionChange:
        """What follows when more happens before the note is written."""
        if not events:
            return change
        first = change.transition
        then = self._ladder.transition(first.state, events, now=self._clock.now(), jitter=self._jitter())
        transition = Transition(
            state=then.state,
            end=then.end,
            ask=then.ask,
            due_at=then.due_at,
            new_attempts=(*first.new_attempts, *then.new_attempts),
            late=(*first.late, *then.late),
            needless=then.needless,
            learned=(*first.learned, *then.learned),
        )
        return ExecutionChange(
            execution=change.execution,
            transition=transition,
            events=(*change.events, *events),
            answerable=change.answerable,
        )

    async def record(
        self, tenant_id: TenantId, worker: str, changes: Sequence[ExecutionChange]
    ) -> dict[ExecutionId, ExecutionChange]:
        """Write a set; what was written of each, which may be another turn than was given. Those lost are left out.

        Where one of them can't be written, the others are, and it is given back.
        """
        written: dict[ExecutionId, ExecutionChange] = {}
        for _ in range(_MOST_NEWS):
            if not changes:
                return written
            # In one order with whoever brings receipts: nobody waits in a circle.
            changes = sorted(changes, key=lambda change: change.execution.id)
            try:
                kept = await self._write(tenant_id, worker, changes, moment(self._clock))
            except _NOBODYS_FAULT:
                break
            except DatabaseError as error:
                self._observer.failed("record")
                _log.error("outcomes_not_recorded", tenant_id=tenant_id, count=len(changes), error=str(error))
                if len(changes) == 1:
                    break
                # One of them is to blame; the others must not share its fate.
                middle = len(changes) // 2
                for half in (changes[:middle], changes[middle:]):
                    written.update(await self.record(tenant_id, worker, half))
                return written
            done = [change for change in changes if change.execution.id in kept]
            self._tell(done)
            written.update({change.execution.id: change for change in done})
            missed = [change for change in changes if change.execution.id not in kept]
            if not missed:
                return written
            try:
                changes, marked = await self._again(tenant_id, worker, missed)
            except _NOBODYS_FAULT:
                changes = missed
                break
            written.update(marked)
        await self._give_back(tenant_id, worker, changes)
        return written

    async def _again(
        self, tenant_id: TenantId, worker: str, missed: Sequence[ExecutionChange]
    ) -> tuple[list[ExecutionChange], dict[ExecutionId, ExecutionChange]]:
        """The same happenings with the news that came between, and those that had been written after all.

        What is not ours any more is left out.
        """
        by_id = {change.execution.id: change for change in missed}
        fresh = await self._patiently(
            lambda: load.with_receipts(self.db, tenant_id, list(by_id), worker=worker)
        )
        marked: dict[ExecutionId, ExecutionChange] = {}
        found: list[ExecutionChange] = []
        for execution, heard in fresh:
            before = by_id[execution.id]
            if before.keep and _calls(execution.state) >= _calls(before.transition.state):
                # The answer to the commit was lost: our calls are noted, and still to be made.
                marked[execution.id] = replace(
                    before, execution=replace(before.execution, version=execution.version - 1)
                )
                continue
            if not _the_same_calls(before, execution):
                # The answer to the commit was lost, and since then it was taken up again: that is another's to write.
                continue
            # The news first: they were there before we wrote.
            again = self.after(execution, (*heard, *before.events))
            found.append(replace(again, currency=before.currency, answerable=before.answerable))
        gone = len(missed) - len(found) - len(marked)
        if gone:
            self._observer.lost(gone)
            _log.warning("claims_lost", count=gone)
        return found, marked

    async def _write(
        self, tenant_id: TenantId, worker: str, changes: Sequence[ExecutionChange], now: datetime
    ) -> set[ExecutionId]:
        columns = columns_of(tenant_id, changes, now=now)
        late = [(change.execution.id, attempt.id) for change in changes for attempt in change.transition.late]

        async def write() -> set[ExecutionId]:
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                kept = await store.record_transitions(tx, columns, worker=worker, now=now)
                if late and (given_up := [one for one in late if one[0] in kept]):
                    await store.note_clock_events(
                        tx, given_up, status="timed_out", reason=NOT_IN_TIME, now=now
                    )
                done = [change for change in changes if change.execution.id in kept]
                learned = observations_of(done, now=now)
                if learned:
                    await learn(tx, learned, now=now)
                if turns := [transition for change in done for transition in change.answerable]:
                    await self._note_sent(tx, turns, now)
                # Last: whoever adds to the same day at the same time waits for our commit.
                await spend.add(tx, spent_in(done), stripe=self._stripe)
                return kept

        # A commit whose answer was lost may have been one: then the fence lets nothing pass twice.
        return await self._patiently(write)

    async def _patiently(self, do: Callable[[], Awaitable[T]]) -> T:
        """Again and again while the database is away: an answer that was learned is not forgotten."""
        give_up_at = self._clock.monotonic() + self._patience
        backoff = Backoff(first=0.05, longest=2.0)
        while True:
            try:
                return await do()
            except _NOBODYS_FAULT:
                self._observer.failed("record")
                if self._clock.monotonic() >= give_up_at:
                    raise
                await self._clock.sleep(backoff.after_failure())

    async def _give_back(self, tenant_id: TenantId, worker: str, changes: Sequence[ExecutionChange]) -> None:
        claims = [ExecutionClaim(tenant_id, change.execution.id) for change in changes]
        await give_back(self.db, claims, worker=worker, due_at=self._clock.now() + _LOOK_AGAIN)

    def _tell(self, changes: Sequence[ExecutionChange]) -> None:
        ends: Counter[DeliveryResult] = Counter()
        for change in changes:
            if change.transition.end is not None:
                ends[change.transition.end.result] += 1
            elif not change.keep:
                self._due_timer.expect(
                    self._clock.now()
                    if change.transition.ask
                    else change.transition.due_at or self._clock.now()
                )
        for result, count in ends.items():
            self._observer.ended(result, count)


def _the_same_calls(before: ExecutionChange, execution: ClaimedExecution) -> bool:
    """Whether the calls under way are those that the note is about."""
    about = {
        one.attempt_id
        for one in before.events
        if isinstance(one, VendorAnswered | CallSkipped | WorkerDied) and one.attempt_id is not None
    }
    under_way = _calls(execution.state)
    return under_way <= _calls(before.execution.state) | about and (not about or bool(about & under_way))


def _calls(state: ExecutionState) -> set[str]:
    return {active.open_attempt.id for active in state.active_steps if active.open_attempt is not None}


async def give_back(db: Database, claims: Sequence[ExecutionClaim], *, worker: str, due_at: datetime) -> None:
    """Let others look at them at that moment; where even that fails they are free when this worker is gone."""
    try:
        async with db.worker() as tx:
            await store.release_claims(tx, claims, worker=worker, due_at=due_at)
    except DatabaseError as error:
        _log.error("claims_not_given_back", count=len(claims), error=str(error))
