"""An execution as it is read: under way or over, with all that was heard of it."""

from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.delivery import DeliveryResult, Evidence
from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import LadderSnapshot, Strategy
from tidings.contracts.messages import SenderRecord
from tidings.router.executions.model import ExecutionId
from tidings.router.state_machine.model import ActiveStep, ClosedAttempt


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionFilter:
    """Which executions are wanted; None: any."""

    #: Whether it is over.
    over: bool | None = None
    outcome: DeliveryResult | None = None
    use_case: UseCase | None = None

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return self.over is not None or self.outcome is not None or self.use_case is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One ladder for one message to one person."""

    id: ExecutionId
    notification_id: str
    recipient_id: str
    use_case: UseCase
    strategy: Strategy
    policy_id: str | None
    policy_version: int | None
    frozen: LadderSnapshot
    #: All calls and skipped steps that its row knows of.
    path: tuple[ClosedAttempt, ...]
    started_at: datetime
    cost_spent_micros: int
    cost_currency: str | None
    trace_id: str | None
    #: While it is under way.
    active_steps: tuple[ActiveStep, ...] = ()
    due_at: datetime | None = None
    expires_at: datetime | None = None
    cost_reserved_micros: int = 0
    #: When it is over.
    ended_at: datetime | None = None
    outcome: DeliveryResult | None = None
    evidence: Evidence | None = None
    final_channel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A vendor call or a skipped step."""

    id: str
    step: int
    channel: str
    vendor: str | None
    account_id: str | None
    status: str
    reason: str | None = None
    #: Of the vendor's code, by the status map.
    meaning: str | None = None
    provider_message_id: str | None = None
    started_at: datetime
    ended_at: datetime | None = None
    cost_micros: int = 0
    cost_currency: str | None
    http_status: int | None = None
    retry_after_ms: int | None = None
    #: What the vendor said, in short; without anything personal.
    error: str | None = None
    #: Where its answer is kept, word for word; None: it is not.
    answer_ref: str | None = None
    sender: SenderRecord | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReceipt:
    """What was heard of an attempt afterwards."""

    id: str
    attempt_id: str
    status: str
    #: When we heard it, and when it happened by the vendor's clock.
    recorded_at: datetime
    occurred_at: datetime | None
    #: The step had been given up by then.
    late: bool
    code: str | None
    reason: str | None
    cost_micros: int | None
    cost_currency: str | None
