"""The ladder itself: pure functions from where it stands and what happened to what follows."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from tidings.contracts.delivery import DeliveryResult, SkipStep, WaitStep
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.contracts.words import UseCase
from tidings.router.ladder.model import (
    ANSWER_NEVER_LEARNED,
    EXPIRED,
    NO_ROUTE,
    Again,
    Call,
    Decision,
    End,
    Happened,
    Move,
    Next,
    Past,
    Position,
    Wait,
    WorkerDied,
)
from tidings.router.ladder.patience import PATIENCE, Patience, asked_pause

#: Where all steps were skipped, the result that tells most about why.
_MOST_TELLING: Final[tuple[DeliveryResult, ...]] = (
    "REFUSED_CONSENT",
    "REFUSED_SENDER_UNAUTHORIZED",
    "REFUSED_COST_CAP",
    "FAILED",
    "REFUSED_NO_CHANNEL",
)


class Ladder:
    """The rules, with the patience that they go by."""

    def __init__(self, patience: Mapping[UseCase, Patience] = PATIENCE) -> None:
        self._patience = patience

    def look(self, here: Position, *, now: datetime) -> Call | Decision:
        """What to do when its time has come; a vendor is called only after `Call`."""
        if not here.steps:
            return End(result="REFUSED_NO_CHANNEL", reason=NO_ROUTE)
        if now >= here.expires_at:
            return End(result="FAILED", reason=EXPIRED)
        over = here.step_deadline_at is not None and now >= here.step_deadline_at
        if over or here.tries >= self._patience[here.use_case].tries:
            return self._leave(here, _last_reason(here))
        return Call()

    def step_deadline(self, here: Position, *, now: datetime) -> datetime:
        """The clock of the step that is about to be called for."""
        if here.step_deadline_at is not None:
            return here.step_deadline_at
        patience = self._patience[here.use_case]
        clock = patience.last_step if here.step == len(here.steps) else patience.step
        return min(now + clock, here.expires_at)

    def after(self, here: Position, happened: Happened, *, now: datetime, luck: float) -> Decision:
        """What follows from what happened at this step."""
        match happened:
            case Accepted():
                return End(
                    result="DELIVERED", evidence="accepted", final_channel=here.steps[here.step - 1].channel
                )
            case Refused(code=code, permanent=True):
                return self._leave(here, code, address_is_wrong=is_of_address(code))
            case Refused(code=code) | TryLater(code=code, after=None):
                return self._repeat(here, code, at=now + self._pause(here, luck), now=now)
            case TryLater(code=code, after=after):
                assert after is not None  # noqa: S101  # the case before took it
                return self._repeat(here, code, at=now + asked_pause(after, luck=luck), now=now)
            case Unlearned():
                return self._repeat(here, ANSWER_NEVER_LEARNED, at=now + self._pause(here, luck), now=now)
            case WorkerDied():
                return self._repeat(here, ANSWER_NEVER_LEARNED, at=now, now=now)
            case SkipStep(ends=True):
                return End(result=happened.result, reason=happened.reason)
            case SkipStep():
                return self._leave(here, happened.reason, skipped=happened.result)
            case WaitStep(until=until):
                if until >= here.expires_at:
                    return End(result="FAILED", reason=EXPIRED)
                return Wait(until=max(until, now))

    def _pause(self, here: Position, luck: float) -> timedelta:
        return self._patience[here.use_case].pause(max(here.tries, 1), luck=luck)

    def _repeat(self, here: Position, reason: str, *, at: datetime, now: datetime) -> Decision:
        """The same vendor again, while the budget and the clock of the step allow it."""
        if now >= here.expires_at:
            return End(result="FAILED", reason=EXPIRED)
        spent = here.tries >= self._patience[here.use_case].tries
        if spent or at >= self.step_deadline(here, now=now):
            return self._leave(here, reason)
        return Again(at=at)

    def _leave(
        self,
        here: Position,
        reason: str | None,
        *,
        skipped: DeliveryResult | None = None,
        address_is_wrong: bool = False,
    ) -> Decision:
        """The next step, or the end where there is none."""
        channel = here.steps[here.step - 1].channel
        for place in range(here.step, len(here.steps)):
            # What is wrong with an address is wrong with it at every vendor; another channel has another address.
            if not (address_is_wrong and here.steps[place].channel == channel):
                return Next(step=place + 1)
        called = skipped is None or any(past.result is None for past in here.past)
        if called:
            return End(result="FAILED", reason=reason if skipped is None else _last_reason(here))
        told = [(past.result, past.reason) for past in here.past if past.result] + [(skipped, reason)]
        result, why = min(reversed(told), key=lambda one: _rank(one[0]))
        return End(result=result or "FAILED", reason=why)


def moved(here: Position, decision: Move, past: Past | None, *, now: datetime) -> tuple[Position, datetime]:
    """Where it stands after the decision, and when it goes on."""
    known = here.past if past is None else (*here.past, past)
    match decision:
        case Again(at=at):
            return replace(here, past=known), at
        case Wait(until=until):
            # The clock of the step stands still: it begins again with the next call. The budget does not.
            return replace(here, past=known, step_deadline_at=None), until
        case Next(step=step):
            return replace(here, past=known, step=step, tries=0, step_deadline_at=None), now


def is_of_address(code: str) -> bool:
    """Whether a refusal is about the address itself (RFC 3463, 5.1.x)."""
    return code.startswith("5.1.") or code == "5.1"


def told_as(happened: Happened) -> tuple[str, str | None] | None:
    """Status and reason under which an attempt is kept; None where there was none."""
    match happened:
        case Accepted():
            return "accepted", None
        case Refused(code=code, permanent=True):
            return ("failed_perm" if is_of_address(code) else "rejected_by_provider"), code
        case Refused(code=code) | TryLater(code=code):
            return "failed_temp", code
        case Unlearned() | WorkerDied():
            return "timed_out", ANSWER_NEVER_LEARNED
        case SkipStep(reason=reason):
            return "step_skipped", reason
        case WaitStep():
            return None


def _last_reason(here: Position) -> str | None:
    """Why the last call came to nothing."""
    return next((past.reason for past in reversed(here.past) if past.result is None), None)


def _rank(result: DeliveryResult | None) -> int:
    return _MOST_TELLING.index(result) if result in _MOST_TELLING else len(_MOST_TELLING)
