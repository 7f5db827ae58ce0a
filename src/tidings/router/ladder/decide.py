"""The ladder itself: a pure function from where it stands and what happened to what follows."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from tidings.contracts.words import UseCase
from tidings.router.ladder.climb import Climb
from tidings.router.ladder.hear import hear
from tidings.router.ladder.look import look
from tidings.router.ladder.model import Calling, Happened, Leg, Position, Purse, Step, Strategy, Turn
from tidings.router.ladder.retry_policy import STEP_RETRY_POLICIES, StepRetryPolicy
from tidings.router.ladder.waits import closed

_NOTHING: Final[tuple[Happened, ...]] = ()


class Ladder:
    """The rules, with the retry policies that they go by."""

    def __init__(self, retry_policies: Mapping[UseCase, StepRetryPolicy] = STEP_RETRY_POLICIES) -> None:
        self._retry_policies = retry_policies

    def start(
        self,
        steps: tuple[Step, ...],
        *,
        use_case: UseCase,
        expires_at: datetime,
        strategy: Strategy,
        now: datetime,
        cap: int | None = None,
    ) -> Position:
        """Before anything has happened."""
        at_once = len(steps) if strategy == "PARALLEL" else min(1, len(steps))
        return Position(
            steps=steps,
            use_case=use_case,
            expires_at=expires_at,
            strategy=strategy,
            legs=tuple(Leg(step=place, due_at=now) for place in range(1, at_once + 1)),
            next=at_once + 1,
            purse=Purse(cap=cap),
        )

    def turn(
        self, here: Position, happened: Sequence[Happened] = _NOTHING, *, now: datetime, luck: float = 0.5
    ) -> Turn:
        """What follows from what happened, and from the time that it is now."""
        climb = Climb(here, retry_policy=self._retry_policies[here.use_case], now=now, luck=luck)
        for one in happened:
            hear(climb, one)
        return look(climb)

    def called(self, here: Position, calls: Mapping[int, Calling], *, now: datetime) -> Position:
        """The same place, with the calls that are about to be made: by step."""
        legs = tuple(
            replace(
                leg,
                calling=call if not leg.waited else replace(call, waited=closed(leg.waited, now)),
                due_at=None,
                waits=None,
                waited=(),
                tries=leg.tries + 1,
                deadline_at=leg.deadline_at or now + self.clock_of(here, leg.step),
                tried=leg.tried if call.vendor in leg.tried else (*leg.tried, call.vendor),
            )
            if (call := calls.get(leg.step)) is not None
            else leg
            for leg in here.legs
        )
        held = sum(call.reserved for call in calls.values())
        purse = replace(here.purse, reserved=here.purse.reserved + held) if held else here.purse
        return replace(here, legs=legs, purse=purse)

    def clock_of(self, here: Position, step: int) -> timedelta:
        """How long a step has, from its first call."""
        own = here.steps[step - 1].deadline
        if own is not None:
            return timedelta(seconds=own)
        policy = self._retry_policies[here.use_case]
        return policy.last_step_timeout if step == len(here.steps) else policy.step_timeout
