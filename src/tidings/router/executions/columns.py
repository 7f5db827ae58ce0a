"""What happened to a set of executions, as the columns of one statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.contracts.delivery import AttemptTold, DeliveryOutcome
from tidings.kernel.events import usual_attributes
from tidings.kernel.ids import EVENT
from tidings.kernel.mapping import by_name
from tidings.router.executions.model import ExecutionChange, ExecutionId
from tidings.router.executions.snapshot import path_text, state_text
from tidings.router.state_machine.model import CIRCUIT_OPEN, ClosedAttempt, ExecutionEnd

#: Where the router's own events come from.
SOURCE: Final = "/tidings/router"

_NAMES: Final = (
    "tenant_ids", "ids", "versions", "keeps", "reserveds", "spents", "currencies", "states", "due_ats", "waits",
    "results", "evidences", "final_channels", "paths", "event_ids", "payloads", "envelopes", "applied_bys",
)  # fmt: skip
_ATTEMPT_NAMES: Final = (
    "attempt_tenants", "attempt_executions", "attempt_ids", "attempt_started_ats", "attempt_steps", "channels", "account_ids", "vendors",
    "provider_message_ids", "statuses", "reasons", "meanings", "costs", "cost_currencies",
    "http_statuses", "retry_afters", "errors", "answer_refs", "address_hashes", "addresses", "senders", "digests",
)  # fmt: skip
_NO_END: Final = (None,) * 8
_NO_RECORD: Final = (None,) * 4

_encode = msgspec.json.Encoder().encode


def outcomes_of(changes: Sequence[ExecutionChange], *, now: datetime) -> dict[ExecutionId, DeliveryOutcome]:
    """What is to be told of those that end."""
    return {
        change.execution.id: DeliveryOutcome(
            notification_id=change.execution.notification_id,
            recipient_id=change.execution.recipient_id,
            execution_id=change.execution.id,
            result=end.result,
            ended_at=now,
            evidence=end.evidence,
            final_channel=end.final_channel,
            reason=end.reason,
            attempts=tuple(map(told_attempt, change.transition.state.attempts)),
        )
        for change in changes
        if (end := change.transition.end) is not None
    }


def columns_of(
    changes: Sequence[ExecutionChange],
    outcomes: Mapping[ExecutionId, DeliveryOutcome],
    applied_by: Mapping[ExecutionId, str],
    *,
    now: datetime,
) -> dict[str, list[Any]]:
    """By the names that the statement gives them; `applied_by`: the groups that apply outcomes in the same transaction."""
    rows = [
        _row(change, now)
        if (end := change.transition.end) is None
        else (*_known(change), None, None, None, *_end(change, end, outcomes[id_]), applied_by.get(id_))
        for change in changes
        for id_ in (change.execution.id,)
    ]
    made = [_attempt(change, attempt) for change in changes for attempt in change.transition.new_attempts]
    attempts = list(map(list, zip(*made, strict=True))) if made else [[] for _ in _ATTEMPT_NAMES]
    return {
        **dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True)),
        **dict(zip(_ATTEMPT_NAMES, attempts, strict=True)),
    }


def _known(change: ExecutionChange) -> tuple[Any, ...]:
    execution, cost_budget = change.execution, change.transition.state.cost_budget
    return (
        execution.tenant_id,
        execution.id,
        execution.version,
        change.keep,
        cost_budget.reserved,
        cost_budget.spent,
        change.currency,
    )


def _row(change: ExecutionChange, now: datetime) -> tuple[Any, ...]:
    """Of one that goes on."""
    transition = change.transition
    # What is asked for and not taken up in the same go is due at once.
    due_at = now if transition.ask else transition.due_at
    waits = (
        CIRCUIT_OPEN
        if any(active.waits == CIRCUIT_OPEN for active in transition.state.active_steps)
        else None
    )
    return (*_known(change), state_text(transition.state), due_at, waits, *_NO_END)


def _attempt(change: ExecutionChange, attempt: ClosedAttempt) -> tuple[Any, ...]:
    return (
        change.execution.tenant_id,
        change.execution.id,
        attempt.id,
        attempt.started_at,
        attempt.step,
        attempt.channel,
        attempt.account,
        attempt.vendor,
        attempt.provider_message_id,
        attempt.status,
        attempt.reason,
        attempt.meaning,
        attempt.cost,
        (change.currency or change.execution.currency) if attempt.cost else None,
        attempt.http_status,
        attempt.retry_after_ms,
        attempt.error,
        attempt.answer_ref,
        *_record(change, attempt),
    )


def _record(change: ExecutionChange, attempt: ClosedAttempt) -> tuple[Any, ...]:
    """What was noted before the call; a step that was skipped has nothing."""
    calls = (active.open_attempt for active in change.execution.state.active_steps)
    record = next((call.record for call in calls if call is not None and call.id == attempt.id), None)
    if record is None:
        return _NO_RECORD
    sender = _encode(record.sender).decode()
    return record.address_hash, record.address_ciphertext, sender, record.digest


def _end(change: ExecutionChange, end: ExecutionEnd, outcome: DeliveryOutcome) -> tuple[Any, ...]:
    execution = change.execution
    return (
        end.result,
        end.evidence,
        end.final_channel,
        path_text(change.transition.state.attempts),
        EVENT.new(outcome.ended_at),
        _encode(outcome).decode(),
        usual_attributes(SOURCE, execution.traceparent),
    )


def told_attempt(attempt: ClosedAttempt) -> AttemptTold:
    """An attempt as an outcome tells of it."""
    status = attempt.receipt if attempt.receipt in _BETTER else attempt.status
    return by_name(AttemptTold, attempt, status=status)


#: Receipts that say more than the call's own answer did.
_BETTER: Final = frozenset(
    {"sent", "delivered", "delivered_read", "failed_perm", "rejected_by_provider", "rejected_by_recipient"}
)
