"""The use case "these executions are due": the state machine says which steps are, notify prepares them, attempts are stored and made."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

from msgspec.structs import replace

from tidings.contracts.delivery import ReadyStep, StepAsk, StepPreparer
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import SetAnswered
from tidings.kernel.durable.halving import is_of_an_item
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.errors import DatabaseUnavailableError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.tracing import span_of_set, started
from tidings.router.executions import load
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.model import (
    ClaimedExecution,
    ExecutionChange,
    ExecutionClaim,
    ExecutionId,
    ExecutionObserver,
    OutgoingExecution,
    ReservedAttempt,
    moment,
)
from tidings.router.executions.record import give_back
from tidings.router.executions.recover_answers import NOTHING_RECOVERED, AnswerRecovery, RecoveredAnswers
from tidings.router.executions.reserve import AttemptReserver, ReservationRequest
from tidings.router.state_machine.apply_event import worker_died_events
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import ExecutionEvent, StepBarred, Transition

_log = get_logger("executions")
#: What could not be prepared, or not be looked at, is tried again after this.
_LOOK_AGAIN = timedelta(seconds=5)
#: Parts of a set that failed, tried at once.
_PARTS_AT_ONCE = 4


class _NotCommittedError(TidingsError):
    """Transitions could not be committed, and some of them may be: nothing of the set may be repeated."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Advancer:
    """Takes claimed executions one step on, whatever their tenants."""

    db: Database
    caller: VendorCaller
    committer: TransitionCommitter
    preparer: StepPreparer
    reserver: AttemptReserver
    _: KW_ONLY
    machine: ExecutionStateMachine
    jitter: RandomUnit
    clock: Clock
    observer: ExecutionObserver
    #: Without it every attempt that a dead worker left open counts as one with an answer that was never learned.
    recovery: AnswerRecovery | None = None

    async def advance(
        self, worker: str, claims: Sequence[ExecutionClaim], answered: SetAnswered = lambda _count: None
    ) -> None:
        """Whatever goes wrong before a vendor is called, the claims are released. `answered` hears how many are done."""
        calls, over = await self._ready(worker, claims)
        answered(len(claims) - len(calls))
        work: list[Awaitable[None]] = [self.caller.call_off(over)] if over else []
        if calls:
            work.append(self.caller.call(worker, calls, answered=lambda _tenant_id, count: answered(count)))
        # Whatever becomes of one, the other ends before these executions count as claimed by no worker.
        for ended in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended

    async def _ready(
        self, worker: str, claims: Sequence[ExecutionClaim]
    ) -> tuple[list[OutgoingExecution], list[ExecutionChange]]:
        """Those with stored open attempts, and those of the others that are over; what fails is looked for, and fails alone."""
        try:
            return await self._set_ready(worker, claims)
        except Exception as error:  # noqa: BLE001  # whatever it is, the claims must not be kept for nothing
            self.observer.failed("advance")
            parts = _parts(claims, error)
            if not parts:
                cause = error.__cause__ if isinstance(error, _NotCommittedError) else error
                _log.error("steps_not_prepared", count=len(claims), error=type(cause).__name__)
                # Those that were recorded meanwhile are not ours any more, and stay as they are.
                await give_back(self.db, claims, worker=worker, due_at=self.clock.now() + _LOOK_AGAIN)
                return [], []
            _log.warning("steps_prepared_apart", count=len(claims), error=type(error).__name__)
        several = len({part[0].tenant_id for part in parts}) > 1
        turns = asyncio.Semaphore(_PARTS_AT_ONCE if several else 1)

        async def ready(
            part: Sequence[ExecutionClaim],
        ) -> tuple[list[OutgoingExecution], list[ExecutionChange]]:
            async with turns:
                return await self._ready(worker, part)

        done = await asyncio.gather(*map(ready, parts))
        return [one for calls, _ in done for one in calls], [one for _, over in done for one in over]

    async def _set_ready(
        self, worker: str, claims: Sequence[ExecutionClaim]
    ) -> tuple[list[OutgoingExecution], list[ExecutionChange]]:
        """The same of a set, as one; the transitions of all are written."""
        since = started()
        loaded = await load.with_receipts(self.db, claims, worker=worker)
        traceparents = (execution.traceparent for execution, _ in loaded)
        with span_of_set(
            "ladders",
            "ladders advance",
            traceparents,
            since=since,
            tenant_ids=sorted({claim.tenant_id for claim in claims}),
            execution_ids=[claim.id for claim in claims],
        ):
            return await self._committed(worker, loaded)

    async def _committed(
        self,
        worker: str,
        loaded: Sequence[tuple[ClaimedExecution, Sequence[ExecutionEvent]]],
    ) -> tuple[list[OutgoingExecution], list[ExecutionChange]]:
        recovered: Mapping[ExecutionId, RecoveredAnswers] = {}
        if self.recovery is not None:
            recovered = await self.recovery.recover([execution for execution, _ in loaded])
        asking, changes = self._decided(loaded, recovered)
        calls: dict[ExecutionId, tuple[ReservedAttempt, ...]] = {}
        if asking:
            more, calls = await self._prepared(asking)
            changes += more
        try:
            written = await self.committer.commit(worker, changes)
        except Exception as error:
            raise _NotCommittedError from error
        going = [
            OutgoingExecution(execution=_as_written(change), attempts=calls[id_])
            for id_, change in written.items()
            if change.keep and id_ in calls
        ]
        return going, [change for change in written.values() if change.transition.needless]

    def _decided(
        self,
        loaded: Sequence[tuple[ClaimedExecution, Sequence[ExecutionEvent]]],
        recovered: Mapping[ExecutionId, RecoveredAnswers],
    ) -> tuple[list[ExecutionChange], list[ExecutionChange]]:
        """What the state machine decides: changes with steps to prepare, and the others."""
        asking: list[ExecutionChange] = []
        changes: list[ExecutionChange] = []
        for execution, receipts in loaded:
            answers = recovered.get(execution.id, NOTHING_RECOVERED)
            # The first word about an open attempt counts: where its answer was recovered, that is the answer.
            died = worker_died_events(execution.state.active_steps)
            events = (*answers.events, *died, *receipts)
            transition = self.machine.transition(
                execution.state, events, now=self.clock.now(), jitter=self.jitter()
            )
            change = ExecutionChange(
                execution=execution, transition=transition, events=events, answerable=answers.answerable
            )
            # An attempt with an answer that was never learned is written before another one is made.
            (asking if transition.ask and not died else changes).append(change)
        return asking, changes

    async def _prepared(
        self, asking: Sequence[ExecutionChange]
    ) -> tuple[list[ExecutionChange], dict[ExecutionId, tuple[ReservedAttempt, ...]]]:
        """The changes of all of them, and the attempts of those that are ready."""
        asks = [(change, step) for change in asking for step in change.transition.ask]
        prepared = await self.preparer.prepare(
            [_ask(change.execution, change.transition, step) for change, step in asks]
        )
        ready: list[list[tuple[int, ReadyStep]]] = [[] for _ in asking]
        barred: list[list[ExecutionEvent]] = [[] for _ in asking]
        places = {change.execution.id: place for place, change in enumerate(asking)}
        for (change, step), answer in zip(asks, prepared, strict=True):
            place = places[change.execution.id]
            if isinstance(answer, ReadyStep):
                ready[place].append((step, answer))
            else:
                barred[place].append(StepBarred(step=step, by=answer))
        requests = [
            ReservationRequest(
                tenant_id=change.execution.tenant_id,
                state=change.transition.state,
                ready=some,
                is_test=change.execution.is_test,
                currency=change.execution.currency,
            )
            for change, some in zip(asking, ready, strict=True)
        ]
        reserved = await self.reserver.reserve(requests)
        changes: list[ExecutionChange] = []
        calls: dict[ExecutionId, tuple[ReservedAttempt, ...]] = {}
        for change, found, refused in zip(asking, reserved, barred, strict=True):
            going = tuple(one for one in found if isinstance(one, ReservedAttempt))
            held_back = (*refused, *(one for one in found if not isinstance(one, ReservedAttempt)))
            after, calls[change.execution.id] = self._with_attempts(change, held_back, going)
            changes.append(after)
        return changes, calls

    def _with_attempts(
        self,
        change: ExecutionChange,
        held_back: tuple[ExecutionEvent, ...],
        going: tuple[ReservedAttempt, ...],
    ) -> tuple[ExecutionChange, tuple[ReservedAttempt, ...]]:
        """The change as it is written before the vendors are called, with the attempts that are about to be made; and these."""
        transition = self.machine.further(
            change.transition, held_back, now=self.clock.now(), jitter=self.jitter()
        )
        after = replace(change, transition=transition, events=(*change.events, *held_back))
        # Time has passed since they were asked for: some may be over by now.
        going = tuple(one for one in going if one.step in transition.ask)
        if not going:
            return after, ()
        now = moment(self.clock)
        opened = {attempt.step: attempt.opened() for attempt in going}
        currency = next((held for one in going if (held := one.reservation.currency) is not None), None)
        kept = self.machine.opened(transition, opened, now=now)
        return replace(after, transition=kept, keep=True, currency=currency), going


