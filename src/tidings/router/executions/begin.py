"""The use case "notify hands a set over": its ladders, frozen and written in notify's transaction."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import structs

from tidings.contracts.delivery import Begin
from tidings.kernel.db import TenantTx
from tidings.router.executions import store
from tidings.router.executions.model import (
    EXECUTION,
    Begun,
    ClaimedExecution,
    OutgoingExecution,
    ReservedAttempt,
)
from tidings.router.executions.plan import Plan
from tidings.router.executions.snapshot import frozen_text, state_text
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import ATTEMPT, VENDOR_LIMIT
from tidings.router.state_machine.waits import waiting


async def begin(
    tx: TenantTx, begins: Sequence[Begin], *, ladder: ExecutionStateMachine, worker: str, now: datetime
) -> Begun:
    """One ladder each. What can be sent is in our hands, and its call is noted, when the transaction commits."""
    plans = [_plan(one) for one in begins]
    # Booked a moment ago: a call is never older than its ladder.
    calls_of = [
        structs.replace(one.booked, attempt_id=ATTEMPT.new(now))
        if isinstance(one.booked, ReservedAttempt)
        else None
        for one in begins
    ]
    executions = [
        _live(one, plan, booked, ladder, now)
        for one, plan, booked in zip(begins, plans, calls_of, strict=True)
    ]
    fresh = await store.begin_executions(tx, _columns(begins, plans, executions), worker=worker, now=now)
    calls: list[OutgoingExecution] = []
    without_steps: list[ClaimedExecution] = []
    waiting: list[datetime] = []
    for one, booked, execution in zip(begins, calls_of, executions, strict=True):
        if execution.id not in fresh:
            continue
        if not execution.state.steps:
            without_steps.append(execution)
        elif booked is not None:
            calls.append(OutgoingExecution(execution=execution, calls=(booked,)))
        else:
            waiting.append(one.not_before or now)
    return Begun(
        tenant_id=tx.tenant_id,
        worker=worker,
        calls=calls,
        without_steps=without_steps,
        waits_until=min(waiting, default=None),
    )


def _plan(one: Begin) -> Plan:
    if not isinstance(one.plan, Plan):
        raise TypeError("begin takes what plan gave")
    return one.plan


def _live(
    one: Begin, plan: Plan, booked: ReservedAttempt | None, ladder: ExecutionStateMachine, now: datetime
) -> ClaimedExecution:
    hand_off = one.hand_off
    state = ladder.start(
        plan.frozen.steps,
        use_case=hand_off.use_case,
        expires_at=hand_off.expires_at,
        strategy=plan.strategy,
        now=now,
        cap=plan.cap,
    )
    currency = plan.currency
    if one.not_before is not None:
        # Nothing but the account's limit puts a hand-over off.
        first, *others = state.active_steps
        held = waiting(first, VENDOR_LIMIT, now=now, until=one.not_before)
        state = structs.replace(state, active_steps=(held, *others))
    if booked is not None:
        state = ladder.open_attempts(state, {booked.step: booked.open_attempt()}, now=now)
        currency = currency or booked.currency
    return ClaimedExecution(
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
    begins: Sequence[Begin], plans: Sequence[Plan], executions: Sequence[ClaimedExecution]
) -> dict[str, list[object]]:
    hand_offs = [one.hand_off for one in begins]
    return {
        "ids": [execution.id for execution in executions],
        "expires_ats": [hand_off.expires_at for hand_off in hand_offs],
        "due_ats": [one.not_before for one in begins],
        "caps": [plan.cap for plan in plans],
        "reserveds": [execution.state.cost_budget.reserved for execution in executions],
        "policy_versions": [plan.policy_version for plan in plans],
        "is_tests": [hand_off.is_test for hand_off in hand_offs],
        "notification_ids": [execution.notification_id for execution in executions],
        "recipient_ids": [execution.recipient_id for execution in executions],
        "use_cases": [hand_off.use_case for hand_off in hand_offs],
        "priorities": [hand_off.priority for hand_off in hand_offs],
        "strategies": [plan.strategy for plan in plans],
        "policy_ids": [plan.policy_id for plan in plans],
        "ladder_snapshots": [frozen_text(plan.frozen) for plan in plans],
        "states": [state_text(execution.state) for execution in executions],
        "currencies": [execution.currency for execution in executions],
        "traceparents": [execution.traceparent for execution in executions],
        # One without steps is ours too: it ends as soon as the hand-off is committed.
        "claimeds": [
            isinstance(one.booked, ReservedAttempt) or not execution.state.steps
            for one, execution in zip(begins, executions, strict=True)
        ],
    }
