"""What a step waited for, kept with the attempt that followed: cheap, and only where something waits."""

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from tidings.router.state_machine.model import CIRCUIT_OPEN, ActiveStep, StepWait

#: A step that is put off again and again must not make its execution grow: the first wait and the latest stay.
_MOST: Final = 8


def waiting(active: ActiveStep, reason: str, *, now: datetime, until: datetime) -> ActiveStep:
    """The step, with its next attempt put off until that moment."""
    until = max(until, now)
    before = active.waited
    if before and before[-1].reason == reason:
        waited = (*before[:-1], replace(before[-1], until=until))
    else:
        waited = (*closed(before, now), StepWait(reason=reason, since=now, until=until))
    if len(waited) > _MOST:
        waited = (waited[0], *waited[1 - _MOST :])
    return replace(active, due_at=until, waits=reason, waited=waited)


def woken(active_steps: tuple[ActiveStep, ...], at: datetime) -> tuple[ActiveStep, ...]:
    """The steps of an execution after its due time was moved up to that moment: those that wait for a circuit are due then."""
    if not any(
        active.waits == CIRCUIT_OPEN and active.due_at is not None and active.due_at > at
        for active in active_steps
    ):
        return active_steps
    return tuple(
        replace(active, due_at=min(active.due_at, at))
        if active.waits == CIRCUIT_OPEN and active.due_at is not None
        else active
        for active in active_steps
    )


def closed(waited: tuple[StepWait, ...], now: datetime) -> tuple[StepWait, ...]:
    """The same, over by now: the last wait ended when something came of the step, and not when it was to end."""
    return (*waited[:-1], replace(waited[-1], until=max(now, waited[-1].since))) if waited else ()