def _parts(claims: Sequence[ExecutionClaim], error: Exception) -> list[list[ExecutionClaim]]:
    """What to try apart: each tenant, then halves; nothing where attempts may be stored, or no execution is to blame."""
    if isinstance(error, _NotCommittedError | DatabaseUnavailableError):
        return []
    by_tenant: dict[TenantId, list[ExecutionClaim]] = {}
    for claim in claims:
        by_tenant.setdefault(claim.tenant_id, []).append(claim)
    if len(by_tenant) > 1:
        return list(by_tenant.values())
    if len(claims) == 1 or not is_of_an_item(error):
        return []
    middle = len(claims) // 2
    return [list(claims[:middle]), list(claims[middle:])]


def _as_written(change: ExecutionChange) -> ClaimedExecution:
    execution = change.execution
    return replace(
        execution,
        state=change.transition.state,
        version=execution.version + 1,
        currency=execution.currency or change.currency,
    )


def _ask(execution: ClaimedExecution, transition: Transition, step: int) -> StepAsk:
    return StepAsk(
        tenant_id=execution.tenant_id,
        notification_id=execution.notification_id,
        recipient_id=execution.recipient_id,
        step=step,
        channel=transition.state.steps[step - 1].channel,
        taken=sum(
            attempt.step == step and attempt.status == "accepted" for attempt in transition.state.attempts
        ),
    )
