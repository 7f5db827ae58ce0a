"""What a step waited for, kept with the call that came of it: cheap, and only where something waits."""

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from tidings.router.ladder.model import CIRCUIT_OPEN, Leg, Waited

#: A step that is put off again and again must not make its ladder grow: the first wait and the latest stay.
_MOST: Final = 8


def waiting(leg: Leg, reason: str, *, now: datetime, until: datetime) -> Leg:
    """The step, to be called for at that moment."""
    until = max(until, now)
    before = leg.waited
    if before and before[-1].reason == reason:
        waited = (*before[:-1], replace(before[-1], until=until))
    else:
        waited = (*closed(before, now), Waited(reason=reason, since=now, until=until))
    if len(waited) > _MOST:
        waited = (waited[0], *waited[1 - _MOST :])
    return replace(leg, due_at=until, waits=reason, waited=waited)


def woken(legs: tuple[Leg, ...], at: datetime) -> tuple[Leg, ...]:
    """The steps of a ladder that somebody has moved up to that moment: those that wait for a circuit are due then."""
    if not any(leg.waits == CIRCUIT_OPEN and leg.due_at is not None and leg.due_at > at for leg in legs):
        return legs
    return tuple(
        replace(leg, due_at=min(leg.due_at, at))
        if leg.waits == CIRCUIT_OPEN and leg.due_at is not None
        else leg
        for leg in legs
    )


def closed(waited: tuple[Waited, ...], now: datetime) -> tuple[Waited, ...]:
    """The same, over by now: the last wait ended when something came of the step, and not when it was to end."""
    return (*waited[:-1], replace(waited[-1], until=max(now, waited[-1].since))) if waited else ()
