"""Ladders with one rule broken: the invariants are only worth something if they notice each of them.

A mutation replaces a piece of the real source. Where that piece is gone, because the ladder was written anew, making
the mutant fails, so that none of them can pass unnoticed.
"""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

from tests.simulation.pure.disk import Fences
from tests.simulation.pure.rules import Rules
from tidings.router.ladder import climb, decide, model

_MODULES: Final[dict[str, ModuleType]] = {"climb": climb, "decide": decide, "model": model}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One rule that is broken."""

    name: str
    module: Literal["climb", "decide", "model"]
    old: str
    new: str

    def rules(self) -> Rules:
        """The rules with this one broken."""
        changed = self._run(self.module)
        if self.module == "model":
            return Rules(holds=changed["Purse"].holds)
        if self.module == "decide":
            return Rules(ladder=changed["Ladder"]())
        plain = self._run("decide", change=False)
        # The ladder looks its turns up here when it makes one.
        plain["Climb"] = changed["Climb"]
        return Rules(ladder=plain["Ladder"]())

    def _run(self, name: str, *, change: bool = True) -> dict[str, Any]:
        module = _MODULES[name]
        source = Path(module.__file__ or "").read_text()
        if change:
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
        "climb",
        "if leg.deadline_at is not None and self._now >= leg.deadline_at:\n                self._give_up(leg)",
        "pass",
    ),
    Mutation(
        "the clock of the message is ignored",
        "climb",
        "if self._now >= self._here.expires_at:\n                self._expire()",
        "pass",
    ),
    Mutation(
        "a wait may be longer than the message lives",
        "climb",
        "elif barred.by.until >= self._here.expires_at:",
        "elif False:",
    ),
    Mutation("a wait is not waited", "climb", "due_at=max(barred.by.until, self._now)", "due_at=self._now"),
    Mutation(
        "a blocked vendor is asked again at once",
        "climb",
        "due_at=max(blocked.until, self._now)",
        "due_at=self._now",
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
        "a refusal is paid for", "climb", "cost=call.reserved if maybe_taken else 0", "cost=call.reserved"
    ),
    Mutation(
        "what may have been taken is not paid for",
        "climb",
        "isinstance(outcome, Accepted | Unlearned)",
        "isinstance(outcome, Accepted)",
    ),
    Mutation(
        "a call that was not made is paid for",
        "climb",
        "self._settle(call, cost=0)",
        "self._settle(call, cost=call.reserved)",
    ),
    Mutation(
        "the call of a dead worker is forgotten",
        "climb",
        'self._called(leg, call, "timed_out", ANSWER_NEVER_LEARNED, cost=call.reserved)',
        "pass",
    ),
    Mutation(
        "a delivery of a step that was left does not count",
        "climb",
        "if rank >= _WANTED[step.success]:",
        "if rank >= _WANTED[step.success] and past.step in self._legs:",
    ),
    Mutation(
        "being sent is as good as being delivered",
        "climb",
        '"delivered": 3, "read": 4}',
        '"delivered": 2, "read": 4}',
    ),
    Mutation(
        "the first delivery does not win while others are under way",
        "climb",
        'if self._end is None:\n            channel = self._here.steps[step - 1].channel\n            self._end = End(result="DELIVERED"',
        'if self._end is None and len(self._legs) < 2:\n            channel = self._here.steps[step - 1].channel\n            self._end = End(result="DELIVERED"',
    ),
    Mutation("what has arrived unread is not told", "climb", "if rank >= _ARRIVED:", "if False:"),
    Mutation(
        "a delivery is told of the wrong channel",
        "climb",
        "channel = self._here.steps[step - 1].channel\n            self._end",
        "channel = self._here.steps[0].channel\n            self._end",
    ),
    Mutation(
        "a refused address is tried elsewhere", "climb", "step.channel in self._refused_channels()", "False"
    ),
    Mutation(
        "a vendor that refuses is asked again",
        "climb",
        "if is_of_person(outcome) or not self._others(leg):",
        "if is_of_person(outcome):",
    ),
    Mutation(
        "a skipped step is not told",
        "climb",
        "    def _note(self, past: Past) -> None:\n        self._past.append(past)",
        '    def _note(self, past: Past) -> None:\n        if past.status == "step_skipped":\n            return\n        self._past.append(past)',
    ),
    Mutation("every second step is passed over", "climb", "self._next += 1", "self._next += 2"),
    Mutation("a step does not look at the hour", "climb", "not step.hours.hold(self._now)", "False"),
    Mutation(
        "what was learned is learned again",
        "climb",
        "self._learn(past, heard.status, before=known)",
        "self._learn(past, heard.status, before=0)",
    ),
    Mutation(
        "what was heard last counts",
        "climb",
        'if _WEIGHT.get(heard.status, 0) > _WEIGHT.get(past.receipt or "", 0):',
        "if True:",
    ),
    Mutation(
        "a refusal that comes after being sent is not heard",
        "climb",
        'if _WEIGHT.get(heard.status, 0) > _WEIGHT.get(past.receipt or "", 0):',
        "if rank > known or past.receipt is None:",
    ),
    Mutation(
        "losers are not called off",
        "climb",
        "needless=self._needless() if self._end is not None else ()",
        "needless=()",
    ),
    Mutation(
        "an answer that comes after the end is forgotten",
        "climb",
        "            if isinstance(happened, Answered):\n",
        "            if self._end is not None:\n                pass\n            elif isinstance(happened, Answered):\n",
    ),
)
