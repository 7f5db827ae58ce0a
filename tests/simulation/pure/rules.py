"""The rules under test: the real state machine, and what stands around it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.simulation.pure.disk import Fences
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.machine import ExecutionStateMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """As they are; a mutation puts something else in place of one of them."""

    machine: ExecutionStateMachine = field(default_factory=ExecutionStateMachine)
    allows: Callable[[CostBudget, int], bool] = CostBudget.allows
    fences: Fences = Fences()
