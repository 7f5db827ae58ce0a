"""A transition while it is being built: the state that changes, and the moves that the rules can make in it."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from tidings.contracts.delivery import Evidence, SkipStep
from tidings.contracts.ladder import LadderStep
from tidings.kernel.ids import time_of
from tidings.router.state_machine.model import (
    ATTEMPT,
    ActiveStep,
    ClosedAttempt,
    ExecutionEnd,
    ExecutionState,
    OpenAttempt,
    ReachObservation,
)
from tidings.router.state_machine.retry_policy import StepRetryPolicy
from tidings.router.state_machine.waits import closed, waiting


class TransitionBuilder:
    """Used for one transition: `apply_event` for each event, then `apply_clock`, which returns the transition."""

    def __init__(
        self, state: ExecutionState, *, retry_policy: StepRetryPolicy, now: datetime, jitter: float
    ) -> None:
        #: The state before; what changes is below.
        self.state = state
        self.now = now
        self.jitter = jitter
        self._retry_policy = retry_policy
        self.active_steps = {active.step: active for active in state.active_steps}
        self.next = state.next
        self.attempts = list(state.attempts)
        self.again = state.again
        self.cost_budget = state.cost_budget
        self.end: ExecutionEnd | None = None
        self.new_attempts: list[ClosedAttempt] = []
        self.late: list[ClosedAttempt] = []
        self.learned: list[ReachObservation] = []

    # --- moves

    def put(self, active: ActiveStep) -> None:
        """Set how a step under way stands."""
        self.active_steps[active.step] = active

    def wait(self, active: ActiveStep, reason: str, *, until: datetime) -> None:
        """Put the step's next attempt off until then."""
        self.put(waiting(active, reason, now=self.now, until=until))

    def leave(self, active: ActiveStep) -> None:
        """Give the step up; what it waited for stays with its last attempt."""
        self.active_steps.pop(active.step, None)
        if not active.waited:
            return
        steps = [attempt.step for attempt in self.attempts]
        if active.step in steps:
            place = len(steps) - 1 - steps[::-1].index(active.step)
            last = self.attempts[place]
            self.attempts[place] = replace(last, waited=(*last.waited, *closed(active.waited, self.now)))

    def retry(self, active: ActiveStep, *, at: datetime) -> None:
        """Try the step again at that moment, or give it up where its retry budget or a timeout is used up by then."""
        last = min(active.deadline_at or self.state.expires_at, self.state.expires_at)
        if active.tries >= self.max_attempts(active) or at >= last:
            self.leave(active)
        else:
            self.put(replace(active, due_at=at))

    def retry_elsewhere(self, active: ActiveStep, *, backoff: timedelta) -> None:
        """Try the step again: at once where another vendor is left, otherwise after the backoff."""
        self.retry(active, at=self.now if self.has_other_vendor(active) else self.now + backoff)

    def skip(self, active: ActiveStep, skip: SkipStep, *, again_at: datetime | None = None) -> None:
        """Skip the step; `again_at` is when it may be tried after all, if nothing else is left."""
        skip_id = ATTEMPT.new(self.now)
        self.add_attempt(
            ClosedAttempt(
                id=skip_id,
                step=active.step,
                channel=self.step(active).channel,
                status="step_skipped",
                started_at=time_of(skip_id),
                ended_at=self.now,
                reason=skip.reason,
                result=skip.result,
                again_at=again_at,
            )
        )
        # After that: the step's waits go to the attempt that was added last.
        self.leave(active)
        if skip.ends and self.end is None:
            self.end = ExecutionEnd(result=skip.result, reason=skip.reason)

    def succeed(self, step: int, evidence: Evidence) -> None:
        """A step reached what it has to: the first one ends the execution."""
        if self.end is None:
            channel = self.state.steps[step - 1].channel
            self.end = ExecutionEnd(result="DELIVERED", evidence=evidence, final_channel=channel)

    def add_attempt(self, attempt: ClosedAttempt) -> None:
        """Add an attempt that ended in this transition."""
        self.attempts.append(attempt)
        self.new_attempts.append(attempt)

    def settle(self, attempt: OpenAttempt, *, cost: int) -> None:
        """Release what the cost budget holds for an attempt, and count what it cost."""
        if attempt.reserved:
            budget = self.cost_budget
            self.cost_budget = replace(
                budget, reserved=budget.reserved - attempt.reserved, spent=budget.spent + cost
            )

    # --- questions

    def step(self, active: ActiveStep) -> LadderStep:
        """The step of the ladder that is under way."""
        return self.state.steps[active.step - 1]

    def has_other_vendor(self, active: ActiveStep) -> bool:
        """Whether a vendor of the step was not tried yet; the simulated vendor stands in for any."""
        return active.unlearned is None and len(active.tried) < len(self.step(active).vendors)

    def has_other_step(self, active: ActiveStep) -> bool:
        """Whether another step is left, or under way."""
        return self.next <= len(self.state.steps) or any(step != active.step for step in self.active_steps)

    def max_attempts(self, active: ActiveStep) -> int:
        """The retry budget of the step, the first attempt included."""
        step = self.step(active)
        return self._retry_policy.tries if step.retries is None else step.retries + 1

    def timeout(self, active: ActiveStep) -> timedelta:
        """How long the step may take, from its first attempt."""
        return step_timeout(self.state, active.step, self._retry_policy)

    def backoff(self, active: ActiveStep) -> timedelta:
        """How long to wait before the step's next attempt."""
        return self._retry_policy.backoff.delay(active.tries, self.jitter)


def step_timeout(state: ExecutionState, step: int, retry_policy: StepRetryPolicy) -> timedelta:
    """How long a step may take, from its first attempt: as the policy says, or by the use case."""
    own = state.steps[step - 1].deadline
    if own is not None:
        return timedelta(seconds=own)
    return retry_policy.last_step_timeout if step == len(state.steps) else retry_policy.step_timeout
