"""The state of an execution, the events that change it, and the transition that follows. (An execution climbs its ladder: the steps in their order.)"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NewType, TypeAlias

import msgspec

from tidings.contracts import delivery
from tidings.contracts.callback_forms import Effect
from tidings.contracts.delivery import AddressTold, DeliveryResult, Evidence, SkipStep, WaitStep
from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import LadderStep, Strategy
from tidings.contracts.messages import Outcome, SentRecord
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import IdKind
from tidings.router.state_machine.cost_budget import CostBudget

AttemptId = NewType("AttemptId", str)
ATTEMPT = IdKind("attempt", AttemptId)

ANSWER_NEVER_LEARNED: Final = delivery.ANSWER_NEVER_LEARNED
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


class StepWait(msgspec.Struct, frozen=True, kw_only=True):
    """A wait of a step before its attempt; consecutive waits for the same reason are one."""

    #: `circuit_open`, `vendor_limit`, `batch_pace`, or the reason of a gate.
    reason: str
    since: Moment
    #: While it waits: the moment that it waits for.
    until: Moment


class ClosedAttempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An attempt that is over: a vendor call that was answered or timed out, or a step that was skipped."""

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
    #: For a step that was skipped: the result of the execution if no other step is left.
    result: DeliveryResult | None = None
    #: A step that was passed over because another seemed quicker: from this moment it may be retried.
    again_at: Moment | None = None
    #: What it cost, in micros of the execution's currency.
    cost: int = 0
    #: The receipt that weighs most of those received since.
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
    waited: tuple[StepWait, ...] = ()


class OpenAttempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An attempt under way, stored before the vendor is called."""

    id: str
    vendor: str
    started_at: Moment
    account: str | None = None
    #: Reserved in the cost budget until the answer is known.
    reserved: int = 0
    #: Why this vendor, where there was a choice.
    why: str | None = None
    #: What is kept of the message, whatever becomes of the call.
    record: SentRecord | None = None
    #: What its step had waited for, the oldest first.
    waited: tuple[StepWait, ...] = ()


class ActiveStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step under way: begun, and neither successful nor given up."""

    #: Counts from 1.
    step: int
    #: When its next attempt is due; None while an attempt is open or a receipt is awaited.
    due_at: Moment | None = None
    #: Attempts begun in it: the retry budget counts these.
    tries: int = 0
    #: The timeout of the step; it begins with the first attempt.
    deadline_at: Moment | None = None
    #: Stored as `calling`.
    open_attempt: OpenAttempt | None = msgspec.field(default=None, name="calling")
    #: The accepted attempt that a receipt is awaited for.
    awaiting: str | None = None
    #: Vendors that were called in it.
    tried: tuple[str, ...] = ()
    #: A vendor that did not answer in time and recognises a repeated message: it is retried, and no other vendor in this step.
    unlearned: str | None = None
    #: What it waits for: `circuit_open`, `account_off`, `vendor_limit`, `batch_pace`, or the reason of a gate.
    waits: str | None = None
    #: What it has waited for since its last call, the oldest first; the last one may go on.
    waited: tuple[StepWait, ...] = ()


class ExecutionState(msgspec.Struct, frozen=True, kw_only=True):
    """Where an execution stands: its steps, those under way, and its attempts so far."""

    steps: tuple[LadderStep, ...]
    use_case: UseCase
    #: When the message expires: nothing is sent from then on.
    expires_at: datetime
    strategy: Strategy = "SEQUENTIAL"
    #: Steps under way; one at a time, unless the strategy is PARALLEL.
    active_steps: tuple[ActiveStep, ...] = ()
    #: The next step to begin; one more than there are: none is left.
    next: int = 1
    #: Attempts that are over, the oldest first.
    attempts: tuple[ClosedAttempt, ...] = ()
    #: Steps that had been passed over and got their second chance.
    again: tuple[int, ...] = ()
    cost_budget: CostBudget = CostBudget()


# --- events


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorAnswered:
    """A vendor answered an attempt, or its answer was not learned (a timeout)."""

    step: int
    outcome: Outcome
    #: Whether this vendor sends receipts.
    receipts: bool = False
    #: Whether it recognises a message that is handed to it twice.
    idempotent: bool = False
    #: Which attempt; None: the one that is open.
    attempt_id: str | None = None
    #: Through which account, where that is known.
    account: str | None = None
    #: What is meant for single addresses, where it went to several.
    others: tuple[AddressTold, ...] = ()
    #: Where the vendor's answer is kept, word for word.
    answer_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSkipped:
    """An open attempt was not made: the message had expired by then."""

    step: int
    #: Which attempt; None: the one that is open.
    attempt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerDied:
    """The worker died while an attempt was open: its answer was never learned, and the vendor is not to blame."""

    step: int
    #: Which attempt; None: the one that is open.
    attempt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBarred:
    """Before an attempt: the gates, the cost budget or the conditions refuse the step, or put it off."""

    step: int
    by: SkipStep | WaitStep


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBlocked:
    """Before an attempt: none of the step's vendors can take it until then (open circuit, account limit)."""

    step: int
    #: `circuit_open`, `account_off` or `vendor_limit`.
    reason: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptReceived:
    """A vendor sent a receipt about an attempt. Idempotent: to apply it twice changes nothing."""

    attempt_id: str
    status: str
    reason: str | None = None


ExecutionEvent: TypeAlias = (
    VendorAnswered | CallSkipped | WorkerDied | StepBarred | StepBlocked | ReceiptReceived
)


# --- the transition


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnd:
    """The end of an execution."""

    result: DeliveryResult
    evidence: Evidence | None = None
    #: Why, where it was not delivered.
    reason: str | None = None
    final_channel: Channel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachObservation:
    """What an attempt taught: its channel has, or has not, reached the person."""

    channel: Channel
    delivered: bool
    #: The person's side said so: there is no such account there.
    never: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """The new state, and what has to be done and written for it."""

    state: ExecutionState
    #: None: the execution goes on.
    end: ExecutionEnd | None = None
    #: Steps with an attempt that is due now.
    ask: tuple[int, ...] = ()
    #: When the execution is due again, where it goes on and no step is due now.
    due_at: datetime | None = None
    #: Attempts that ended in this transition; each is written once.
    new_attempts: tuple[ClosedAttempt, ...] = ()
    #: Attempts given up because their receipt did not come before the step's timeout.
    late: tuple[ClosedAttempt, ...] = ()
    #: Attempts with messages that are not needed any more: their vendors may cancel them.
    needless: tuple[ClosedAttempt, ...] = ()
    learned: tuple[ReachObservation, ...] = field(default=())
