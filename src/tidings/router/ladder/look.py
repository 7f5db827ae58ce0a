"""The clocks: what follows at this moment from where a ladder stands."""

from datetime import datetime

from msgspec.structs import replace

from tidings.contracts.delivery import SkipStep
from tidings.router.ladder.climb import Climb
from tidings.router.ladder.ends import exhausted, second_chance
from tidings.router.ladder.model import EXPIRED, NO_ROUTE, WRONG_HOUR, Learned, Leg, Past, Turn
from tidings.router.ladder.statuses import ARRIVED, OF_ADDRESS, OF_PERSON, REACHED, is_of_address


def look(climb: Climb) -> Turn:
    """What follows, at this moment."""
    here, now = climb.here, climb.now
    ask: list[int] = []
    while climb.end is None:
        if now >= here.expires_at:
            _expire(climb)
        ask = [leg.step for leg in list(climb.legs.values()) if _due(climb, leg)]
        if climb.legs or climb.end is not None:
            break
        if climb.next <= len(here.steps):
            climb.put(Leg(step=climb.next, due_at=now))
            climb.next += 1
            continue
        again = second_chance(climb.past, had=climb.again, expires_at=here.expires_at, now=now)
        if again is None:
            climb.end = exhausted(here.steps, climb.past, expired=now >= here.expires_at)
            break
        climb.again = (*climb.again, again.step)
        climb.put(again)
    there = replace(
        here,
        legs=tuple(climb.legs.values()),
        next=climb.next,
        past=tuple(climb.past),
        again=climb.again,
        purse=climb.purse,
    )
    return Turn(
        there=there,
        end=climb.end,
        ask=() if climb.end is not None else tuple(ask),
        due_at=None if climb.end is not None else _due_at(climb),
        fresh=tuple(climb.fresh),
        late=tuple(climb.late),
        needless=_needless(climb) if climb.end is not None else (),
        learned=tuple(climb.learned),
    )


def _due(climb: Climb, leg: Leg) -> bool:
    """Whether it is to be called for now; what is over is left."""
    if climb.end is not None or leg.calling is not None:
        return False
    late = leg.deadline_at is not None and climb.now >= leg.deadline_at
    if leg.awaiting is not None:
        if late:
            _give_up(climb, leg)
        return False
    step = climb.step(leg)
    if step.barred is not None:
        climb.skip(leg, SkipStep(reason=step.barred, result="REFUSED_NO_CHANNEL"))
    elif not step.vendors:
        climb.skip(leg, SkipStep(reason=NO_ROUTE, result="REFUSED_NO_CHANNEL"))
    elif step.channel in _refused_channels(climb):
        climb.skip(leg, SkipStep(reason="address_refused", result="FAILED"))
    elif late or leg.tries >= climb.budget(leg):
        climb.leave(leg)
    elif step.hours is not None and not step.hours.hold(climb.now):
        climb.skip(leg, SkipStep(reason=WRONG_HOUR, result="REFUSED_NO_CHANNEL"))
    else:
        return leg.due_at is not None and leg.due_at <= climb.now
    return False


def _expire(climb: Climb) -> None:
    """Nothing is sent any more; what was sent may still be heard of until its own clock is over."""
    climb.next = len(climb.here.steps) + 1
    for leg in list(climb.legs.values()):
        if leg.awaiting is not None or leg.calling is not None:
            continue
        if leg.waited and not leg.tries:
            # It waited until it was too late: nothing else would tell of it.
            climb.skip(leg, SkipStep(reason=EXPIRED, result="FAILED"))
        else:
            climb.leave(leg)


def _give_up(climb: Climb, leg: Leg) -> None:
    past = next(past for past in climb.past if past.id == leg.awaiting)
    climb.late.append(past)
    if REACHED.get(past.receipt or "", 0) < ARRIVED:
        climb.learned.append(Learned(channel=climb.step(leg).channel, delivered=False))
    climb.leave(leg)


def _due_at(climb: Climb) -> datetime:
    if any(leg.calling is not None for leg in climb.legs.values()):
        # Somebody has it in hand; whoever else finds it so finds that its caller is gone.
        return climb.now
    return min((leg.due_at or leg.deadline_at or climb.now for leg in climb.legs.values()), default=climb.now)


def _refused_channels(climb: Climb) -> set[str]:
    """What is wrong with an address is wrong with it at every vendor; another channel has another address."""
    return {
        past.channel
        for past in climb.past
        if (past.status == "failed_perm" and is_of_address(past.reason or ""))
        or past.status == "rejected_by_recipient"
        or past.effect in OF_ADDRESS
        or past.receipt in OF_PERSON
    }


def _needless(climb: Climb) -> tuple[Past, ...]:
    awaited = {leg.awaiting for leg in climb.legs.values() if leg.awaiting is not None}
    return tuple(past for past in climb.past if past.id in awaited and past.receipt is None)
