"""Where a ladder stands, what can happen to it, and what follows."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NewType, TypeAlias

import msgspec

from tidings.contracts.callback_forms import Effect
from tidings.contracts.delivery import AddressTold, DeliveryResult, Evidence, SkipStep, WaitStep
from tidings.contracts.messages import Outcome, SentRecord
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.contracts.words import UseCase
from tidings.kernel.ids import IdKind
from tidings.router.ladder.hours import Hours

Strategy = Literal["SEQUENTIAL", "PARALLEL", "FAILOVER"]
#: What a step has to reach to count.
Success = Literal["accepted", "sent", "delivered", "read"]

AttemptId = NewType("AttemptId", str)
ATTEMPT = IdKind("attempt", AttemptId)

ANSWER_NEVER_LEARNED: Final = "answer_never_learned"
EXPIRED: Final = "expired"
NO_ROUTE: Final = "no_route"
#: Conditions of a step that do not hold when it is to be taken.
WRONG_HOUR: Final = "condition_hours"
WRONG_PREFIX: Final = "condition_prefix"
#: A step was left because its clock was over before it had reached what it has to.
NOT_IN_TIME: Final = "not_in_time"
COST_CAP: Final = "cost_cap"
SENDER_UNAUTHORISED: Final = "sender_unauthorised"
CIRCUIT_OPEN: Final = "circuit_open"
ACCOUNT_OFF: Final = "account_off"
NO_ACCOUNT: Final = "no_account"
VENDOR_LIMIT: Final = "vendor_limit"


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of the frozen ladder."""

    channel: Channel
    #: Who may carry it, the first choice first; none: the step can't be taken.
    vendors: tuple[str, ...] = ()
    #: Where the vendor sends no receipts, being accepted is all that there is to reach.
    success: Success = "accepted"
    #: Seconds from its first call; None: by what the message is for.
    deadline: int | None = None
    #: Calls after the first; None: by what the message is for.
    retries: int | None = None
    #: Seconds that one call may take; None: as long as the adapter says.
    call_seconds: float | None = None
    #: Telephone addresses have to begin with one of these.
    prefixes: tuple[str, ...] | None = None
    #: It is taken within these hours only.
    hours: Hours | None = None
    #: Known from the start: it is not taken, for this reason.
    barred: str | None = None


class Waited(msgspec.Struct, frozen=True, kw_only=True):
    """What a step waited for before it was called for; one after the other for the same reason is one."""

    #: `circuit_open`, `vendor_limit`, or the reason of a gate.
    reason: str
    since: Moment
    #: While it waits: the moment that it waits for.
    until: Moment


