"""Ladders with one rule broken: the invariants are only worth something if they notice each of them.

A mutation replaces a piece of the real source. Where that piece is gone, because the ladder was written anew, making
the mutant fails, so that none of them can pass unnoticed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

from tests.simulation.pure.disk import Fences
from tests.simulation.pure.rules import Rules
from tidings.router.ladder import climb, decide, ends, hear, look, model, statuses

#: The rules, each after those that it imports.
_RULES: Final = (statuses, ends, climb, hear, look, decide)


@dataclass(frozen=True, slots=True)
class Mutation:
    """One rule that is broken."""

    name: str
    module: Literal["statuses", "ends", "climb", "hear", "look", "decide", "model"]
    old: str
    new: str

    def rules(self) -> Rules:
        """The rules with this one broken."""
        if self.module == "model":
            return Rules(holds=self._run(model)["Purse"].holds)
        known = {module.__name__: module for module in _RULES}
        try:
            for module in _RULES:
                mutant = ModuleType(module.__name__)
                mutant.__dict__.update(self._run(module))
                # Those that come after it import this one.
                sys.modules[module.__name__] = mutant
            return Rules(ladder=mutant.__dict__["Ladder"]())
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
    Mutation("the cap is ignored", "model", "<= self.cap", "<= self.cap + 10**9"),
    Mutation("the budget is one too many", "climb", "else step.retries + 1", "else step.retries + 2"),
    Mutation("calls are not counted", "decide", "tries=leg.tries + 1", "tries=leg.tries"),
    Mutation(
        "the clock of a step begins anew with every call",
        "decide",
        "deadline_at=leg.deadline_at or now + self.clock_of(here, leg.step)",
        "deadline_at=now + self.clock_of(here, leg.step)",
    ),
    Mutation(
        "a receipt is awaited for ever",
        "look",
        "if late:\n            _give_up(climb, leg)",
        "pass",
    ),
    Mutation(
        "the clock of the message is ignored",
        "look",
        "if now >= here.expires_at:\n            _expire(climb)",
        "pass",
    ),
    Mutation(
        "a wait may be longer than the message lives",
        "hear",
        "elif barred.by.until >= climb.here.expires_at:",
        "elif False:",
    ),
    Mutation(
        "a wait is not waited",
        "hear",
        "barred.by.reason, until=barred.by.until)",
        "barred.by.reason, until=climb.now)",
    ),
    Mutation(
        "a blocked vendor is asked again at once",
        "hear",
        "blocked.reason, until=blocked.until)",
        "blocked.reason, until=climb.now)",
    ),
    Mutation(
        "what was reserved is not released",
        "climb",
        "reserved=purse.reserved - call.reserved",
        "reserved=purse.reserved",
    ),
    Mutation("what was spent is not counted", "climb", "spent=purse.spent + cost", "spent=purse.spent"),
    Mutation(
        "nothing is reserved",
        "decide",
        "reserved=here.purse.reserved + held",
        "reserved=here.purse.reserved",
    ),
    Mutation(
        "a refusal is paid for", "hear", "cost=call.reserved if maybe_taken else 0", "cost=call.reserved"
    ),
    Mutation(
        "what may have been taken is not paid for",
        "hear",
        "isinstance(outcome, Accepted | Unlearned)",
        "isinstance(outcome, Accepted)",
    ),
    Mutation(
        "a call that was not made is paid for",
        "hear",
        "climb.settle(call, cost=0)",
        "climb.settle(call, cost=call.reserved)",
    ),
    Mutation(
        "the call of a dead worker is forgotten",
        "hear",
        '_called(climb, call, _past(climb, leg, call, "timed_out", ANSWER_NEVER_LEARNED, cost=call.reserved))',
        "pass",
    ),
    Mutation(
        "a delivery of a step that was left does not count",
        "hear",
        "if rank >= WANTED[step.success]:",
        "if rank >= WANTED[step.success] and past.step in climb.legs:",
    ),
    Mutation(
        "being sent is as good as being delivered",
        "statuses",
        '"delivered": 3, "read": 4}',
        '"delivered": 2, "read": 4}',
    ),
    Mutation(
        "the first delivery does not win while others are under way",
        "climb",
        'if self.end is None:\n            channel = self.here.steps[step - 1].channel\n            self.end = End(result="DELIVERED"',
        'if self.end is None and len(self.legs) < 2:\n            channel = self.here.steps[step - 1].channel\n            self.end = End(result="DELIVERED"',
    ),
    Mutation("what has arrived unread is not told", "ends", "if rank >= ARRIVED:", "if False:"),
    Mutation(
        "a delivery is told of the wrong channel",
        "climb",
        "channel = self.here.steps[step - 1].channel\n            self.end",
        "channel = self.here.steps[0].channel\n            self.end",
    ),
    Mutation(
        "a refused address is tried elsewhere", "look", "step.channel in _refused_channels(climb)", "False"
    ),
    Mutation(
        "a vendor that refuses is asked again",
        "hear",
        "if is_of_person(outcome) or not climb.others(leg):",
        "if is_of_person(outcome):",
    ),
    Mutation(
        "a skipped step is not told",
        "climb",
        "        self.past.append(past)",
        '        if past.status == "step_skipped":\n            return\n        self.past.append(past)',
    ),
    Mutation("every second step is passed over", "look", "climb.next += 1", "climb.next += 2"),
    Mutation("a step does not look at the hour", "look", "not step.hours.hold(climb.now)", "False"),
    Mutation(
        "what was learned is learned again",
        "hear",
        "_learn(climb, past, heard.status, before=known)",
        "_learn(climb, past, heard.status, before=0)",
    ),
    Mutation(
        "what was heard last counts",
        "hear",
        'if WEIGHT.get(heard.status, 0) > WEIGHT.get(past.receipt or "", 0):',
        "if True:",
    ),
    Mutation(
        "a refusal that comes after being sent is not heard",
        "hear",
        'if WEIGHT.get(heard.status, 0) > WEIGHT.get(past.receipt or "", 0):',
        "if rank > known or past.receipt is None:",
    ),
    Mutation(
        "losers are not called off",
        "look",
        "needless=_needless(climb) if climb.end is not None else ()",
        "needless=()",
    ),
    Mutation(
        "an answer that comes after the end is forgotten",
        "hear",
        "        if isinstance(happened, Answered):\n",
        "        if climb.end is not None:\n            pass\n        elif isinstance(happened, Answered):\n",
    ),
)
