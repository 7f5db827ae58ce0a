"""The rules under test: the real ladder, and what stands around it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.simulation.pure.disk import Fences
from tidings.router.ladder.decide import Ladder
from tidings.router.ladder.model import Purse


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """As they are; a mutation puts something else in place of one of them."""

    ladder: Ladder = field(default_factory=Ladder)
    holds: Callable[[Purse, int], bool] = Purse.holds
    fences: Fences = Fences()
