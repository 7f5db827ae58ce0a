"""Commits transitions under an optimistic lock, with retry.

A transition is recorded only if the execution still has the version that was read (the version check in `record.py`).
Where a receipt came in between, the check fails: the execution is loaded again, the state machine decides again from what
is stored now, and the new transition is recorded.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final

from msgspec.structs import replace

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.logs import get_logger
from tidings.router.executions import load
from tidings.router.executions.model import ClaimedExecution, ExecutionChange, ExecutionId, ExecutionObserver
from tidings.router.executions.record import DATABASE_AWAY, Recorder
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import CallSkipped, ExecutionState, VendorAnswered, WorkerDied

_log = get_logger("executions")
#: Conflicts in a row after which the claim is released, so that others get a go at it.
_MAX_CONFLICTS: Final = 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransitionCommitter:
    """Records transitions, and decides again where the version check fails."""

    db: Database
    recorder: Recorder
    _: KW_ONLY
    machine: ExecutionStateMachine
    clock: Clock
    jitter: RandomUnit
    observer: ExecutionObserver

    async def commit(
        self, worker: str, changes: Sequence[ExecutionChange]
    ) -> dict[ExecutionId, ExecutionChange]:
        """What was written of each, which may be another transition than was given. Executions with a lost claim are left out."""
        written: dict[ExecutionId, ExecutionChange] = {}
        for _ in range(_MAX_CONFLICTS):
            recorded = await self.recorder.record(worker, changes)
            written.update({change.execution.id: change for change in recorded.written})
            changes = recorded.conflicts
            if not changes:
                return written
            try:
                changes, noted = await self._decide_again(worker, changes)
            except DATABASE_AWAY:
                break
            written.update(noted)
            if not changes:
                return written
        await self.recorder.give_back(worker, changes)
        return written

    async def _decide_again(
        self, worker: str, conflicts: Sequence[ExecutionChange]
    ) -> tuple[list[ExecutionChange], dict[ExecutionId, ExecutionChange]]:
        """The same events with the receipts that came between; and those changes that had been written after all.

        Executions with a lost claim are left out.
        """
        by_id = {change.execution.id: change for change in conflicts}
        claims = [change.execution.claim for change in conflicts]
        loaded = await self.recorder.retried(lambda: load.with_receipts(self.db, claims, worker=worker))
        noted: dict[ExecutionId, ExecutionChange] = {}
        decided: list[ExecutionChange] = []
        for execution, receipts in loaded:
            before = by_id[execution.id]
            if before.keep and _open_ids(execution.state) >= _open_ids(before.transition.state):
                # The answer to the commit was lost: our attempts are stored as open, and still to be made.
                noted[execution.id] = replace(
                    before, execution=replace(before.execution, version=execution.version - 1)
                )
                continue
            if not _has_the_same_attempts(before, execution):
                # The answer to the commit was lost, and since then it was claimed again: another worker writes it.
                continue
            # The receipts first: they were there before we wrote. Those about an attempt that these events end, after them.
            opened = _open_ids(execution.state)
            about_ours = (receipt for receipt in receipts if receipt.attempt_id in opened)
            events = (*receipts, *before.events, *about_ours)
            transition = self.machine.transition(
                execution.state, events, now=self.clock.now(), jitter=self.jitter()
            )
            decided.append(
                ExecutionChange(
                    execution=execution,
                    transition=transition,
                    events=events,
                    currency=before.currency,
                    answerable=before.answerable,
                )
            )
        lost = len(conflicts) - len(decided) - len(noted)
        if lost:
            self.observer.lost(lost)
            _log.warning("claims_lost", count=lost)
        return decided, noted


def _has_the_same_attempts(before: ExecutionChange, execution: ClaimedExecution) -> bool:
    """Whether the open attempts are those that the change is about."""
    about = {
        event.attempt_id
        for event in before.events
        if isinstance(event, VendorAnswered | CallSkipped | WorkerDied) and event.attempt_id is not None
    }
    opened = _open_ids(execution.state)
    return opened <= _open_ids(before.execution.state) | about and (not about or bool(about & opened))


def _open_ids(state: ExecutionState) -> set[str]:
    return {active.open_attempt.id for active in state.active_steps if active.open_attempt is not None}
