"""What happened: how each thing changes where a ladder stands."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from tidings.contracts.delivery import SkipStep
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.ladder.climb import Climb
from tidings.router.ladder.model import (
    ACCOUNT_OFF,
    ANSWER_NEVER_LEARNED,
    CIRCUIT_OPEN,
    NO_ACCOUNT,
    Answered,
    Barred,
    Blocked,
    Calling,
    Happened,
    Heard,
    Learned,
    Leg,
    NotCalled,
    Past,
    WorkerDied,
)
from tidings.router.ladder.retry_policy import asked_pause
from tidings.router.ladder.statuses import (
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

#: What is kept of a vendor's words.
MOST_ERROR_CHARACTERS: Final = 300


def hear(climb: Climb, happened: Happened) -> None:
    """Take in one thing; also after the end, where an answer is still written and paid for."""
    if isinstance(happened, Heard):
        _heard(climb, happened)
        return
    leg = climb.legs.get(happened.step)
    if leg is None:
        return
    call = leg.calling
    if isinstance(happened, Answered | NotCalled | WorkerDied):
        if call is None or happened.call_id not in {None, call.id}:
            # It is about another call than the one that is under way.
            return
        if isinstance(happened, Answered):
            _answered(climb, leg, call, happened)
        elif isinstance(happened, NotCalled):
            climb.settle(call, cost=0)
            climb.put(replace(leg, calling=None, due_at=climb.now, waited=call.waited))
        else:
            _died(climb, leg, call)
        return
    match happened:
        case Barred() if climb.end is None:
            _barred(climb, leg, happened)
        case Blocked() if climb.end is None:
            _blocked(climb, leg, happened)


def open_calls(legs: Iterable[Leg]) -> list[WorkerDied]:
    """What is to be heard of a ladder whose worker died."""
    return [WorkerDied(step=leg.step, call_id=leg.calling.id) for leg in legs if leg.calling is not None]


def _barred(climb: Climb, leg: Leg, barred: Barred) -> None:
    if isinstance(barred.by, SkipStep):
        climb.skip(leg, barred.by, again_at=climb.now if barred.by.reason == NO_ACCOUNT else None)
    elif barred.by.until >= climb.here.expires_at:
        climb.leave(leg)
    else:
        # The clock of the step stands still: it begins again with the next call. The budget does not.
        climb.wait(replace(leg, deadline_at=None), barred.by.reason, until=barred.by.until)


def _blocked(climb: Climb, leg: Leg, blocked: Blocked) -> None:
    if blocked.reason in (CIRCUIT_OPEN, ACCOUNT_OFF):
        too_long = True
    else:
        too_long = blocked.until >= (leg.deadline_at or climb.now + climb.clock_of(leg))
    skip = SkipStep(reason=blocked.reason, result="FAILED")
    if blocked.until >= climb.here.expires_at:
        climb.skip(leg, skip)
    elif too_long and climb.can_go_on(leg):
        climb.skip(leg, skip, again_at=blocked.until)
    elif leg.deadline_at is not None and blocked.until >= leg.deadline_at:
        climb.leave(leg)
    else:
        climb.wait(leg, blocked.reason, until=blocked.until)


def _answered(climb: Climb, leg: Leg, call: Calling, answered: Answered) -> None:
    outcome = answered.outcome
    if answered.account is not None:
        call = replace(call, account=answered.account)
    # Whoever may have taken it may have charged for it.
    maybe_taken = isinstance(outcome, Accepted | Unlearned)
    status, reason = told_as(outcome)
    after = outcome.after if isinstance(outcome, TryLater) else None
    past = _past(climb, leg, call, status, reason, cost=call.reserved if maybe_taken else 0)
    _called(
        climb,
        call,
        replace(
            past,
            provider_message_id=outcome.provider_message_id if isinstance(outcome, Accepted) else None,
            effect=outcome.effect if isinstance(outcome, Refused) else None,
            meaning=outcome.meaning if isinstance(outcome, Refused | TryLater) else None,
            others=answered.others,
            http_status=outcome.answer.http_status if outcome.answer is not None else None,
            retry_after_ms=int(after.total_seconds() * 1000) if after is not None else None,
            error=None if isinstance(outcome, Accepted) else outcome.reason[:MOST_ERROR_CHARACTERS],
            answer_ref=answered.answer_ref,
        ),
    )
    leg = replace(leg, calling=None)
    climb.put(leg)
    match outcome:
        case Accepted():
            if not answered.receipts or climb.step(leg).success == "accepted":
                climb.reached(leg.step, "accepted")
            else:
                climb.put(replace(leg, awaiting=call.id))
        case Refused(permanent=True):
            if outcome.status == "rejected_by_recipient":
                climb.learned.append(Learned(channel=climb.step(leg).channel, delivered=False, never=True))
            if is_of_person(outcome) or not climb.others(leg):
                climb.leave(leg)
            else:
                climb.repeat(leg, at=climb.now)
        case TryLater(after=after) if after is not None:
            pause = asked_pause(after, jitter=climb.luck)
            climb.repeat(leg, at=climb.now if climb.others(leg) else climb.now + pause)
        case Refused() | TryLater():
            climb.repeat(leg, at=climb.now if climb.others(leg) else climb.now + climb.pause(leg))
        case Unlearned():
            if answered.idempotent:
                leg = replace(leg, unlearned=call.vendor)
            climb.repeat(leg, at=climb.now + climb.pause(leg))


def _died(climb: Climb, leg: Leg, call: Calling) -> None:
    _called(climb, call, _past(climb, leg, call, "timed_out", ANSWER_NEVER_LEARNED, cost=call.reserved))
    leg = replace(leg, calling=None, unlearned=call.vendor)
    climb.put(leg)
    climb.repeat(leg, at=climb.now)


def _past(climb: Climb, leg: Leg, call: Calling, status: str, reason: str | None, *, cost: int) -> Past:
    return Past(
        id=call.id,
        step=leg.step,
        channel=climb.step(leg).channel,
        status=status,
        started_at=call.started_at,
        ended_at=climb.now,
        vendor=call.vendor,
        account=call.account,
        reason=reason,
        cost=cost,
        why=call.why,
        waited=call.waited,
    )


def _called(climb: Climb, call: Calling, past: Past) -> None:
    climb.settle(call, cost=past.cost)
    climb.note(past)


def _heard(climb: Climb, heard: Heard) -> None:
    place = next((i for i, past in enumerate(climb.past) if past.id == heard.attempt_id), None)
    if place is None:
        return
    past = climb.past[place]
    rank, known = REACHED.get(heard.status, 0), REACHED.get(past.receipt or "", 0)
    if WEIGHT.get(heard.status, 0) > WEIGHT.get(past.receipt or "", 0):
        climb.past[place] = replace(past, receipt=heard.status)
        _learn(climb, past, heard.status, before=known)
    step = climb.here.steps[past.step - 1]
    if rank >= WANTED[step.success]:
        climb.reached(past.step, EVIDENCE[rank])
        return
    leg = climb.legs.get(past.step)
    if heard.status in LOST and leg is not None and leg.awaiting == past.id and climb.end is None:
        leg = replace(leg, awaiting=None)
        climb.put(leg)
        if heard.status == "failed_temp":
            climb.repeat(leg, at=climb.now if climb.others(leg) else climb.now + climb.pause(leg))
        elif heard.status in OF_PERSON or not climb.others(leg):
            climb.leave(leg)
        else:
            climb.repeat(leg, at=climb.now)


def _learn(climb: Climb, past: Past, status: str, *, before: int) -> None:
    channel = climb.here.steps[past.step - 1].channel
    if REACHED.get(status, 0) >= ARRIVED > before:
        climb.learned.append(Learned(channel=channel, delivered=True))
    elif status in OF_PERSON:
        climb.learned.append(Learned(channel=channel, delivered=False, never=True))
