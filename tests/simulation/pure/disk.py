"""The tiny disk under the pure simulation: one row, written under fences as `store.sql` and `receipts.sql` do it.

Nothing survives between two writes but what is in the row: the ladder goes through its JSON every time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tests.simulation.seen import Outcome, Receipt, Seen, Stamps, Told, Write
from tidings.contracts.ladder import LadderSnapshot
from tidings.router.executions.snapshot import frozen_of, frozen_text, state_of, state_text
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.model import (
    ActiveStep,
    ExecutionState,
    ReceiptReceived,
    Transition,
)


@dataclass(slots=True)
class Row:
    """What `chan.executions_live` has of a ladder."""

    frozen: str
    state: str
    reserved: int
    spent: int
    due_at: datetime
    claimed_by: str | None
    version: int = 1
    receipts: int = 0


@dataclass(frozen=True, slots=True)
class Fences:
    """What keeps one worker from writing over another; a mutation may tear one down."""

    version: bool = True
    claim: bool = True


@dataclass(slots=True)
class Loaded:
    """A ladder in a worker's hands."""

    here: ExecutionState
    version: int
    heard: tuple[ReceiptReceived, ...]
    stamp: int


@dataclass(slots=True)
class Disk:
    """The row, the attempts, the receipts and the outcomes of one execution."""

    seen: Seen
    stamps: Stamps
    fences: Fences = Fences()
    row: Row | None = None
    _said: list[tuple[str, str]] = field(default_factory=list)
    _receipt_ids: set[str] = field(default_factory=set)
    #: The vendor's id of each attempt that was recorded.
    attempts: dict[str, str | None] = field(default_factory=dict)
    _before: Row | None = None

    def begin(self, here: ExecutionState, *, worker: str | None, now: datetime) -> None:
        """The hand-off's transaction."""
        self.row = Row(
            frozen_text(LadderSnapshot(steps=here.steps)),
            state_text(here),
            here.cost_budget.reserved,
            here.cost_budget.spent,
            now,
            worker,
        )
        self._noted(self.row, here.active_steps)

    def load(self, worker: str) -> Loaded | None:
        """What is in this worker's hands, with the news."""
        row = self.row
        if row is None or row.claimed_by != worker:
            return None
        here = self._here(row)
        known = {past.id for past in here.attempts}
        heard = (
            tuple(ReceiptReceived(attempt_id=a, status=s) for a, s in self._said if a in known)
            if row.receipts
            else ()
        )
        return Loaded(here, row.version, heard, self.stamps.next())

    def write(self, loaded: Loaded, turn: Transition, *, worker: str, keep: bool, now: datetime) -> bool:
        """`record_transitions`: False where the claim was lost, or somebody wrote another version first."""
        row = self.row
        if row is None:
            if self.fences.claim or self._before is None:
                return False
            row = self._before
            self.seen.written_after_end += 1
        if self.fences.claim and row.claimed_by != worker:
            return False
        if self.fences.version and row.version != loaded.version:
            return False
        purse = turn.state.cost_budget
        row.reserved, row.spent = purse.reserved, purse.spent
        row.version += 1
        stamp = self._noted(row, () if turn.end is not None else turn.state.active_steps)
        for past in turn.new_attempts:
            self.attempts[past.id] = past.provider_message_id
            self.seen.told.append(
                Told(
                    id=past.id,
                    step=past.step,
                    channel=past.channel,
                    vendor=past.vendor,
                    status=past.status,
                    reason=past.reason,
                    cost=past.cost,
                    stamp=stamp,
                )
            )
        self.seen.given_up |= {past.id for past in turn.late}
        self.seen.learned += [(one.channel, one.delivered) for one in turn.learned]
        if turn.end is None:
            row.state = state_text(turn.state)
            row.due_at = now if turn.ask else turn.due_at or now
            row.claimed_by = row.claimed_by if keep else None
            return True
        end = turn.end
        self.seen.outcomes.append(
            Outcome(
                result=end.result,
                at=now,
                stamp=stamp,
                evidence=end.evidence,
                final_channel=end.final_channel,
                reason=end.reason,
            )
        )
        self.seen.reserved_at_end, self.seen.spent_at_end = purse.reserved, purse.spent
        self.seen.needless = {past.id for past in turn.needless}
        self._before, self.row = row, None
        return True

    def claim(self, worker: str, now: datetime) -> bool:
        """`claim_due`."""
        if self.row is None or self.row.claimed_by is not None or self.row.due_at > now:
            return False
        self.row.claimed_by = worker
        return True

    def free(self, worker: str, now: datetime) -> bool:
        """`free_orphans`, for one that is taken for dead."""
        if self.row is None or self.row.claimed_by != worker:
            return False
        self.row.claimed_by, self.row.due_at = None, now
        return True

    def hear(self, receipt_id: str, attempt_id: str, status: str, now: datetime) -> bool:
        """`apply_receipts`: kept once; whoever has the ladder in hand misses its fence. Whether it was new."""
        if receipt_id in self._receipt_ids:
            return False
        self._receipt_ids.add(receipt_id)
        self._said.append((attempt_id, status))
        row = self.row
        self.seen.receipts.append(
            Receipt(attempt_id=attempt_id, status=status, stamp=self.stamps.next(), live=row is not None)
        )
        if row is not None:
            row.version += 1
            row.receipts += 1
            row.due_at = min(row.due_at, now)
        return True

    def _here(self, row: Row) -> ExecutionState:
        state = state_of(row.state)
        seen = self.seen
        return ExecutionState(
            steps=frozen_of(row.frozen).steps,
            use_case=seen.use_case,
            expires_at=seen.expires_at,
            strategy=seen.strategy,
            active_steps=state.active_steps,
            next=state.next,
            attempts=state.attempts,
            again=state.again,
            cost_budget=CostBudget(cap=seen.cap, reserved=row.reserved, spent=row.spent),
        )

    def _noted(self, row: Row, legs: Sequence[ActiveStep]) -> int:
        stamp = self.stamps.next()
        held = sum(leg.open_attempt.reserved for leg in legs if leg.open_attempt is not None)
        self.seen.writes.append(Write(stamp=stamp, reserved=row.reserved, spent=row.spent, held=held))
        return stamp
