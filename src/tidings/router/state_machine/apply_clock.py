"""What the time alone changes in the state of an execution: steps that fall due, timeouts, the end."""

from datetime import datetime, time
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from tidings.contracts.delivery import SkipStep
from tidings.contracts.ladder import Hours
from tidings.router.state_machine.final_result import exhausted, second_chance
from tidings.router.state_machine.model import (
    EXPIRED,
    NO_ROUTE,
    WRONG_HOUR,
    ActiveStep,
    ClosedAttempt,
    ReachObservation,
    Transition,
)
from tidings.router.state_machine.statuses import ARRIVED, OF_ADDRESS, OF_PERSON, REACHED, is_of_address
from tidings.router.state_machine.transition import TransitionBuilder


def apply_clock(builder: TransitionBuilder) -> Transition:
    """Finish the transition: begin the next step, give up what has timed out, end where nothing is left."""
    state, now = builder.state, builder.now
    ask: list[int] = []
    while builder.end is None:
        if now >= state.expires_at:
            _expire(builder)
        ask = [active.step for active in list(builder.active_steps.values()) if _due(builder, active)]
        if builder.active_steps or builder.end is not None:
            break
        if builder.next <= len(state.steps):
            builder.put(ActiveStep(step=builder.next, due_at=now))
            builder.next += 1
            continue
        again = second_chance(builder.attempts, had=builder.again, expires_at=state.expires_at, now=now)
        if again is None:
            builder.end = exhausted(state.steps, builder.attempts, expired=now >= state.expires_at)
            break
        builder.again = (*builder.again, again.step)
        builder.put(again)
    new_state = replace(
        state,
        active_steps=tuple(builder.active_steps.values()),
        next=builder.next,
        attempts=tuple(builder.attempts),
        again=builder.again,
        cost_budget=builder.cost_budget,
    )
    return Transition(
        state=new_state,
        end=builder.end,
        ask=() if builder.end is not None else tuple(ask),
        due_at=None if builder.end is not None else _due_at(builder),
        new_attempts=tuple(builder.new_attempts),
        late=tuple(builder.late),
        needless=_needless(builder) if builder.end is not None else (),
        learned=tuple(builder.learned),
    )


def _due(builder: TransitionBuilder, active: ActiveStep) -> bool:
    """Whether the step's next attempt is due now; a step that can't or may not be tried any more is given up."""
    if builder.end is not None or active.open_attempt is not None:
        return False
    late = active.deadline_at is not None and builder.now >= active.deadline_at
    if active.awaiting is not None:
        if late:
            _give_up(builder, active)
        return False
    step = builder.step(active)
    if step.barred is not None:
        builder.skip(active, SkipStep(reason=step.barred, result="REFUSED_NO_CHANNEL"))
    elif not step.vendors:
        builder.skip(active, SkipStep(reason=NO_ROUTE, result="REFUSED_NO_CHANNEL"))
    elif step.channel in _refused_channels(builder):
        builder.skip(active, SkipStep(reason="address_refused", result="FAILED"))
    elif late or active.tries >= builder.max_attempts(active):
        builder.leave(active)
    elif step.hours is not None and not is_within(step.hours, builder.now):
        builder.skip(active, SkipStep(reason=WRONG_HOUR, result="REFUSED_NO_CHANNEL"))
    else:
        return active.due_at is not None and active.due_at <= builder.now
    return False


def _expire(builder: TransitionBuilder) -> None:
    """The message has expired: nothing is sent any more; a receipt of what was sent may come until its step times out."""
    builder.next = len(builder.state.steps) + 1
    for active in list(builder.active_steps.values()):
        if active.awaiting is not None or active.open_attempt is not None:
            continue
        if active.waited and not active.tries:
            # It waited until the message expired: without this, no attempt would show it.
            builder.skip(active, SkipStep(reason=EXPIRED, result="FAILED"))
        else:
            builder.leave(active)


def _give_up(builder: TransitionBuilder, active: ActiveStep) -> None:
    attempt = next(attempt for attempt in builder.attempts if attempt.id == active.awaiting)
    builder.late.append(attempt)
    if REACHED.get(attempt.receipt or "", 0) < ARRIVED:
        builder.learned.append(ReachObservation(channel=builder.step(active).channel, delivered=False))
    builder.leave(active)


def _due_at(builder: TransitionBuilder) -> datetime:
    if any(active.open_attempt is not None for active in builder.active_steps.values()):
        # A worker has it in hand; a second worker that claims it knows that the first one is dead.
        return builder.now
    return min(
        (active.due_at or active.deadline_at or builder.now for active in builder.active_steps.values()),
        default=builder.now,
    )


def _refused_channels(builder: TransitionBuilder) -> set[str]:
    """What is wrong with an address is wrong with it at every vendor; another channel has another address."""
    return {
        attempt.channel
        for attempt in builder.attempts
        if (attempt.status == "failed_perm" and is_of_address(attempt.reason or ""))
        or attempt.status == "rejected_by_recipient"
        or attempt.effect in OF_ADDRESS
        or attempt.receipt in OF_PERSON
    }


def _needless(builder: TransitionBuilder) -> tuple[ClosedAttempt, ...]:
    awaited = {active.awaiting for active in builder.active_steps.values() if active.awaiting is not None}
    return tuple(attempt for attempt in builder.attempts if attempt.id in awaited and attempt.receipt is None)


def is_within(hours: Hours, now: datetime) -> bool:
    """Whether it is within these hours; the end is no longer part of them."""
    there = now.astimezone(ZoneInfo(hours.timezone)).time()
    start, end = time.fromisoformat(hours.start), time.fromisoformat(hours.end)
    return start <= there < end if start < end else there >= start or there < end
