"""Records transitions: attempts, the new state, the end and the outcome event of a set of whatever tenants, in one statement.

Answers that come in at about the same time, from different calls and of whatever tenants, share a transaction (group commit):
while one is under way those that come wait and form the next; one that comes alone does not wait.

It only records. What follows from events is decided by the state machine, where the events come in: `advance.py`, `call.py`
and, after a conflict, `commit.py`. The statement writes nothing of an execution with a lost claim, or with a version that is
newer than the one that was read (the version check of an optimistic lock): that is a conflict.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias, TypeVar

from tidings.contracts.delivery import DeliveryResult, OutcomeSettler
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx, TenantTx
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.errors import (
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    PartitionMissingError,
)
from tidings.kernel.gather import Gatherer
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.router.executions import store
from tidings.router.executions.answer_journal import AnswerJournal
from tidings.router.executions.bill import spent_in
from tidings.router.executions.columns import columns_of, outcomes_of
from tidings.router.executions.learning import observations_of
from tidings.router.executions.model import (
    ExecutionChange,
    ExecutionClaim,
    ExecutionId,
    ExecutionObserver,
    moment,
)
from tidings.router.executions.sent_message import SentMessage
from tidings.router.executions.settle import NotSettledError, Settling
from tidings.router.profiles.store import learn
from tidings.router.spend import record_spend as spend
from tidings.router.spend.model import SpendEntry
from tidings.router.state_machine.model import NOT_IN_TIME, VendorAnswered

T = TypeVar("T")

_log = get_logger("executions")
#: What could not be written is due again after this.
_DUE_AGAIN: Final = timedelta(seconds=5)
#: How long an answer that was learned is kept while the database is away.
_ANSWER_KEPT_SECONDS: Final = 600.0
#: Sets of callers that share a transaction at most; what waits is bounded by what this worker has claimed.
_MOST_SETS: Final = 50
_MOST_WAITING: Final = 100_000
#: The same set will be written some day, as it is; a missing partition is made by an operator, or by the job.
DATABASE_AWAY: Final = (DatabaseUnavailableError, DatabaseBusyError, PartitionMissingError)


#: Is given messages that were accepted and can be answered, in the transaction that writes them.
NoteSent: TypeAlias = Callable[[TenantTx, Sequence[SentMessage], datetime], Awaitable[None]]


class _Lane(NamedTuple):
    """Whose changes share a transaction."""

    worker: str
    #: None: of all tenants.
    tenant_id: TenantId | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a set; a change that the database refuses is in neither: its claim was released."""

    written: list[ExecutionChange]
    #: Their claim was lost, or their execution has another version by now.
    conflicts: list[ExecutionChange]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recorder:
    """Writes sets of changes: those with a claim and a version that still hold."""

    db: Database
    _: KW_ONLY
    clock: Clock
    due_timer: DueTimer
    observer: ExecutionObserver
    #: Is given messages that people can answer.
    note_sent: NoteSent
    #: Settles notifications along with their outcomes; None where notify is not in this process.
    settler: OutcomeSettler | None = None
    #: Is told of answers that the database does not take.
    journal: AnswerJournal | None = None
    #: Which of the counts of a day this worker adds to.
    stripe: int = 0
    _gatherer: Gatherer[_Lane, Sequence[ExecutionChange], set[ExecutionId]] = field(init=False)

    def __post_init__(self) -> None:
        gatherer = Gatherer(self._write_sets, most_at_once=_MOST_SETS, most_waiting=_MOST_WAITING)
        object.__setattr__(self, "_gatherer", gatherer)

    async def close(self) -> None:
        """Cut off what is being written although its callers are gone."""
        await self._gatherer.close()

    async def record(
        self, worker: str, changes: Sequence[ExecutionChange], *, apart: bool = False
    ) -> Recorded:
        """Write a set. Where one of them can't be written, the others are, and its claim is released.

        `apart`: a set of one tenant waits for its own locks at once, after a set of several met a lock.
        """
        if not changes:
            return Recorded([], [])
        # In one order with the writers of receipts: no deadlock.
        changes = sorted(changes, key=lambda change: change.execution.claim)
        if parts := self._held_up(worker, changes):
            return _joined(await asyncio.gather(*(self.record(worker, some) for some in parts)))
        try:
            kept = await self._write(worker, changes, apart=apart)
        except DATABASE_AWAY as error:
            if isinstance(error, DatabaseBusyError) and (parts := _by_tenant(changes)):
                # A row of some tenant is locked: the others don't wait for it.
                return _joined(
                    await asyncio.gather(*(self.record(worker, some, apart=True) for some in parts))
                )
            await self.give_back(worker, changes)
            return Recorded([], [])
        except DatabaseError as error:
            self.observer.failed("record")
            _log.error("outcomes_not_recorded", count=len(changes), error=str(error))
            if len(changes) == 1:
                if self.journal is not None:
                    # Else it would be recovered, and refused, again and again.
                    self.journal.refused(_answered(changes[0]))
                await self.give_back(worker, changes)
                return Recorded([], [])
            # One of them is to blame; the others must not share its fate.
            middle = len(changes) // 2
            halves = changes[:middle], changes[middle:]
            return _joined([await self.record(worker, half, apart=apart) for half in halves])
        written = [change for change in changes if change.execution.id in kept]
        self._tell(written)
        return Recorded(written, [change for change in changes if change.execution.id not in kept])

    async def give_back(self, worker: str, changes: Sequence[ExecutionChange]) -> None:
        """Release the claims; the executions are due again in a moment."""
        claims = [change.execution.claim for change in changes]
        await give_back(self.db, claims, worker=worker, due_at=self.clock.now() + _DUE_AGAIN)

    async def retried(self, do: Callable[[], Awaitable[T]], *, but: type[DatabaseError] | None = None) -> T:
        """Retry with backoff while the database is away: an answer that was learned is not forgotten. Not after a `but`."""
        give_up_at = self.clock.monotonic() + _ANSWER_KEPT_SECONDS
        backoff = Backoff(first=0.05, longest=2.0)
        while True:
            try:
                return await do()
            except DATABASE_AWAY as error:
                if but is not None and isinstance(error, but):
                    raise
                self.observer.failed("record")
                if self.clock.monotonic() >= give_up_at:
                    raise
                await self.clock.sleep(backoff.after_failure())

    async def _write(
        self, worker: str, changes: Sequence[ExecutionChange], *, apart: bool = False
    ) -> set[ExecutionId]:
        """Write a set together with what others write at this moment; those that were written."""
        tenants = {change.execution.tenant_id for change in changes}
        alone = _Lane(worker, *tenants) if len(tenants) == 1 else None

        async def write() -> set[ExecutionId]:
            if alone is not None and (apart or self._gatherer.works_on(alone)):
                return await self._gatherer.do(alone, changes)
            try:
                return await self._gatherer.do(_Lane(worker), changes)
            except DatabaseBusyError:
                if alone is None:
                    raise
                # A row of some tenant is locked: this tenant's changes wait for their own locks only.
                return await self._gatherer.do(alone, changes)

        # A commit without an answer may have succeeded: then the version check lets nothing pass twice. A set of several
        # tenants does not wait for a lock of one of them.
        return await self.retried(write, but=DatabaseBusyError if alone is None else None)

    async def _write_sets(
        self, lane: _Lane, sets: Sequence[Sequence[ExecutionChange]]
    ) -> list[set[ExecutionId]]:
        """Write the sets of several callers in one transaction; for each, those that were written."""
        changes = sorted(
            (change for some in sets for change in some), key=lambda change: change.execution.claim
        )
        try:
            kept = await self._write_together(lane, changes, self.settler)
        except NotSettledError as error:
            # What the vendors have answered must not wait for notify: its consumer settles them, each on its own.
            self.observer.failed("settle")
            cause = why(error.__cause__ or error)
            _log.warning("outcomes_not_settled_with_record", count=len(changes), **cause)
            kept = await self._write_together(lane, changes, None)
        return [{change.execution.id for change in some} & kept for some in sets]

    async def _write_together(
        self, lane: _Lane, changes: Sequence[ExecutionChange], settler: OutcomeSettler | None
    ) -> set[ExecutionId]:
        now = moment(self.clock)
        outcomes = outcomes_of(changes, now=now)
        settling = Settling.of(settler, outcomes)
        columns = columns_of(changes, outcomes, settling.applied_by, now=now)
        tenants = {change.execution.tenant_id for change in changes}
        # Sets of other tenants wait behind one in the lane of all.
        briefly = lane.tenant_id is None
        async with self.db.tenants(tenants, by_index=True, briefly=briefly, pipelined=True) as tx:
            kept = await store.record_transitions(tx, columns, worker=lane.worker, now=now)
            done = [change for change in changes if change.execution.id in kept]
            await settling.settle(tx, [change for change in done if kept[change.execution.id]])
            await self._follow(tx, done, now)
        return set(kept)

    def _held_up(self, worker: str, changes: Sequence[ExecutionChange]) -> list[list[ExecutionChange]]:
        """Where a tenant's changes wait for a lock: its next ones join them, and the others go on without it."""
        by_tenant = _by_tenant(changes)
        held = [some for some in by_tenant if self._gatherer.works_on(_lane_of(worker, some))]
        if not held:
            return []
        free = [change for some in by_tenant if some not in held for change in some]
        return [*held, free] if free else held

    async def _follow(self, tx: TenantsTx, done: Sequence[ExecutionChange], now: datetime) -> None:
        """What goes with transitions that were written, in their transaction: clock events, profiles, conversations, costs."""
        late = [(change.execution.claim, attempt.id) for change in done for attempt in change.transition.late]
        if late:
            await store.note_clock_events(tx, late, status="timed_out", reason=NOT_IN_TIME, now=now)
        spent: dict[TenantId, list[SpendEntry]] = {}
        for tenant_id, some in groupby(done, key=lambda change: change.execution.tenant_id):
            of_tenant = list(some)
            if learned := observations_of(of_tenant, now=now):
                await learn(tx.of(tenant_id), learned, now=now)
            if turns := [turn for change in of_tenant for turn in change.answerable]:
                await self.note_sent(tx.of(tenant_id), turns, now)
            if entries := spent_in(of_tenant):
                spent[tenant_id] = entries
        # Last: another worker that adds to the same day at the same time waits for our commit.
        await spend.add_of_all(tx, spent, stripe=self.stripe)

    def _tell(self, changes: Sequence[ExecutionChange]) -> None:
        ends: Counter[DeliveryResult] = Counter()
        for change in changes:
            if change.transition.end is not None:
                ends[change.transition.end.result] += 1
            elif not change.keep:
                self.due_timer.expect(
                    self.clock.now()
                    if change.transition.ask
                    else change.transition.due_at or self.clock.now()
                )
        for result, count in ends.items():
            self.observer.ended(result, count)


