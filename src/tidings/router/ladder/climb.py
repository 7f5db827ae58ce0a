"""One turn of a ladder: hears what happened, then looks at the clocks."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from tidings.contracts.callback_forms import Effect
from tidings.contracts.delivery import DeliveryResult, Evidence, SkipStep
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.ids import time_of
from tidings.router.ladder.model import (
    ANSWER_NEVER_LEARNED,
    ATTEMPT,
    CIRCUIT_OPEN,
    EXPIRED,
    NO_ACCOUNT,
    NO_ROUTE,
    NOT_IN_TIME,
    WRONG_HOUR,
    Answered,
    Barred,
    Blocked,
    Calling,
    End,
    Happened,
    Heard,
    Learned,
    Leg,
    NotCalled,
    Past,
    Position,
    Step,
    Turn,
    WorkerDied,
)
from tidings.router.ladder.patience import Patience, asked_pause

#: What a receipt amounts to; what is not here says that the message did not arrive.
_REACHED: Final[dict[str, int]] = {
    "accepted": 1,
    "sent": 2,
    "delivered": 3,
    "delivered_read": 4,
    "opened": 4,
    "clicked": 4,
}
_WANTED: Final[dict[str, int]] = {"accepted": 1, "sent": 2, "delivered": 3, "read": 4}
_EVIDENCE: Final[dict[int, Evidence]] = {1: "accepted", 2: "sent", 3: "delivered", 4: "read"}
_ARRIVED: Final = _REACHED["delivered"]
#: Receipts that a message did not arrive, and will not.
_LOST: Final = frozenset(
    {"failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient", "bounced"}
)
#: Of these the person's side is the cause: another vendor of the channel would hear the same.
_OF_PERSON: Final = frozenset({"rejected_by_recipient", "bounced"})
_OF_ADDRESS: Final = frozenset({"invalid_address", "hard_bounce"})

#: What is kept of all that was heard: the heavier. All receipts are heard again in every turn, in whatever order they came.
_WEIGHT: Final[dict[str, int]] = {
    "accepted": 1,
    "sent": 2,
    "failed_temp": 3,
    "failed_perm": 3,
    "rejected_by_provider": 3,
    "rejected_by_recipient": 4,
    "bounced": 4,
    "delivered": 5,
    "delivered_read": 6,
    "opened": 6,
    "clicked": 6,
}

#: Where all steps were skipped, the result that tells most about why.
_MOST_TELLING: Final[tuple[DeliveryResult, ...]] = (
    "REFUSED_CONSENT",
    "REFUSED_SENDER_UNAUTHORIZED",
    "REFUSED_COST_CAP",
    "FAILED",
    "REFUSED_NO_CHANNEL",
)


class Climb:
    """Used once: `hear` what happened, then `look`."""

    def __init__(self, here: Position, *, patience: Patience, now: datetime, luck: float) -> None:
        self._here = here
        self._patience = patience
        self._now = now
        self._luck = luck
        self._legs = {leg.step: leg for leg in here.legs}
        self._next = here.next
        self._past = list(here.past)
        self._again = here.again
        self._purse = here.purse
        self._end: End | None = None
        self._fresh: list[Past] = []
        self._late: list[Past] = []
        self._learned: list[Learned] = []

    # --- what happened

    def hear(self, happened: Happened) -> None:
        """Take in one thing; also after the end, where an answer is still written and paid for."""
        if isinstance(happened, Heard):
            self._heard(happened)
            return
        leg = self._legs.get(happened.step)
        if leg is None:
            return
        call = leg.calling
        if isinstance(happened, Answered | NotCalled | WorkerDied):
            if call is None or happened.call_id not in {None, call.id}:
                # It is about another call than the one that is under way.
                return
            if isinstance(happened, Answered):
                self._answered(leg, call, happened)
            elif isinstance(happened, NotCalled):
                self._settle(call, cost=0)
                self._legs[leg.step] = replace(leg, calling=None, due_at=self._now)
            else:
                self._died(leg, call)
            return
        match happened:
            case Barred() if self._end is None:
                self._barred(leg, happened)
            case Blocked() if self._end is None:
                self._blocked(leg, happened)

    def _barred(self, leg: Leg, barred: Barred) -> None:
        if isinstance(barred.by, SkipStep):
            self._skip(leg, barred.by, again_at=self._now if barred.by.reason == NO_ACCOUNT else None)
        elif barred.by.until >= self._here.expires_at:
            self._leave(leg)
        else:
            # The clock of the step stands still: it begins again with the next call. The budget does not.
            self._legs[leg.step] = replace(
                leg, due_at=max(barred.by.until, self._now), deadline_at=None, waits=barred.by.reason
            )

    def _answered(self, leg: Leg, call: Calling, answered: Answered) -> None:
        outcome = answered.outcome
        if answered.account is not None:
            call = replace(call, account=answered.account)
        # Whoever may have taken it may have charged for it.
        maybe_taken = isinstance(outcome, Accepted | Unlearned)
        status, reason = told_as(outcome)
        message_id = outcome.provider_message_id if isinstance(outcome, Accepted) else None
        self._called(
            leg,
            call,
            status,
            reason,
            cost=call.reserved if maybe_taken else 0,
            message_id=message_id,
            effect=outcome.effect if isinstance(outcome, Refused) else None,
        )
        leg = replace(leg, calling=None)
        self._legs[leg.step] = leg
        match outcome:
            case Accepted():
                step = self._step(leg)
                if not answered.receipts or step.success == "accepted":
                    self._reached(leg.step, "accepted")
                else:
                    self._legs[leg.step] = replace(leg, awaiting=call.id)
            case Refused(permanent=True):
                if outcome.status == "rejected_by_recipient":
                    self._learned.append(
                        Learned(channel=self._step(leg).channel, delivered=False, never=True)
                    )
                if is_of_person(outcome) or not self._others(leg):
                    self._leave(leg)
                else:
                    self._repeat(leg, at=self._now)
            case TryLater(after=after) if after is not None:
                pause = asked_pause(after, luck=self._luck)
                self._repeat(leg, at=self._now if self._others(leg) else self._now + pause)
            case Refused() | TryLater():
                self._repeat(leg, at=self._now if self._others(leg) else self._now + self._pause(leg))
            case Unlearned():
                if answered.idempotent:
                    leg = replace(leg, unlearned=call.vendor)
                self._repeat(leg, at=self._now + self._pause(leg))

    def _died(self, leg: Leg, call: Calling) -> None:
        self._called(leg, call, "timed_out", ANSWER_NEVER_LEARNED, cost=call.reserved)
        leg = replace(leg, calling=None, unlearned=call.vendor)
        self._legs[leg.step] = leg
        self._repeat(leg, at=self._now)

    def _called(
        self,
        leg: Leg,
        call: Calling,
        status: str,
        reason: str | None,
        *,
        cost: int,
        message_id: str | None = None,
        effect: Effect | None = None,
    ) -> None:
        self._settle(call, cost=cost)
        self._note(
            Past(
                id=call.id,
                step=leg.step,
                channel=self._step(leg).channel,
                status=status,
                started_at=call.started_at,
                ended_at=self._now,
                vendor=call.vendor,
                account=call.account,
                reason=reason,
                provider_message_id=message_id,
                cost=cost,
                why=call.why,
                effect=effect,
            )
        )

    def _settle(self, call: Calling, *, cost: int) -> None:
        if call.reserved:
            purse = self._purse
            self._purse = replace(purse, reserved=purse.reserved - call.reserved, spent=purse.spent + cost)

    def _blocked(self, leg: Leg, blocked: Blocked) -> None:
        if blocked.reason == CIRCUIT_OPEN:
            too_long = True
        else:
            too_long = blocked.until >= (leg.deadline_at or self._now + self._clock_of(leg))
        skip = SkipStep(reason=blocked.reason, result="FAILED")
        if blocked.until >= self._here.expires_at:
            self._skip(leg, skip)
        elif too_long and self._can_go_on(leg):
            self._skip(leg, skip, again_at=blocked.until)
        elif leg.deadline_at is not None and blocked.until >= leg.deadline_at:
            self._leave(leg)
        else:
            self._legs[leg.step] = replace(leg, due_at=max(blocked.until, self._now), waits=blocked.reason)

    def _heard(self, heard: Heard) -> None:
        place = next((i for i, past in enumerate(self._past) if past.id == heard.attempt_id), None)
        if place is None:
            return
        past = self._past[place]
        rank, known = _REACHED.get(heard.status, 0), _REACHED.get(past.receipt or "", 0)
        if _WEIGHT.get(heard.status, 0) > _WEIGHT.get(past.receipt or "", 0):
            self._past[place] = replace(past, receipt=heard.status)
            self._learn(past, heard.status, before=known)
        step = self._here.steps[past.step - 1]
        if rank >= _WANTED[step.success]:
            self._reached(past.step, _EVIDENCE[rank])
            return
        leg = self._legs.get(past.step)
        if heard.status in _LOST and leg is not None and leg.awaiting == past.id and self._end is None:
            leg = replace(leg, awaiting=None)
            self._legs[leg.step] = leg
            if heard.status == "failed_temp":
                self._repeat(leg, at=self._now if self._others(leg) else self._now + self._pause(leg))
            elif heard.status in _OF_PERSON or not self._others(leg):
                self._leave(leg)
            else:
                self._repeat(leg, at=self._now)

    def _learn(self, past: Past, status: str, *, before: int) -> None:
        channel = self._here.steps[past.step - 1].channel
        if _REACHED.get(status, 0) >= _ARRIVED > before:
            self._learned.append(Learned(channel=channel, delivered=True))
        elif status in _OF_PERSON:
            self._learned.append(Learned(channel=channel, delivered=False, never=True))

    # --- the clocks

    def look(self) -> Turn:
        """What follows, at this moment."""
        ask: list[int] = []
        while self._end is None:
            if self._now >= self._here.expires_at:
                self._expire()
            ask = [leg.step for leg in list(self._legs.values()) if self._due(leg)]
            if self._legs or self._end is not None:
                break
            if self._next <= len(self._here.steps):
                self._legs[self._next] = Leg(step=self._next, due_at=self._now)
                self._next += 1
                continue
            again = self._second_chance()
            if again is None:
                self._end = self._exhausted()
                break
            self._legs[again.step] = again
        there = replace(
            self._here,
            legs=tuple(self._legs.values()),
            next=self._next,
            past=tuple(self._past),
            again=self._again,
            purse=self._purse,
        )
        return Turn(
            there=there,
            end=self._end,
            ask=() if self._end is not None else tuple(ask),
            due_at=None if self._end is not None else self._due_at(),
            fresh=tuple(self._fresh),
            late=tuple(self._late),
            needless=self._needless() if self._end is not None else (),
            learned=tuple(self._learned),
        )

    def _due(self, leg: Leg) -> bool:
        """Whether it is to be called for now; what is over is left."""
        if self._end is not None or leg.calling is not None:
            return False
        if leg.awaiting is not None:
            if leg.deadline_at is not None and self._now >= leg.deadline_at:
                self._give_up(leg)
            return False
        step = self._step(leg)
        if step.barred is not None:
            self._skip(leg, SkipStep(reason=step.barred, result="REFUSED_NO_CHANNEL"))
        elif not step.vendors:
            self._skip(leg, SkipStep(reason=NO_ROUTE, result="REFUSED_NO_CHANNEL"))
        elif step.channel in self._refused_channels():
            self._skip(leg, SkipStep(reason="address_refused", result="FAILED"))
        elif (leg.deadline_at is not None and self._now >= leg.deadline_at) or leg.tries >= self._budget(
            step
        ):
            self._leave(leg)
        elif step.hours is not None and not step.hours.hold(self._now):
            self._skip(leg, SkipStep(reason=WRONG_HOUR, result="REFUSED_NO_CHANNEL"))
        else:
            return leg.due_at is not None and leg.due_at <= self._now
        return False

    def _expire(self) -> None:
        """Nothing is sent any more; what was sent may still be heard of until its own clock is over."""
        self._next = len(self._here.steps) + 1
        for leg in list(self._legs.values()):
            if leg.awaiting is None and leg.calling is None:
                self._leave(leg)

    def _give_up(self, leg: Leg) -> None:
        past = next(past for past in self._past if past.id == leg.awaiting)
        self._late.append(past)
        if _REACHED.get(past.receipt or "", 0) < _ARRIVED:
            self._learned.append(Learned(channel=self._step(leg).channel, delivered=False))
        self._leave(leg)

    def _due_at(self) -> datetime:
        if any(leg.calling is not None for leg in self._legs.values()):
            # Somebody has it in hand; whoever else finds it so finds that its caller is gone.
            return self._now
        return min(
            (leg.due_at or leg.deadline_at or self._now for leg in self._legs.values()), default=self._now
        )

    # --- the ends

    def _reached(self, step: int, evidence: Evidence) -> None:
        if self._end is None:
            channel = self._here.steps[step - 1].channel
            self._end = End(result="DELIVERED", evidence=evidence, final_channel=channel)

    def _exhausted(self) -> End:
        """No step is left."""
        for past in self._past:
            rank = _REACHED.get(past.receipt or "", 0)
            if rank >= _ARRIVED:
                # It was to be read, and it did arrive.
                channel = self._here.steps[past.step - 1].channel
                return End(result="DELIVERED", evidence=_EVIDENCE[rank], final_channel=channel)
        expired = self._now >= self._here.expires_at
        calls = [past for past in self._past if past.result is None]
        if calls:
            return End(result="FAILED", reason=EXPIRED if expired else _why(calls[-1]))
        skipped = [past for past in self._past if past.result is not None]
        if not self._here.steps:
            return End(result="REFUSED_NO_CHANNEL", reason=NO_ROUTE)
        if expired or not skipped:
            return End(result="FAILED", reason=EXPIRED)
        telling = min(reversed(skipped), key=lambda past: _rank(past.result))
        return End(result=telling.result or "FAILED", reason=telling.reason)

    def _second_chance(self) -> Leg | None:
        """A step that was only passed over because another one seemed quicker: there is nothing better left now."""
        passed = [past for past in self._past if past.again_at is not None and past.step not in self._again]
        for past in sorted(passed, key=lambda one: (one.again_at or self._now, one.step)):
            due_at = max(past.again_at or self._now, self._now)
            if due_at < self._here.expires_at and not any(
                other.step == past.step and other.vendor is not None for other in self._past
            ):
                self._again = (*self._again, past.step)
                return Leg(step=past.step, due_at=due_at)
        return None

    def _needless(self) -> tuple[Past, ...]:
        awaited = {leg.awaiting for leg in self._legs.values() if leg.awaiting is not None}
        return tuple(past for past in self._past if past.id in awaited and past.receipt is None)

    # --- small things

    def _step(self, leg: Leg) -> Step:
        return self._here.steps[leg.step - 1]

    def _note(self, past: Past) -> None:
        self._past.append(past)
        self._fresh.append(past)

    def _skip(self, leg: Leg, skip: SkipStep, *, again_at: datetime | None = None) -> None:
        skip_id = ATTEMPT.new(self._now)
        self._note(
            Past(
                id=skip_id,
                step=leg.step,
                channel=self._step(leg).channel,
                status="step_skipped",
                started_at=time_of(skip_id),
                ended_at=self._now,
                reason=skip.reason,
                result=skip.result,
                again_at=again_at,
            )
        )
        self._leave(leg)
        if skip.ends and self._end is None:
            self._end = End(result=skip.result, reason=skip.reason)

    def _leave(self, leg: Leg) -> None:
        self._legs.pop(leg.step, None)

    def _repeat(self, leg: Leg, *, at: datetime) -> None:
        """Once more, while the budget and the clocks allow it."""
        last = min(leg.deadline_at or self._here.expires_at, self._here.expires_at)
        if leg.tries >= self._budget(self._step(leg)) or at >= last:
            self._leave(leg)
        else:
            self._legs[leg.step] = replace(leg, due_at=at)

    def _others(self, leg: Leg) -> bool:
        """Whether there is a vendor that was not called in this step; the simulated one stands in for any."""
        return leg.unlearned is None and len(leg.tried) < len(self._step(leg).vendors)

    def _can_go_on(self, leg: Leg) -> bool:
        """Whether there is another way than this one."""
        return self._next <= len(self._here.steps) or any(step != leg.step for step in self._legs)

    def _refused_channels(self) -> set[str]:
        """What is wrong with an address is wrong with it at every vendor; another channel has another address."""
        return {
            past.channel
            for past in self._past
            if (past.status == "failed_perm" and is_of_address(past.reason or ""))
            or past.status == "rejected_by_recipient"
            or past.effect in _OF_ADDRESS
            or past.receipt in _OF_PERSON
        }

    def _budget(self, step: Step) -> int:
        return self._patience.tries if step.retries is None else step.retries + 1

    def _clock_of(self, leg: Leg) -> timedelta:
        own = self._step(leg).deadline
        if own is not None:
            return timedelta(seconds=own)
        return self._patience.last_step if leg.step == len(self._here.steps) else self._patience.step

    def _pause(self, leg: Leg) -> timedelta:
        return self._patience.pause(max(leg.tries, 1), luck=self._luck)


def is_of_person(refused: Refused) -> bool:
    """Whether another vendor would hear the same: it is the address, or whoever has it, and not the vendor."""
    return (
        is_of_address(refused.code)
        or refused.status == "rejected_by_recipient"
        or refused.effect in _OF_ADDRESS
    )


def is_of_address(code: str) -> bool:
    """Whether a refusal is about the address itself (RFC 3463, 5.1.x)."""
    return code.startswith("5.1.") or code == "5.1"


def told_as(outcome: Outcome) -> tuple[str, str | None]:
    """Status and reason under which an attempt is kept."""
    match outcome:
        case Accepted():
            return "accepted", None
        case Refused(code=code, permanent=True, status=status):
            return status or ("failed_perm" if is_of_address(code) else "rejected_by_provider"), code
        case Refused(code=code) | TryLater(code=code):
            return "failed_temp", code
        case Unlearned():
            return "timed_out", ANSWER_NEVER_LEARNED


def open_calls(legs: Iterable[Leg]) -> list[WorkerDied]:
    """What is to be heard of a ladder whose worker died."""
    return [WorkerDied(step=leg.step, call_id=leg.calling.id) for leg in legs if leg.calling is not None]


def _why(past: Past) -> str | None:
    """Why a call came to nothing."""
    if past.receipt in _LOST:
        return past.receipt
    return NOT_IN_TIME if past.status == "accepted" else past.reason


def _rank(result: DeliveryResult | None) -> int:
    return _MOST_TELLING.index(result) if result in _MOST_TELLING else len(_MOST_TELLING)
