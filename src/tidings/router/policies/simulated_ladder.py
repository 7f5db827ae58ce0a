"""Walks a ladder in memory, by the same rules as in earnest, for vendors that all behave in one way; no I/O."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from tidings.contracts.messages import Outcome
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import (
    ATTEMPT,
    ClosedAttempt,
    ExecutionEnd,
    ExecutionState,
    OpenAttempt,
    StepBarred,
    StepBlocked,
    VendorAnswered,
)

#: More turns than any ladder has.
_MOST_TURNS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedStepCost:
    """Who would be called for a step, and for how much."""

    vendor: str
    account_id: str | None
    #: In micros of the ladder's currency.
    cost: int
    #: Whether this vendor tells later what became of a message.
    receipts: bool


#: What a step would come to before its call, at that moment, with so much in the purse.
Asked: TypeAlias = Callable[[int, datetime, CostBudget], SimulatedStepCost | StepBarred | StepBlocked]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedEvent:
    """Something that would happen on the way."""

    at: datetime
    step: int
    what: Literal["called", "skipped", "gave_up"]
    vendor: str | None = None
    #: Why it would be skipped.
    reason: str | None = None
    cost: int = 0


@dataclass(slots=True, kw_only=True)
class SimulatedRun:
    """The whole way."""

    footprints: list[SimulatedEvent] = field(default_factory=list)
    end: ExecutionEnd | None = None
    ended_at: datetime
    spent: int = 0


def walk(
    ladder: ExecutionStateMachine,
    start: ExecutionState,
    *,
    now: datetime,
    ask: Asked,
    answer: Outcome,
    jitter: float = 0.5,
) -> SimulatedRun:
    """What would happen if every vendor answered so, and nothing were heard afterwards; `jitter` spreads the pauses."""
    way = SimulatedRun(ended_at=now)
    here, at = start, now
    for _ in range(_MOST_TURNS):
        turn = ladder.transition(here, now=at, jitter=jitter)
        _note(way, turn.new_attempts, turn.late, at)
        here = turn.state
        if turn.end is None and turn.ask:
            here, ended = _called(ladder, here, turn.ask, way, at=at, ask=ask, answer=answer, jitter=jitter)
            if ended is None:
                continue
            way.end = ended
        way.end = way.end or turn.end
        if way.end is not None or turn.due_at is None or turn.due_at <= at:
            break
        at = turn.due_at
    way.ended_at, way.spent = at, here.cost_budget.spent
    return way


def _called(
    ladder: ExecutionStateMachine,
    here: ExecutionState,
    steps: tuple[int, ...],
    way: SimulatedRun,
    *,
    at: datetime,
    ask: Asked,
    answer: Outcome,
    jitter: float,
) -> tuple[ExecutionState, ExecutionEnd | None]:
    barred: list[StepBarred | StepBlocked] = []
    calls: dict[int, SimulatedStepCost] = {}
    purse = here.cost_budget
    for step in steps:
        found = ask(step, at, purse)
        if isinstance(found, SimulatedStepCost):
            calls[step] = found
            purse = CostBudget(cap=purse.cap, reserved=purse.reserved + found.cost, spent=purse.spent)
        else:
            barred.append(found)
    if barred:
        turn = ladder.transition(here, barred, now=at, jitter=jitter)
        _note(way, turn.new_attempts, turn.late, at)
        here = turn.state
        if turn.end is not None:
            return here, turn.end
    if not calls:
        return here, None
    marked = {
        step: OpenAttempt(
            id=ATTEMPT.new(at), vendor=fare.vendor, account=fare.account_id, started_at=at, reserved=fare.cost
        )
        for step, fare in calls.items()
    }
    here = ladder.open_attempts(here, marked, now=at)
    heard = [
        VendorAnswered(step=step, outcome=answer, receipts=fare.receipts) for step, fare in calls.items()
    ]
    turn = ladder.transition(here, heard, now=at, jitter=jitter)
    _note(way, turn.new_attempts, turn.late, at)
    return turn.state, turn.end


def _note(
    way: SimulatedRun, fresh: tuple[ClosedAttempt, ...], late: tuple[ClosedAttempt, ...], at: datetime
) -> None:
    for past in fresh:
        skipped = past.status == "step_skipped"
        way.footprints.append(
            SimulatedEvent(
                at=at,
                step=past.step,
                what="skipped" if skipped else "called",
                vendor=past.vendor,
                reason=past.reason if skipped else None,
                cost=past.cost,
            )
        )
    way.footprints += [
        SimulatedEvent(at=at, step=past.step, what="gave_up", vendor=past.vendor) for past in late
    ]
