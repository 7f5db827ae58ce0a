"""How each event changes the state of an execution: a vendor's answer, a receipt, a dead worker, a step that can't be taken."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from tidings.contracts.delivery import Evidence, SkipStep
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.state_machine.model import (
    ACCOUNT_OFF,
    ANSWER_NEVER_LEARNED,
    CIRCUIT_OPEN,
    NO_ACCOUNT,
    ActiveStep,
    CallSkipped,
    ClosedAttempt,
    ExecutionEvent,
    OpenAttempt,
    ReachObservation,
    ReceiptReceived,
    StepBarred,
    StepBlocked,
    VendorAnswered,
    WorkerDied,
)
from tidings.router.state_machine.retry_policy import asked_pause
from tidings.router.state_machine.statuses import (
    ARRIVED,
    EVIDENCE,
    LOST,
    OF_PERSON,
    REACHED,
    WANTED,
    WEIGHT,
    is_of_person,
    told_as,
)
from tidings.router.state_machine.transition import TransitionBuilder

#: What is kept of a vendor's words.
MOST_ERROR_CHARACTERS: Final = 300


def apply_event(builder: TransitionBuilder, event: ExecutionEvent) -> None:
    """Apply one event; also after the end, where an answer is still written and its cost counted."""
    if isinstance(event, ReceiptReceived):
        _apply_receipt(builder, event)
        return
    active = builder.active_steps.get(event.step)
    if active is None:
        return
    opened = active.open_attempt
    if isinstance(event, VendorAnswered | CallSkipped | WorkerDied):
        if opened is None or event.attempt_id not in {None, opened.id}:
            # It is about another attempt than the open one.
            return
        if isinstance(event, VendorAnswered):
            _apply_answer(builder, active, opened, event)
        elif isinstance(event, CallSkipped):
            builder.settle(opened, cost=0)
            builder.put(replace(active, open_attempt=None, due_at=builder.now, waited=opened.waited))
        else:
            _apply_worker_died(builder, active, opened)
        return
    match event:
        case StepBarred() if builder.end is None:
            _apply_barred(builder, active, event)
        case StepBlocked() if builder.end is None:
            _apply_blocked(builder, active, event)


def worker_died_events(active_steps: Iterable[ActiveStep]) -> list[WorkerDied]:
    """The events of an execution after its worker died: one for each open attempt."""
    return [
        WorkerDied(step=active.step, attempt_id=active.open_attempt.id)
        for active in active_steps
        if active.open_attempt is not None
    ]


def _apply_barred(builder: TransitionBuilder, active: ActiveStep, barred: StepBarred) -> None:
    if isinstance(barred.by, SkipStep):
        builder.skip(active, barred.by, again_at=builder.now if barred.by.reason == NO_ACCOUNT else None)
    elif barred.by.until >= builder.state.expires_at:
        builder.leave(active)
    else:
        # The timeout of the step begins again with its next attempt. The retry budget does not.
        builder.wait(replace(active, deadline_at=None), barred.by.reason, until=barred.by.until)


def _apply_blocked(builder: TransitionBuilder, active: ActiveStep, blocked: StepBlocked) -> None:
    if blocked.reason in (CIRCUIT_OPEN, ACCOUNT_OFF):
        too_long = True
    else:
        too_long = blocked.until >= (active.deadline_at or builder.now + builder.timeout(active))
    skip = SkipStep(reason=blocked.reason, result="FAILED")
    if blocked.until >= builder.state.expires_at:
        builder.skip(active, skip)
    elif too_long and builder.has_other_step(active):
        builder.skip(active, skip, again_at=blocked.until)
    elif active.deadline_at is not None and blocked.until >= active.deadline_at:
        builder.leave(active)
    else:
        builder.wait(active, blocked.reason, until=blocked.until)


def _apply_answer(
    builder: TransitionBuilder, active: ActiveStep, opened: OpenAttempt, answered: VendorAnswered
) -> None:
    outcome = answered.outcome
    if answered.account is not None:
        opened = replace(opened, account=answered.account)
    # A vendor that may have taken the message may have charged for it.
    maybe_taken = isinstance(outcome, Accepted | Unlearned)
    status, reason = told_as(outcome)
    after = outcome.after if isinstance(outcome, TryLater) else None
    attempt = _closed(builder, active, opened, status, reason, cost=opened.reserved if maybe_taken else 0)
    _close(
        builder,
        opened,
        replace(
            attempt,
            provider_message_id=_storable_id(outcome) if isinstance(outcome, Accepted) else None,
            effect=outcome.effect if isinstance(outcome, Refused) else None,
            meaning=outcome.meaning if isinstance(outcome, Refused | TryLater) else None,
            others=answered.others,
            http_status=outcome.answer.http_status if outcome.answer is not None else None,
            retry_after_ms=int(after.total_seconds() * 1000) if after is not None else None,
            error=None if isinstance(outcome, Accepted) else outcome.reason[:MOST_ERROR_CHARACTERS],
            answer_ref=answered.answer_ref,
        ),
    )
    active = replace(active, open_attempt=None)
    builder.put(active)
    match outcome:
        case Accepted(delivered=delivered):
            reached: Evidence = "delivered" if delivered else "accepted"
            if not answered.receipts or REACHED[reached] >= WANTED[builder.step(active).success]:
                builder.succeed(active.step, reached)
            else:
                builder.put(replace(active, awaiting=opened.id))
        case Refused(permanent=True):
            if outcome.status == "rejected_by_recipient":
                builder.learned.append(
                    ReachObservation(channel=builder.step(active).channel, delivered=False, never=True)
                )
            if is_of_person(outcome) or not builder.has_other_vendor(active):
                builder.leave(active)
            else:
                builder.retry(active, at=builder.now)
        case TryLater(after=after) if after is not None:
            builder.retry_elsewhere(active, backoff=asked_pause(after, jitter=builder.jitter))
        case Refused() | TryLater():
            builder.retry_elsewhere(active, backoff=builder.backoff(active))
        case Unlearned():
            if answered.idempotent:
                active = replace(active, unlearned=opened.vendor)
            builder.retry(active, at=builder.now + builder.backoff(active))


def _storable_id(accepted: Accepted) -> str | None:
    """The vendor's id without NUL, which no text in Postgres can hold."""
    message_id = accepted.provider_message_id
    return message_id.replace("\x00", "") or None if message_id else None


