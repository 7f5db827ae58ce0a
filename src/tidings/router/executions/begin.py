"""The use case "notify hands a set over": its ladders, frozen and written in notify's transaction."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import structs

from tidings.contracts.delivery import Begin
from tidings.kernel.db import TenantTx
from tidings.router.executions import store
from tidings.router.executions.model import EXECUTION, Begun, Booked, Called, Live
from tidings.router.executions.plan import Plan
from tidings.router.executions.snapshot import frozen_text, state_text
from tidings.router.ladder.decide import Ladder
from tidings.router.ladder.model import ATTEMPT, VENDOR_LIMIT
from tidings.router.ladder.waits import waiting


async def begin(
    tx: TenantTx, begins: Sequence[Begin], *, ladder: Ladder, worker: str, now: datetime
) -> Begun:
    """One ladder each. What can be sent is in our hands, and its call is noted, when the transaction commits."""
    plans = [_plan(one) for one in begins]
    # Booked a moment ago: a call is never older than its ladder.
    calls_of = [
        structs.replace(one.booked, call_id=ATTEMPT.new(now)) if isinstance(one.booked, Booked) else None
        for one in begins
    ]
    lives = [
        _live(one, plan, booked, ladder, now)
        for one, plan, booked in zip(begins, plans, calls_of, strict=True)
    ]
    fresh = await store.begin_executions(tx, _columns(begins, plans, lives), worker=worker, now=now)
    calls: list[Called] = []
    without_steps: list[Live] = []
    waiting: list[datetime] = []
    for one, booked, live in zip(begins, calls_of, lives, strict=True):
        if live.id not in fresh:
            continue
        if not live.here.steps:
            without_steps.append(live)
        elif booked is not None:
            calls.append(Called(live=live, calls=(booked,)))
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


def _live(one: Begin, plan: Plan, booked: Booked | None, ladder: Ladder, now: datetime) -> Live:
    hand_off = one.hand_off
    here = ladder.start(
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
        first, *others = here.legs
        held = waiting(first, VENDOR_LIMIT, now=now, until=one.not_before)
        here = structs.replace(here, legs=(held, *others))
    if booked is not None:
        here = ladder.called(here, {booked.step: booked.calling()}, now=now)
        currency = currency or booked.currency
    return Live(
        id=EXECUTION.new(now),
        notification_id=hand_off.notification_id,
        recipient_id=hand_off.recipient_id,
        priority=hand_off.priority,
        is_test=hand_off.is_test,
        here=here,
        currency=currency,
        traceparent=hand_off.traceparent,
    )


def _columns(
    begins: Sequence[Begin], plans: Sequence[Plan], lives: Sequence[Live]
) -> dict[str, list[object]]:
    hand_offs = [one.hand_off for one in begins]
    return {
        "ids": [live.id for live in lives],
        "expires_ats": [hand_off.expires_at for hand_off in hand_offs],
        "due_ats": [one.not_before for one in begins],
        "caps": [plan.cap for plan in plans],
        "reserveds": [live.here.purse.reserved for live in lives],
        "policy_versions": [plan.policy_version for plan in plans],
        "is_tests": [hand_off.is_test for hand_off in hand_offs],
        "notification_ids": [live.notification_id for live in lives],
        "recipient_ids": [live.recipient_id for live in lives],
        "use_cases": [hand_off.use_case for hand_off in hand_offs],
        "priorities": [hand_off.priority for hand_off in hand_offs],
        "strategies": [plan.strategy for plan in plans],
        "policy_ids": [plan.policy_id for plan in plans],
        "ladder_snapshots": [frozen_text(plan.frozen) for plan in plans],
        "states": [state_text(live.here) for live in lives],
        "currencies": [live.currency for live in lives],
        "traceparents": [live.traceparent for live in lives],
        # One without steps is ours too: it ends as soon as the hand-off is committed.
        "claimeds": [
            isinstance(one.booked, Booked) or not live.here.steps
            for one, live in zip(begins, lives, strict=True)
        ],
    }
