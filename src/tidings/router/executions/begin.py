"""The use case "notify hands a set over": its ladders, frozen and written in notify's transaction."""

from collections.abc import Sequence
from datetime import datetime

from tidings.contracts.delivery import Begin
from tidings.contracts.messages import OutboundMessage
from tidings.kernel.db import TenantTx
from tidings.router.executions import store
from tidings.router.executions.model import ATTEMPT, EXECUTION, Begun, Live
from tidings.router.executions.snapshot import Frozen, freeze
from tidings.router.ladder.decide import Ladder
from tidings.router.ladder.model import Position
from tidings.router.vendors.accounts import Accounts


async def begin(
    tx: TenantTx, begins: Sequence[Begin], *, accounts: Accounts, ladder: Ladder, worker: str, now: datetime
) -> Begun:
    """One ladder each. What can be sent is in our hands, and its call is noted, when the transaction commits."""
    known = await accounts.within(tx)
    frozen = [freeze(one.hand_off.routes, known) for one in begins]
    lives = [_live(one, form, ladder, now) for one, form in zip(begins, frozen, strict=True)]
    fresh = await store.begin_executions(tx, _columns(begins, frozen, lives), worker=worker, now=now)
    calls: list[tuple[Live, OutboundMessage]] = []
    without_steps: list[Live] = []
    some_wait = False
    for one, live in zip(begins, lives, strict=True):
        if live.id not in fresh:
            continue
        if not live.here.steps:
            without_steps.append(live)
        elif one.first is None:
            some_wait = True
        else:
            calls.append((live, one.first.message))
    return Begun(
        tenant_id=tx.tenant_id,
        worker=worker,
        calls=calls,
        without_steps=without_steps,
        some_wait=some_wait,
    )


def _live(one: Begin, form: Frozen, ladder: Ladder, now: datetime) -> Live:
    hand_off = one.hand_off
    called = one.first is not None and bool(form.steps)
    here = Position(steps=form.steps, use_case=hand_off.use_case, expires_at=hand_off.expires_at)
    if called:
        here = Position(
            steps=form.steps,
            use_case=hand_off.use_case,
            expires_at=hand_off.expires_at,
            tries=1,
            step_deadline_at=ladder.step_deadline(here, now=now),
        )
    return Live(
        id=EXECUTION.new(now),
        notification_id=hand_off.notification_id,
        recipient_id=hand_off.recipient_id,
        is_test=hand_off.is_test,
        here=here,
        attempt_id=ATTEMPT.new(now) if called else None,
        attempt_started_at=now if called else None,
    )


def _columns(
    begins: Sequence[Begin], frozen: Sequence[Frozen], lives: Sequence[Live]
) -> dict[str, list[object]]:
    hand_offs = [one.hand_off for one in begins]
    return {
        "ids": [live.id for live in lives],
        "expires_ats": [hand_off.expires_at for hand_off in hand_offs],
        "step_deadline_ats": [live.here.step_deadline_at for live in lives],
        "is_tests": [hand_off.is_test for hand_off in hand_offs],
        "notification_ids": [live.notification_id for live in lives],
        "recipient_ids": [live.recipient_id for live in lives],
        "use_cases": [hand_off.use_case for hand_off in hand_offs],
        "priorities": [hand_off.priority for hand_off in hand_offs],
        "strategies": [form.strategy for form in frozen],
        "ladder_snapshots": [form.text for form in frozen],
        "attempt_ids": [live.attempt_id for live in lives],
        # One without steps is ours too: it ends as soon as the hand-off is committed.
        "claimeds": [live.attempt_id is not None or not live.here.steps for live in lives],
    }
