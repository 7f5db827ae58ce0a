"""What vendors said of one message: to the calls, which the router keeps, and later, which notify's own log has."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tidings.contracts.execution_history import AttemptRecord, ExecutionRecord
from tidings.notify.ids import DELIVERY_ATTEMPT

#: The router's word for an attempt → the word of the log. A step that was skipped gave a vendor nothing.
_OUTCOMES: Final = {
    "accepted": "accepted",
    "sent": "accepted",
    "delivered": "delivered",
    "delivered_read": "delivered",
    "failed_temp": "rejected_retryable",
    "failed_perm": "rejected_terminal",
    "rejected_by_provider": "rejected_terminal",
    "rejected_by_recipient": "rejected_terminal",
    "timed_out": "timeout",
    "cancelled": "failed",
}


def what_vendors_said(
    executions: Iterable[ExecutionRecord], later: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Calls and what came after them, the oldest first."""
    calls = (
        _call(attempt)
        for execution in executions
        for attempt in execution.attempts
        if attempt.vendor is not None and attempt.status in _OUTCOMES
    )
    return sorted([*calls, *later], key=lambda line: (line["started_at"], line["id"]))


def _call(attempt: AttemptRecord) -> dict[str, Any]:
    heard = (receipt.status for receipt in attempt.receipts)
    return {
        "id": f"{DELIVERY_ATTEMPT.prefix}_{attempt.id[-26:]}",
        "started_at": attempt.started_at,
        "finished_at": attempt.ended_at,
        "channel": attempt.channel,
        "vendor": attempt.vendor,
        "vendor_message_id": attempt.provider_message_id,
        # What the vendor said last.
        "outcome": [_OUTCOMES[said] for said in (attempt.status, *heard) if said in _OUTCOMES][-1],
        "error_code": attempt.reason,
    }
