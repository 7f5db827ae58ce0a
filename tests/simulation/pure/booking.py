"""Who carries a step, and what it costs: the part of `booking.py` that needs no accounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TypeAlias

from msgspec.structs import replace

from tests.simulation.pure.draw import World
from tests.simulation.pure.rules import Rules
from tidings.contracts.delivery import SkipStep
from tidings.router.ladder.model import (
    ATTEMPT,
    CIRCUIT_OPEN,
    COST_CAP,
    VENDOR_LIMIT,
    WRONG_PREFIX,
    Barred,
    Blocked,
    Calling,
    Leg,
    Position,
)


@dataclass(frozen=True, slots=True)
class Going:
    """A step that may be called."""

    step: int
    call: Calling


Answer: TypeAlias = Going | Barred | Blocked


def book(
    world: World, rules: Rules, here: Position, steps: Sequence[int], *, now: datetime, luck: Random
) -> list[Answer]:
    """One answer for each of these steps, in the same order; the purse is shared by all of them."""
    purse = here.purse
    legs = {leg.step: leg for leg in here.legs}
    answers: list[Answer] = []
    for step in steps:
        answer = _one(world, here, legs[step], now, luck)
        if isinstance(answer, Going):
            if rules.holds(purse, answer.call.reserved):
                purse = replace(purse, reserved=purse.reserved + answer.call.reserved)
                spell = world.circuits[answer.call.vendor].at(now)
                if spell is not None and spell.kind == "limit":
                    answer = Blocked(step=step, reason=VENDOR_LIMIT, until=spell.end)
            else:
                answer = Barred(step=step, by=SkipStep(reason=COST_CAP, result="REFUSED_COST_CAP"))
        answers.append(answer)
    return answers


def _one(world: World, here: Position, leg: Leg, now: datetime, luck: Random) -> Answer:
    step = here.steps[leg.step - 1]
    if step.prefixes is not None and step.channel not in world.right_prefix:
        return Barred(step=leg.step, by=SkipStep(reason=WRONG_PREFIX, result="REFUSED_NO_CHANNEL"))
    free: list[str] = []
    until: list[datetime] = []
    for vendor in step.vendors:
        spell = world.circuits[vendor].at(now)
        if spell is not None and spell.kind == "open":
            until.append(spell.end)
        else:
            free.append(vendor)
    if not free:
        return Blocked(step=leg.step, reason=CIRCUIT_OPEN, until=min(until))
    fresh = [vendor for vendor in free if vendor not in leg.tried]
    vendor = luck.choice(fresh or free)
    price = world.vendors[vendor].price
    call = Calling(id=ATTEMPT.new(now), vendor=vendor, started_at=now, account=f"of {vendor}", reserved=price)
    return Going(leg.step, call)
