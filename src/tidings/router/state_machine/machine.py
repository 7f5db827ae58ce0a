"""The execution state machine: a pure function from a state, events and the time to the transition that follows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import LadderStep, Strategy
from tidings.router.state_machine.apply_clock import apply_clock
from tidings.router.state_machine.apply_event import apply_event
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.model import (
    ActiveStep,
    ExecutionEvent,
    ExecutionState,
    OpenAttempt,
    Transition,
)
from tidings.router.state_machine.retry_policy import STEP_RETRY_POLICIES, StepRetryPolicy
from tidings.router.state_machine.transition import TransitionBuilder, step_timeout
from tidings.router.state_machine.waits import closed

_NO_EVENTS: Final[tuple[ExecutionEvent, ...]] = ()


class ExecutionStateMachine:
    """The rules, with the retry policy of each use case."""

    def __init__(self, retry_policies: Mapping[UseCase, StepRetryPolicy] = STEP_RETRY_POLICIES) -> None:
        self._retry_policies = retry_policies

    def start(
        self,
        steps: tuple[LadderStep, ...],
        *,
        use_case: UseCase,
        expires_at: datetime,
        strategy: Strategy,
        now: datetime,
        cap: int | None = None,
    ) -> ExecutionState:
        """The state before the first event."""
        at_once = len(steps) if strategy == "PARALLEL" else min(1, len(steps))
        return ExecutionState(
            steps=steps,
            use_case=use_case,
            expires_at=expires_at,
            strategy=strategy,
            active_steps=tuple(ActiveStep(step=place, due_at=now) for place in range(1, at_once + 1)),
            next=at_once + 1,
            cost_budget=CostBudget(cap=cap),
        )

    def transition(
        self,
        state: ExecutionState,
        events: Sequence[ExecutionEvent] = _NO_EVENTS,
        *,
        now: datetime,
        jitter: float = 0.5,
    ) -> Transition:
        """What follows from the events, and from the time; `jitter` (0 to 1) spreads retries that failed together."""
        builder = TransitionBuilder(
            state, retry_policy=self._retry_policies[state.use_case], now=now, jitter=jitter
        )
        for event in events:
            apply_event(builder, event)
        return apply_clock(builder)

    def further(
        self, first: Transition, events: Sequence[ExecutionEvent], *, now: datetime, jitter: float = 0.5
    ) -> Transition:
        """What follows when more happens before the first transition is written: both, as one."""
        if not events:
            return first
        then = self.transition(first.state, events, now=now, jitter=jitter)
        return Transition(
            state=then.state,
            end=then.end,
            ask=then.ask,
            due_at=then.due_at,
            new_attempts=(*first.new_attempts, *then.new_attempts),
            late=(*first.late, *then.late),
            needless=then.needless,
            learned=(*first.learned, *then.learned),
        )

    def opened(
        self, transition: Transition, attempts: Mapping[int, OpenAttempt], *, now: datetime
    ) -> Transition:
        """The same transition, with attempts that are about to be made, by step: they are written before the vendors are called."""
        return Transition(
            state=self.open_attempts(transition.state, attempts, now=now),
            due_at=now,
            new_attempts=transition.new_attempts,
            late=transition.late,
            learned=transition.learned,
        )

    def open_attempts(
        self, state: ExecutionState, attempts: Mapping[int, OpenAttempt], *, now: datetime
    ) -> ExecutionState:
        """The same state, with attempts that are about to be made, by step."""
        retry_policy = self._retry_policies[state.use_case]
        active_steps = tuple(
            replace(
                active,
                open_attempt=attempt
                if not active.waited
                else replace(attempt, waited=closed(active.waited, now)),
                due_at=None,
                waits=None,
                waited=(),
                tries=active.tries + 1,
                deadline_at=active.deadline_at or now + step_timeout(state, active.step, retry_policy),
                tried=active.tried if attempt.vendor in active.tried else (*active.tried, attempt.vendor),
            )
            if (attempt := attempts.get(active.step)) is not None
            else active
            for active in state.active_steps
        )
        held = sum(attempt.reserved for attempt in attempts.values())
        budget = state.cost_budget
        if held:
            budget = replace(budget, reserved=budget.reserved + held)
        return replace(state, active_steps=active_steps, cost_budget=budget)