class Past(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A vendor call that was answered, or a step that was skipped."""

    id: str
    step: int
    channel: str
    status: str
    started_at: Moment
    ended_at: Moment
    vendor: str | None = None
    account: str | None = None
    reason: str | None = None
    provider_message_id: str | None = None
    #: For a step that was skipped: how the ladder would end if there were no other.
    result: DeliveryResult | None = None
    #: It was only passed over, because another one seemed quicker: from then on it can be asked for again.
    again_at: Moment | None = None
    #: What it cost, in micros of the ladder's currency.
    cost: int = 0
    #: The best that was heard of it since.
    receipt: str | None = None
    #: Why this vendor, where there was a choice.
    why: str | None = None
    #: What the vendor's refusal means for the address.
    effect: Effect | None = None
    #: What it means for single ones, where it went to several.
    others: tuple[AddressTold, ...] = ()
    #: What the vendor's code, which is the reason, means by the status map.
    meaning: str | None = None
    #: Of the vendor's answer, where it came over HTTP.
    http_status: int | None = None
    #: How long the vendor wanted to be left alone.
    retry_after_ms: int | None = None
    #: The vendor's words or ours, without anything personal.
    error: str | None = None
    #: Where the vendor's answer is kept, word for word.
    answer_ref: str | None = None
    #: What its step had waited for, the oldest first.
    waited: tuple[Waited, ...] = ()


class Calling(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A vendor call under way, noted before it is made."""

    id: str
    vendor: str
    started_at: Moment
    account: str | None = None
    #: Held for it under the cap until its answer is known.
    reserved: int = 0
    #: Why this vendor, where there was a choice.
    why: str | None = None
    #: What is kept of the message, whatever becomes of the call.
    record: SentRecord | None = None
    #: What its step had waited for, the oldest first.
    waited: tuple[Waited, ...] = ()


class Leg(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that was begun and is neither reached nor left."""

    #: Counts from 1.
    step: int
    #: When it is to be called for; None while a call is under way or a receipt is awaited.
    due_at: Moment | None = None
    #: Vendor calls begun in it.
    tries: int = 0
    #: The clock of the step; it begins with the first call.
    deadline_at: Moment | None = None
    calling: Calling | None = None
    #: The attempt that was accepted, whose receipt is awaited.
    awaiting: str | None = None
    #: Vendors that were called in it.
    tried: tuple[str, ...] = ()
    #: Its answer was not learned, and it would recognise the message: it is asked again, and no other one in this step.
    unlearned: str | None = None
    #: What it waits for: `circuit_open`, `account_off`, `vendor_limit`, or the reason of a gate.
    waits: str | None = None
    #: What it has waited for since its last call, the oldest first; the last one may go on.
    waited: tuple[Waited, ...] = ()


class Purse(msgspec.Struct, frozen=True, kw_only=True):
    """What a message may cost, in micros: reserved plus spent never passes the cap."""

    cap: int | None = None
    reserved: int = 0
    spent: int = 0

    def holds(self, cost: int) -> bool:
        """Whether a call that costs so much may be made."""
        return self.cap is None or self.reserved + self.spent + cost <= self.cap


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Where a ladder stands."""

    steps: tuple[Step, ...]
    use_case: UseCase
    #: The clock of the message: nothing is sent from then on.
    expires_at: datetime
    strategy: Strategy = "SEQUENTIAL"
    #: Those under way; one at a time, unless the strategy is PARALLEL.
    legs: tuple[Leg, ...] = ()
    #: The step that was not begun yet; one more than there are: none.
    next: int = 1
    past: tuple[Past, ...] = ()
    #: Steps that had been passed over and got their second chance.
    again: tuple[int, ...] = ()
    purse: Purse = Purse()


# --- what can happen


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A vendor has answered a call, or its answer was not learned."""

    step: int
    outcome: Outcome
    #: Whether this vendor tells later what became of the message.
    receipts: bool = False
    #: Whether it recognises a message that is handed to it twice.
    idempotent: bool = False
    #: Which call; None: whichever is under way.
    call_id: str | None = None
    #: Through which account, where that is known.
    account: str | None = None
    #: What is meant for single addresses, where it went to several.
    others: tuple[AddressTold, ...] = ()
    #: Where the vendor's answer is kept, word for word.
    answer_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCalled:
    """A call that was noted was not made, because it was too late for it."""

    step: int
    #: Which call; None: whichever is under way.
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerDied:
    """A call was under way when its worker died: its answer was never learned, and the vendor is not to blame."""

    step: int
    #: Which call; None: whichever is under way.
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """Before any call: the gates, the purse or the conditions do not let the step be taken, or not now."""

    step: int
    by: SkipStep | WaitStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Before any call: none of the step's vendors can take it until then."""

    step: int
    #: `circuit_open`, `account_off` or `vendor_limit`.
    reason: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A receipt: what a vendor says about an attempt afterwards. To hear it twice changes nothing."""

    attempt_id: str
    status: str
    reason: str | None = None


Happened: TypeAlias = Answered | NotCalled | WorkerDied | Barred | Blocked | Heard


# --- what follows


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """It is over."""

    result: DeliveryResult
    evidence: Evidence | None = None
    #: Why, where it was not delivered.
    reason: str | None = None
    final_channel: Channel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A channel has, or has not, reached the person."""

    channel: Channel
    delivered: bool
    #: The person's side said so: there is no such account there.
    never: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What follows from what happened."""

    there: Position
    #: None: it goes on.
    end: End | None = None
    #: Steps to be called for now.
    ask: tuple[int, ...] = ()
    #: When somebody has to look again, where it goes on and nothing is asked for.
    due_at: datetime | None = None
    #: Attempts that were answered or skipped in this turn; each is written once.
    fresh: tuple[Past, ...] = ()
    #: Attempts given up because their receipt did not come in time.
    late: tuple[Past, ...] = ()
    #: Attempts whose messages nobody needs any more.
    needless: tuple[Past, ...] = ()
    learned: tuple[Learned, ...] = field(default=())
