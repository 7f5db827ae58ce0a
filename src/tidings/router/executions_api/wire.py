"""Executions as JSON: what requests ask and answers show."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.delivery import DeliveryResult, Evidence
from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import Hours, LadderStep, StepRank, Strategy, Success
from tidings.contracts.messages import SenderRecord
from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.router.executions_api.model import Attempt, AttemptReceipt, Execution, ExecutionFilter
from tidings.router.executions_api.steps import StepState, state_of_step
from tidings.router.state_machine.model import ActiveStep, ClosedAttempt

ExecutionStatus = Literal["under_way", "over"]
#: The status of a call that has not been answered yet.
_UNDER_WAY = "under_way"


class ListExecutions(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which executions are wanted."""

    status: Annotated[
        ExecutionStatus | None, Meta(description="Only those under way, or only those that are over.")
    ] = None
    outcome: Annotated[DeliveryResult | None, Meta(description="Only those that ended so.")] = None
    use_case: Annotated[UseCase | None, Meta(description="Only those of this use case.")] = None
    since: Annotated[Moment | None, Meta(description="Only those begun then or later.")] = None
    until: Annotated[Moment | None, Meta(description="Only those begun before then.")] = None

    def filter(self) -> ExecutionFilter:
        """The same, for the store."""
        return ExecutionFilter(
            over=None if self.status is None else self.status == "over",
            outcome=self.outcome,
            use_case=self.use_case,
        )


class ExecutionCosts(Struct, frozen=True, kw_only=True):
    """What a message costs, in millionths of a currency; reserved plus spent never passes the cap."""

    #: Null where nothing has a price.
    currency: str | None
    spent_micros: int
    #: Held for calls that are not settled yet.
    reserved_micros: int
    #: Null: no cap.
    cap_micros: int | None


class ExecutionSummary(Struct, frozen=True, kw_only=True):
    """How a message to somebody goes, or went."""

    id: str
    notification_id: str
    recipient_id: str
    status: ExecutionStatus
    use_case: UseCase
    strategy: Strategy
    #: Null: it goes by the channel's vendors, without a policy.
    policy_id: str | None
    policy_version: int | None
    #: Null while it is under way.
    outcome: DeliveryResult | None
    #: What DELIVERED rests on.
    evidence: Evidence | None
    final_channel: str | None
    started_at: Moment
    ended_at: Moment | None
    #: When it is looked at next, while it is under way.
    due_at: Moment | None
    costs: ExecutionCosts

    @classmethod
    def of(cls, execution: Execution) -> "ExecutionSummary":
        """The execution in short."""
        return by_name(cls, execution, status=_status(execution), costs=_costs(execution))


class ExecutionStep(Struct, frozen=True, kw_only=True):
    """A step of the frozen ladder, and how far it has come."""

    #: Counts from 1.
    step: int
    channel: str
    #: Who may carry it, the first choice first.
    vendors: list[str]
    state: StepState
    #: What it has to reach.
    success: Success
    #: The clock of the step, from its first call; null: by what the message is for.
    deadline_seconds: int | None
    #: When that is over, where it runs.
    deadline_at: Moment | None
    #: Calls after the first; null: by what the message is for.
    retry_budget: int | None
    #: Calls so far, while it is under way.
    calls: int
    #: When it is called for next, where it waits for that.
    due_at: Moment | None
    #: What it waits for until then: `circuit_open`, `vendor_limit`, a gate's reason; null where nothing holds it back.
    waits_for: str | None
    call_seconds: float | None
    prefixes: list[str] | None
    hours: Hours | None
    #: Why it is not taken, where that was known from the start.
    barred: str | None


class OrderReason(Struct, frozen=True, kw_only=True):
    """Why a step stands where it stands."""

    channel: str
    #: How likely it arrives; null where nothing was asked.
    chance: float | None
    cost_micros: int
    #: The higher, the earlier.
    index: float | None
    #: Whether the chance was drawn to find out more, and is not the best guess.
    drawn: bool


class PathItem(Struct, frozen=True, kw_only=True):
    """A call or a skipped step, as the ladder went by it."""

    attempt_id: str
    step: int
    channel: str
    vendor: str | None
    status: str
    reason: str | None
    #: What the vendor's code means by the status map.
    meaning: str | None
    #: The best that was heard of it since.
    receipt: str | None
    cost_micros: int


class ReceiptView(Struct, frozen=True, kw_only=True):
    """What was heard of an attempt afterwards."""

    id: str
    status: str
    recorded_at: Moment
    #: By the vendor's clock.
    occurred_at: Moment | None
    #: The step had been given up by then.
    late: bool
    #: The vendor's own.
    code: str | None
    reason: str | None
    cost_micros: int | None
    cost_currency: str | None


class ExecutionSender(Struct, frozen=True, kw_only=True):
    """Who a message came from, as it was handed to the vendor."""

    #: A mail address, a number, a sender name; empty where the vendor's account has one of its own.
    value: str
    #: What people see beside it.
    name: str | None