def _apply_worker_died(builder: TransitionBuilder, active: ActiveStep, opened: OpenAttempt) -> None:
    closed = _closed(builder, active, opened, "timed_out", ANSWER_NEVER_LEARNED, cost=opened.reserved)
    _close(builder, opened, closed)
    active = replace(active, open_attempt=None, unlearned=opened.vendor)
    builder.put(active)
    builder.retry(active, at=builder.now)


def _closed(
    builder: TransitionBuilder,
    active: ActiveStep,
    opened: OpenAttempt,
    status: str,
    reason: str | None,
    *,
    cost: int,
) -> ClosedAttempt:
    return ClosedAttempt(
        id=opened.id,
        step=active.step,
        channel=builder.step(active).channel,
        status=status,
        started_at=opened.started_at,
        ended_at=builder.now,
        vendor=opened.vendor,
        account=opened.account,
        reason=reason,
        cost=cost,
        why=opened.why,
        waited=opened.waited,
    )


def _close(builder: TransitionBuilder, opened: OpenAttempt, attempt: ClosedAttempt) -> None:
    builder.settle(opened, cost=attempt.cost)
    builder.add_attempt(attempt)


def _apply_receipt(builder: TransitionBuilder, receipt: ReceiptReceived) -> None:
    place = next((i for i, attempt in enumerate(builder.attempts) if attempt.id == receipt.attempt_id), None)
    if place is None:
        return
    attempt = builder.attempts[place]
    rank, known = REACHED.get(receipt.status, 0), REACHED.get(attempt.receipt or "", 0)
    if WEIGHT.get(receipt.status, 0) > WEIGHT.get(attempt.receipt or "", 0):
        builder.attempts[place] = replace(attempt, receipt=receipt.status)
        _learn(builder, attempt, receipt.status, before=known)
    step = builder.state.steps[attempt.step - 1]
    if rank >= WANTED[step.success]:
        builder.succeed(attempt.step, EVIDENCE[rank])
        return
    active = builder.active_steps.get(attempt.step)
    if (
        receipt.status in LOST
        and active is not None
        and active.awaiting == attempt.id
        and builder.end is None
    ):
        active = replace(active, awaiting=None)
        builder.put(active)
        if receipt.status == "failed_temp":
            builder.retry_elsewhere(active, backoff=builder.backoff(active))
        elif receipt.status in OF_PERSON or not builder.has_other_vendor(active):
            builder.leave(active)
        else:
            builder.retry(active, at=builder.now)


def _learn(builder: TransitionBuilder, attempt: ClosedAttempt, status: str, *, before: int) -> None:
    channel = builder.state.steps[attempt.step - 1].channel
    if REACHED.get(status, 0) >= ARRIVED > before:
        builder.learned.append(ReachObservation(channel=channel, delivered=True))
    elif status in OF_PERSON:
        builder.learned.append(ReachObservation(channel=channel, delivered=False, never=True))