def _answered(change: ExecutionChange) -> list[str]:
    """The attempts that it has answers to."""
    return [
        event.attempt_id
        for event in change.events
        if isinstance(event, VendorAnswered) and event.attempt_id is not None
    ]


def _lane_of(worker: str, changes: Sequence[ExecutionChange]) -> _Lane:
    return _Lane(worker, changes[0].execution.tenant_id)


def _by_tenant(changes: Sequence[ExecutionChange]) -> list[list[ExecutionChange]]:
    """The changes of each tenant; none where there is one tenant only."""
    found = [list(some) for _, some in groupby(changes, key=lambda change: change.execution.tenant_id)]
    return found if len(found) > 1 else []


def _joined(parts: Sequence[Recorded]) -> Recorded:
    return Recorded(
        [change for part in parts for change in part.written],
        [change for part in parts for change in part.conflicts],
    )


async def give_back(db: Database, claims: Sequence[ExecutionClaim], *, worker: str, due_at: datetime) -> None:
    """Release claims, due at that moment; where even that fails they are freed when this worker is gone."""
    try:
        async with db.worker() as tx:
            await store.release_claims(tx, claims, worker=worker, due_at=due_at)
    except DatabaseError as error:
        _log.error("claims_not_given_back", count=len(claims), error=str(error))
