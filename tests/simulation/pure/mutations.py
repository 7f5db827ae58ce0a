"""State machines with one rule broken: the invariants are only worth something if they notice each of them.

A mutation replaces a piece of the real source. Where that piece is gone, because the rule was written anew, making
the mutant fails, so that none of them can pass unnoticed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

from tests.simulation.pure.disk import Fences
from tests.simulation.pure.rules import Rules
from tidings.router.state_machine import (
    apply_clock,
    apply_event,
    cost_budget,
    final_result,
    machine,
    statuses,
    transition,
)

#: The rules, each after those that it imports.
_RULES: Final = (statuses, final_result, transition, apply_event, apply_clock, machine)


@dataclass(frozen=True, slots=True)
class Mutation:
    """One rule that is broken."""

    name: str
    module: Literal[
        "statuses", "cost_budget", "final_result", "transition", "apply_event", "apply_clock", "machine"
    ]
    old: str
    new: str

    def rules(self) -> Rules:
        """The rules with this one broken."""
        if self.module == "cost_budget":
            return Rules(allows=self._run(cost_budget)["CostBudget"].allows)
        known = {module.__name__: module for module in _RULES}
        try:
            for module in _RULES:
                mutant = ModuleType(module.__name__)
                mutant.__dict__.update(self._run(module))
                # Those that come after it import this one.
                sys.modules[module.__name__] = mutant
            return Rules(machine=mutant.__dict__["ExecutionStateMachine"]())
        finally:
            sys.modules.update(known)

    def _run(self, module: ModuleType) -> dict[str, Any]:
        name = module.__name__.rpartition(".")[2]
        source = Path(module.__file__ or "").read_text()
        if name == self.module:
            count = source.count(self.old)
            if count != 1:
                raise LookupError(f"{self.name}: what it replaces is {count} times in {name}.py: {self.old}")
            source = source.replace(self.old, self.new)
        space: dict[str, Any] = {"__name__": f"{module.__name__}_mutant"}
        exec(compile(source, f"{name}.py, {self.name}", "exec"), space)
        return space


#: Mutations of what keeps one worker from writing over another.
FENCES: Final[dict[str, Fences]] = {
    "the version is not looked at": Fences(version=False),
    "the claim is not looked at": Fences(claim=False),
}

MUTATIONS: Final = (
    Mutation("the cap is ignored", "cost_budget", "<= self.cap", "<= self.cap + 10**9"),
    Mutation("the budget is one too many", "transition", "else step.retries + 1", "else step.retries + 2"),
    Mutation("calls are not counted", "machine", "tries=active.tries + 1", "tries=active.tries"),
    Mutation(
        "the clock of a step begins anew with every call",
        "machine",
        "deadline_at=active.deadline_at or now + step_timeout(state, active.step, retry_policy)",
        "deadline_at=now + step_timeout(state, active.step, retry_policy)",
    ),
    Mutation(
        "a receipt is awaited for ever",
        "apply_clock",
        "if late:\n            _give_up(builder, active)",
        "pass",
    ),
    Mutation(
        "the clock of the message is ignored",
        "apply_clock",
        "if now >= state.expires_at:\n            _expire(builder)",
        "pass",
    ),
    Mutation(
        "a wait may be longer than the message lives",
        "apply_event",
        "elif barred.by.until >= builder.state.expires_at:",
        "elif False:",
    ),
    Mutation(
        "a wait is not waited",
        "apply_event",
        "barred.by.reason, until=barred.by.until)",
        "barred.by.reason, until=builder.now)",
    ),
    Mutation(
        "a blocked vendor is asked again at once",
        "apply_event",
        "blocked.reason, until=blocked.until)",
        "blocked.reason, until=builder.now)",
    ),
    Mutation(
        "what was reserved is not released",
        "transition",
        "reserved=budget.reserved - attempt.reserved",
        "reserved=budget.reserved",
    ),
    Mutation(
        "what was spent is not counted", "transition", "spent=budget.spent + cost", "spent=budget.spent"
    ),
    Mutation(
        "nothing is reserved",
        "machine",
        "reserved=budget.reserved + held",
        "reserved=budget.reserved",
    ),
    Mutation(
        "a refusal is paid for",
        "apply_event",
        "cost=opened.reserved if maybe_taken else 0",
        "cost=opened.reserved",
    ),
    Mutation(
        "what may have been taken is not paid for",
        "apply_event",
        "isinstance(outcome, Accepted | Unlearned)",
        "isinstance(outcome, Accepted)",
    ),
    Mutation(
        "a call that was not made is paid for",
        "apply_event",
        "builder.settle(opened, cost=0)",
        "builder.settle(opened, cost=opened.reserved)",
    ),
    Mutation(
        "the call of a dead worker is forgotten",
        "apply_event",
        "    _close(builder, opened, closed)\n    active = replace(active, open_attempt=None, unlearned=opened.vendor)",
        "    active = replace(active, open_attempt=None, unlearned=opened.vendor)",
    ),
    Mutation(
        "a delivery of a step that was left does not count",
        "apply_event",
        "if rank >= WANTED[step.success]:",
        "if rank >= WANTED[step.success] and attempt.step in builder.active_steps:",
    ),
    Mutation(
        "being sent is as good as being delivered",
        "statuses",
        '"delivered": 3, "read": 4}',
        '"delivered": 2, "read": 4}',
    ),
    Mutation(
        "the first delivery does not win while others are under way",
        "transition",
        'if self.end is None:\n            channel = self.state.steps[step - 1].channel\n            self.end = ExecutionEnd(result="DELIVERED"',
        'if self.end is None and len(self.active_steps) < 2:\n            channel = self.state.steps[step - 1].channel\n            self.end = ExecutionEnd(result="DELIVERED"',
    ),
    Mutation("what has arrived unread is not told", "final_result", "if rank >= ARRIVED:", "if False:"),
    Mutation(
        "a delivery is told of the wrong channel",
        "transition",
        "channel = self.state.steps[step - 1].channel\n            self.end",
        "channel = self.state.steps[0].channel\n            self.end",
    ),
    Mutation(
        "a refused address is tried elsewhere",
        "apply_clock",
        "step.channel in _refused_channels(builder)",
        "False",
    ),
    Mutation(
        "a vendor that refuses is asked again",
        "apply_event",
        "if is_of_person(outcome) or not builder.has_other_vendor(active):",
        "if is_of_person(outcome):",
    ),
    Mutation(
        "a skipped step is not told",
        "transition",
        "        self.attempts.append(attempt)",
        '        if attempt.status == "step_skipped":\n            return\n        self.attempts.append(attempt)',
    ),
    Mutation("every second step is passed over", "apply_clock", "builder.next += 1", "builder.next += 2"),
    Mutation(
        "a step does not look at the hour", "apply_clock", "not is_within(step.hours, builder.now)", "False"
    ),
    Mutation(
        "what was learned is learned again",
        "apply_event",
        "_learn(builder, attempt, receipt.status, before=known)",
        "_learn(builder, attempt, receipt.status, before=0)",
    ),
    Mutation(
        "what was heard last counts",
        "apply_event",
        'if WEIGHT.get(receipt.status, 0) > WEIGHT.get(attempt.receipt or "", 0):',
        "if True:",
    ),
    Mutation(
        "a refusal that comes after being sent is not heard",
        "apply_event",
        'if WEIGHT.get(receipt.status, 0) > WEIGHT.get(attempt.receipt or "", 0):',
        "if rank > known or attempt.receipt is None:",
    ),
    Mutation(
        "losers are not called off",
        "apply_clock",
        "needless=_needless(builder) if builder.end is not None else ()",
        "needless=()",
    ),
    Mutation(
        "an answer that comes after the end is forgotten",
        "apply_event",
        "        if isinstance(event, VendorAnswered):\n",
        "        if builder.end is not None:\n            pass\n        elif isinstance(event, VendorAnswered):\n",
    ),
)
