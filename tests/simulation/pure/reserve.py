"""Which vendor takes an attempt, and what it costs: the part of `reserve.py` that needs no accounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TypeAlias

from msgspec.structs import replace

from tests.simulation.pure.draw import World
from tests.simulation.pure.rules import Rules
from tidings.contracts.delivery import SkipStep
from tidings.router.state_machine.model import (
    ATTEMPT,
    CIRCUIT_OPEN,
    COST_CAP,
    VENDOR_LIMIT,
    WRONG_PREFIX,
    ActiveStep,
    ExecutionState,
    OpenAttempt,
    StepBarred,
    StepBlocked,
)


@dataclass(frozen=True, slots=True)
class Going:
    """A step that may be called."""

    step: int
    call: OpenAttempt


Answer: TypeAlias = Going | StepBarred | StepBlocked


def book(
    world: World, rules: Rules, here: ExecutionState, steps: Sequence[int], *, now: datetime, luck: Random
) -> list[Answer]:
    """One answer for each of these steps, in the same order; the purse is shared by all of them."""
    purse = here.cost_budget
    legs = {leg.step: leg for leg in here.active_steps}
    answers: list[Answer] = []
    for step in steps:
        answer = _one(world, here, legs[step], now, luck)
        if isinstance(answer, Going):
            if rules.allows(purse, answer.call.reserved):
                purse = replace(purse, reserved=purse.reserved + answer.call.reserved)
                spell = world.circuits[answer.call.vendor].at(now)
                if spell is not None and spell.kind == "limit":
                    answer = StepBlocked(step=step, reason=VENDOR_LIMIT, until=spell.end)
            else:
                answer = StepBarred(step=step, by=SkipStep(reason=COST_CAP, result="REFUSED_COST_CAP"))
        answers.append(answer)
    return answers


def _one(world: World, here: ExecutionState, leg: ActiveStep, now: datetime, luck: Random) -> Answer:
    step = here.steps[leg.step - 1]
    if step.prefixes is not None and step.channel not in world.right_prefix:
        return StepBarred(step=leg.step, by=SkipStep(reason=WRONG_PREFIX, result="REFUSED_NO_CHANNEL"))
    free: list[str] = []
    until: list[datetime] = []
    for vendor in step.vendors:
        spell = world.circuits[vendor].at(now)
        if spell is not None and spell.kind == "open":
            until.append(spell.end)
        else:
            free.append(vendor)
    if not free:
        return StepBlocked(step=leg.step, reason=CIRCUIT_OPEN, until=min(until))
    fresh = [vendor for vendor in free if vendor not in leg.tried]
    vendor = luck.choice(fresh or free)
    price = world.vendors[vendor].price
    call = OpenAttempt(
        id=ATTEMPT.new(now), vendor=vendor, started_at=now, account=f"of {vendor}", reserved=price
    )
    return Going(leg.step, call)