class ExecutionAttempt(Struct, frozen=True, kw_only=True):
    """A vendor call or a skipped step, with all that was heard of it."""

    id: str
    step: int
    channel: str
    vendor: str | None
    #: `adcfg_…`
    account_id: str | None
    #: `under_way` while the vendor has not answered.
    status: str
    #: A code: the vendor's, or one of ours.
    reason: str | None
    #: What the vendor's code means by the status map, such as `invalid_address`; null where nobody has said.
    meaning: str | None
    provider_message_id: str | None
    started_at: Moment
    ended_at: Moment | None
    cost_micros: int
    cost_currency: str | None
    #: Of the vendor's answer, where it came over HTTP.
    http_status: int | None
    #: How long the vendor wanted to be left alone.
    retry_after_ms: int | None
    #: What the vendor said, in short; no address and nothing of the message is in it.
    error: str | None
    #: Whether the vendor's answer is kept word for word; `…/attempts/{attempt_id}/answer` shows it.
    answer_kept: bool
    sender: ExecutionSender | None
    #: Of what was rendered, under the tenant's pepper: equal ones said the same.
    content_digest: str | None
    receipts: list[ReceiptView]


class ExecutionView(ExecutionSummary, frozen=True, kw_only=True):
    """How a message to somebody goes, or went, in full."""

    #: Nothing is sent from then on; null when it is over.
    expires_at: Moment | None
    #: `fixed`, `learned` or `cheapest`; null without a policy.
    order: str | None
    #: Why the steps stand in this order, one each.
    order_reasons: list[OrderReason]
    #: What a second of waiting cost in that order, in micros; null where it was not learned.
    value_of_a_second: int | None
    #: As it was frozen at the start.
    ladder: list[ExecutionStep]
    path: list[PathItem]
    attempts: list[ExecutionAttempt]
    trace_id: str | None

    @classmethod
    def whole(
        cls,
        execution: Execution,
        attempts: Sequence[Attempt],
        receipts: Mapping[str, Sequence[AttemptReceipt]],
    ) -> "ExecutionView":
        """The execution with all that is known of it."""
        steps = execution.frozen.steps
        return by_name(
            cls,
            execution,
            status=_status(execution),
            costs=_costs(execution),
            order=execution.frozen.order,
            order_reasons=[_reason(why) for why in execution.frozen.why],
            value_of_a_second=execution.frozen.value_of_a_second,
            ladder=[_step(execution, place, step) for place, step in enumerate(steps, 1)],
            path=[_path_item(past) for past in execution.path],
            attempts=[
                *(_attempt(one, receipts.get(one.id, ())) for one in attempts),
                *(
                    _calling(execution, active)
                    for active in execution.active_steps
                    if active.open_attempt is not None
                ),
            ],
        )


def _status(execution: Execution) -> ExecutionStatus:
    return "under_way" if execution.ended_at is None else "over"


def _costs(execution: Execution) -> ExecutionCosts:
    return ExecutionCosts(
        currency=execution.cost_currency,
        spent_micros=execution.cost_spent_micros,
        reserved_micros=execution.cost_reserved_micros,
        cap_micros=execution.frozen.cap,
    )


def _step(execution: Execution, place: int, step: LadderStep) -> ExecutionStep:
    active = next((active for active in execution.active_steps if active.step == place), None)
    return by_name(
        ExecutionStep,
        step,
        step=place,
        vendors=list(step.vendors),
        state=state_of_step(execution, place),
        deadline_seconds=step.deadline,
        deadline_at=active.deadline_at if active else None,
        retry_budget=step.retries,
        calls=sum(past.step == place and past.vendor is not None for past in execution.path)
        + (active is not None and active.open_attempt is not None),
        due_at=active.due_at if active else None,
        waits_for=active.waits if active else None,
        prefixes=None if step.prefixes is None else list(step.prefixes),
    )


def _reason(why: StepRank) -> OrderReason:
    return by_name(OrderReason, why, chance=why.p)


def _path_item(past: ClosedAttempt) -> PathItem:
    return by_name(PathItem, past, attempt_id=past.id, cost_micros=past.cost)


def _attempt(attempt: Attempt, receipts: Sequence[AttemptReceipt]) -> ExecutionAttempt:
    return by_name(
        ExecutionAttempt,
        attempt,
        answer_kept=attempt.answer_ref is not None,
        sender=_sender(attempt.sender),
        content_digest=attempt.digest,
        receipts=[by_name(ReceiptView, heard) for heard in receipts],
    )


def _sender(sender: SenderRecord | None) -> ExecutionSender | None:
    return None if sender is None else ExecutionSender(value=sender.value, name=sender.name)


def _calling(execution: Execution, active: ActiveStep) -> ExecutionAttempt:
    calling = active.open_attempt
    assert calling is not None, "only for a step that is being called for"  # noqa: S101
    record = calling.record
    return _attempt(
        Attempt(
            id=calling.id,
            step=active.step,
            channel=execution.frozen.steps[active.step - 1].channel,
            vendor=calling.vendor,
            account_id=calling.account,
            status=_UNDER_WAY,
            started_at=calling.started_at,
            cost_currency=execution.cost_currency,
            sender=record.sender if record is not None else None,
            digest=record.digest if record is not None else None,
        ),
        (),
    )
