"""A ladder during one turn: where it stands at the moment, and the moves that it can make."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from tidings.contracts.delivery import Evidence, SkipStep
from tidings.kernel.ids import time_of
from tidings.router.ladder.model import ATTEMPT, Calling, End, Learned, Leg, Past, Position, Step
from tidings.router.ladder.retry_policy import StepRetryPolicy
from tidings.router.ladder.waits import closed, waiting


class Climb:
    """Used once: `hear` what happened, then `look`."""

    def __init__(self, here: Position, *, retry_policy: StepRetryPolicy, now: datetime, luck: float) -> None:
        #: Where the turn began; what changes is below.
        self.here = here
        self.now = now
        self.luck = luck
        self._retry_policy = retry_policy
        self.legs = {leg.step: leg for leg in here.legs}
        self.next = here.next
        self.past = list(here.past)
        self.again = here.again
        self.purse = here.purse
        self.end: End | None = None
        self.fresh: list[Past] = []
        self.late: list[Past] = []
        self.learned: list[Learned] = []

    # --- moves

    def put(self, leg: Leg) -> None:
        """Its step is under way like this."""
        self.legs[leg.step] = leg

    def wait(self, leg: Leg, reason: str, *, until: datetime) -> None:
        """Its step can't be taken before then."""
        self.put(waiting(leg, reason, now=self.now, until=until))

    def leave(self, leg: Leg) -> None:
        """Its step is not under way any more; what it waited for stays with its last call."""
        self.legs.pop(leg.step, None)
        if not leg.waited:
            return
        place = next((i for i in reversed(range(len(self.past))) if self.past[i].step == leg.step), None)
        if place is not None:
            past = self.past[place]
            self.past[place] = replace(past, waited=(*past.waited, *closed(leg.waited, self.now)))

    def repeat(self, leg: Leg, *, at: datetime) -> None:
        """Once more, while the budget and the clocks allow it."""
        last = min(leg.deadline_at or self.here.expires_at, self.here.expires_at)
        if leg.tries >= self.budget(leg) or at >= last:
            self.leave(leg)
        else:
            self.put(replace(leg, due_at=at))

    def skip(self, leg: Leg, skip: SkipStep, *, again_at: datetime | None = None) -> None:
        """Pass over it; `again_at` is when it can be asked for again, if nothing else is left."""
        skip_id = ATTEMPT.new(self.now)
        self.note(
            Past(
                id=skip_id,
                step=leg.step,
                channel=self.step(leg).channel,
                status="step_skipped",
                started_at=time_of(skip_id),
                ended_at=self.now,
                reason=skip.reason,
                result=skip.result,
                again_at=again_at,
            )
        )
        # What it waited for goes to what was noted last.
        self.leave(leg)
        if skip.ends and self.end is None:
            self.end = End(result=skip.result, reason=skip.reason)

    def reached(self, step: int, evidence: Evidence) -> None:
        """A step has come to what it has to: the first one ends the ladder."""
        if self.end is None:
            channel = self.here.steps[step - 1].channel
            self.end = End(result="DELIVERED", evidence=evidence, final_channel=channel)

    def note(self, past: Past) -> None:
        """Write down an attempt of this turn."""
        self.past.append(past)
        self.fresh.append(past)

    def settle(self, call: Calling, *, cost: int) -> None:
        """Release what was held for a call, and pay what it cost."""
        if call.reserved:
            purse = self.purse
            self.purse = replace(purse, reserved=purse.reserved - call.reserved, spent=purse.spent + cost)

    # --- what is asked of it

    def step(self, leg: Leg) -> Step:
        """The step that it is a leg of."""
        return self.here.steps[leg.step - 1]

    def others(self, leg: Leg) -> bool:
        """Whether there is a vendor that was not called in this step; the simulated one stands in for any."""
        return leg.unlearned is None and len(leg.tried) < len(self.step(leg).vendors)

    def can_go_on(self, leg: Leg) -> bool:
        """Whether there is another way than this one."""
        return self.next <= len(self.here.steps) or any(step != leg.step for step in self.legs)

    def budget(self, leg: Leg) -> int:
        """How often its vendors may be called."""
        step = self.step(leg)
        return self._retry_policy.tries if step.retries is None else step.retries + 1

    def clock_of(self, leg: Leg) -> timedelta:
        """How long its step has, from the first call."""
        own = self.step(leg).deadline
        if own is not None:
            return timedelta(seconds=own)
        policy = self._retry_policy
        return policy.last_step_timeout if leg.step == len(self.here.steps) else policy.step_timeout

    def pause(self, leg: Leg) -> timedelta:
        """How long to wait before its next call."""
        return self._retry_policy.backoff.delay(leg.tries, self.luck)
