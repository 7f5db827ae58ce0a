"""The use case "notify hands a set over": its executions are written, in notify's transaction or in one of the router's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from tidings.contracts.delivery import PlannedDelivery
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.mapping import columns
from tidings.router.executions import store
from tidings.router.executions.model import EXECUTION, ClaimedExecution, OutgoingExecution, ReservedAttempt
from tidings.router.executions.snapshot import frozen_text, state_text
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import ATTEMPT, VENDOR_LIMIT, ExecutionState
from tidings.router.state_machine.waits import waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedExecutions:
    """Executions that were written, to be carried out after the commit."""

    #: Who has them in hand.
    worker: str
    #: Those with a first attempt that is reserved, and open.
    outgoing: list[OutgoingExecution]
    #: Those that have no step at all.
    without_steps: list[ClaimedExecution]
    #: When the first of those with a step to be prepared is due; None where there are none.
    due_at: datetime | None


async def start(
    tx: TenantTx | TenantsTx,
    deliveries: Sequence[PlannedDelivery],
    *,
    machine: ExecutionStateMachine,
    worker: str,
    now: datetime,
    last: bool,
) -> StartedExecutions:
    """One execution each. What can be sent is claimed, and its attempt is stored as open, when the transaction commits.

    `last`: it ends with them.
    """
    attempts = [_first_attempt(delivery, now) for delivery in deliveries]
    executions = [
        _execution(delivery, attempt, machine, now)
        for delivery, attempt in zip(deliveries, attempts, strict=True)
    ]
    if last:
        tx.commit_with_next()
    new = await store.begin_executions(tx, _columns(deliveries, executions), worker=worker, now=now)
    outgoing: list[OutgoingExecution] = []
    without_steps: list[ClaimedExecution] = []
    due: list[datetime] = []
    for delivery, attempt, execution in zip(deliveries, attempts, executions, strict=True):
        if execution.id not in new:
            continue
        if not execution.state.steps:
            without_steps.append(execution)
        elif attempt is not None:
            outgoing.append(OutgoingExecution(execution=execution, attempts=(attempt,)))
        else:
            due.append(delivery.not_before or now)
    return StartedExecutions(
        worker=worker,
        outgoing=outgoing,
        without_steps=without_steps,
        due_at=min(due, default=None),
    )


async def begin(
    tx: TenantTx | TenantsTx,
    deliveries: Sequence[PlannedDelivery],
    *,
    machine: ExecutionStateMachine,
    now: datetime,
) -> None:
    """One execution each, in no worker's hands: all are due, and the first worker that looks takes them up."""
    executions = [_execution(delivery, None, machine, now) for delivery in deliveries]
    await store.begin_executions(tx, _columns(deliveries, executions), worker=None, now=now)


def start_state(
    machine: ExecutionStateMachine, delivery: PlannedDelivery, *, now: datetime
) -> ExecutionState:
    """The state that an execution begins in."""
    return machine.start(
        delivery.plan.ladder.steps,
        use_case=delivery.hand_off.use_case,
        expires_at=delivery.hand_off.expires_at,
        strategy=delivery.plan.strategy,
        now=now,
        cap=delivery.plan.cap,
    )


def _first_attempt(delivery: PlannedDelivery, now: datetime) -> ReservedAttempt | None:
    """Its id is made here, although it was reserved a moment ago: an attempt is never older than its execution."""
    if delivery.first is None or delivery.reservation is None:
        return None
    return ReservedAttempt(
        step=1, message=delivery.first.message, attempt_id=ATTEMPT.new(now), reservation=delivery.reservation
    )


def _execution(
    delivery: PlannedDelivery, attempt: ReservedAttempt | None, machine: ExecutionStateMachine, now: datetime
) -> ClaimedExecution:
    hand_off, currency = delivery.hand_off, delivery.plan.currency
    state = start_state(machine, delivery, now=now)
    if delivery.not_before is not None:
        # Nothing but a limit of the account, or the pace of a batch, puts a first step off.
        first, *others = state.active_steps
        held = waiting(first, delivery.waits_for or VENDOR_LIMIT, now=now, until=delivery.not_before)
        state = replace(state, active_steps=(held, *others))
    if attempt is not None:
        state = machine.open_attempts(state, {attempt.step: attempt.opened()}, now=now)
        currency = currency or attempt.reservation.currency
    return ClaimedExecution(
        tenant_id=hand_off.tenant_id,
        id=EXECUTION.new(now),
        notification_id=hand_off.notification_id,
        recipient_id=hand_off.recipient_id,
        priority=hand_off.priority,
        is_test=hand_off.is_test,
        state=state,
        currency=currency,
        traceparent=hand_off.traceparent,
    )


def _columns(
    deliveries: Sequence[PlannedDelivery], executions: Sequence[ClaimedExecution]
) -> dict[str, list[object]]:
    return {
        **columns(deliveries, "plan.cap plan.policy_version plan.strategy plan.policy_id"),
        **columns(
            [delivery.hand_off for delivery in deliveries],
            "tenant_id expires_at is_test notification_id recipient_id use_case priority traceparent",
        ),
        **columns(executions, "id currency state.cost_budget.reserved"),
        "due_ats": [delivery.not_before for delivery in deliveries],
        "ladder_snapshots": [frozen_text(delivery.plan.ladder) for delivery in deliveries],
        "states": [state_text(execution.state) for execution in executions],
        # One without steps is claimed too: it ends as soon as the hand-off is committed.
        "claimeds": [
            delivery.reservation is not None or not execution.state.steps
            for delivery, execution in zip(deliveries, executions, strict=True)
        ],
    }
