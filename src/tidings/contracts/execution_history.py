"""The history of executions as the router tells it: steps, waits, vendor calls, receipts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tidings.contracts.delivery import DeliveryResult, DeliveryRoute, Evidence
from tidings.contracts.ids import NotificationId
from tidings.contracts.messages import SentRecord
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRecord:
    """What was heard of an attempt after it was answered, from a vendor or from our own clock."""

    id: str
    #: `sent delivered delivered_read failed_perm rejected_by_recipient bounced timed_out cancelled …`
    status: str
    recorded_at: datetime
    #: As the vendor says; None where it does not.
    occurred_at: datetime | None
    code: str | None
    reason: str | None
    #: The step had been given up, or all was over.
    late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """A vendor call or a step that was skipped, as the router has it."""

    id: str
    step: int
    channel: str
    vendor: str | None
    #: `accepted failed_temp failed_perm rejected_by_provider rejected_by_recipient step_skipped timed_out …`
    status: str
    #: A code; where the answer was never learned it is `ANSWER_NEVER_LEARNED`.
    reason: str | None
    provider_message_id: str | None
    started_at: datetime
    ended_at: datetime | None
    #: In micros; 0 where no price is known.
    cost_micros: int = 0
    cost_currency: str | None = None
    #: Why this vendor, where there was a choice.
    why: str | None = None
    #: What the vendor's code, which is the reason, means by the status map: a word of ours.
    meaning: str | None = None
    receipts: tuple[ReceiptRecord, ...] = ()
    #: The vendor account that it went through.
    account_id: str | None = None
    http_status: int | None = None
    retry_after_ms: int | None = None
    #: What the vendor said, in short; without anything personal.
    error: str | None = None
    #: Where the vendor's answer is kept, sealed under the person's key; None: it is not.
    answer_ref: str | None = None
    #: What was kept of the message before the vendor was called; None for a step that was skipped.
    record: SentRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRecord:
    """What a step waited for."""

    step: int
    channel: str
    #: `circuit_open`, `vendor_limit`, or the reason of a gate.
    reason: str
    since: datetime
    #: While it waits: the moment that it waits for.
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """A step of a frozen ladder."""

    channel: Channel
    vendors: tuple[str, ...]
    #: What it has to reach: `accepted sent delivered read`.
    success: str
    #: Whether one of its vendors can send receipts; without them, being accepted is all that it can reach.
    receipts: bool = True
    deadline_seconds: int | None
    retry_budget: int | None
    #: Known from the start: it is not taken, for this reason.
    barred: str | None = None
    #: How likely it was to arrive, what it was to cost, and the index that its place comes from; where the order was learned.
    probability: float | None = None
    usual_cost_micros: int | None = None
    index: float | None = None
    #: The probability was drawn to find out more.
    drawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRecord:
    """An execution, under way or over."""

    id: str
    notification_id: str
    recipient_id: str
    strategy: str
    #: The frozen ladder: channel and vendor of each step.
    routes: tuple[DeliveryRoute, ...]
    policy_id: str | None
    policy_version: int | None
    started_at: datetime
    attempts: tuple[AttemptRecord, ...]
    ended_at: datetime | None = None
    #: None while it is under way.
    result: DeliveryResult | None = None
    evidence: Evidence | None = None
    final_channel: str | None = None
    #: When it goes on, while it is under way.
    due_at: datetime | None = None
    steps: tuple[StepRecord, ...] = ()
    #: What it waits for, while it is under way: `circuit_open`, `vendor_limit`, a gate's reason, or `receipt`.
    waits_for: str | None = None
    #: What its steps waited for, the oldest first.
    waits: tuple[WaitRecord, ...] = ()
    #: `fixed`, `learned` or `cheapest`, where a policy says so.
    order: str | None = None
    cost_cap_micros: int | None = None
    cost_reserved_micros: int = 0
    cost_spent_micros: int = 0
    cost_currency: str | None = None


class ExecutionHistory(Protocol):
    """What the router can tell of the executions of some notifications."""

    async def of_notifications(
        self, tx: TenantTx, ids: Sequence[NotificationId]
    ) -> dict[NotificationId, list[ExecutionRecord]]:
        """By notification; those never handed over are left out."""
        ...
