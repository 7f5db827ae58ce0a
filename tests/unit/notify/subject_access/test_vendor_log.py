"""What vendors said of a message: calls as the router keeps them, and what came later."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidings.contracts.execution_history import AttemptRecord, ExecutionRecord, ReceiptRecord
from tidings.notify.subject_access.vendor_log import what_vendors_said

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ULID = "01JCQ00000000000000000000"


def _attempt(place: int, status: str, *heard: str, **changes: Any) -> AttemptRecord:
    values: dict[str, Any] = {
        "id": f"attempt_{ULID}{place}",
        "step": 1,
        "channel": "email",
        "vendor": "smtp",
        "status": status,
        "reason": None,
        "provider_message_id": f"m{place}",
        "started_at": NOW + timedelta(minutes=place),
        "ended_at": NOW + timedelta(minutes=place, seconds=1),
        "receipts": tuple(
            ReceiptRecord(
                id=f"evt_{n}",
                status=one,
                recorded_at=NOW,
                occurred_at=None,
                code=None,
                reason=None,
                late=False,
            )
            for n, one in enumerate(heard)
        ),
    }
    return AttemptRecord(**values | changes)


def _execution(*attempts: AttemptRecord) -> ExecutionRecord:
    return ExecutionRecord(
        id="exec_x",
        notification_id="ntf_x",
        recipient_id="rcp_x",
        strategy="single",
        routes=(),
        policy_id=None,
        policy_version=None,
        started_at=NOW,
        attempts=attempts,
    )


def test_calls_and_what_came_later_stand_in_their_order() -> None:
    later = {"id": "dat_z", "started_at": NOW + timedelta(minutes=1, seconds=30), "outcome": "opened"}
    made = _execution(_attempt(1, "failed_temp", reason="451"), _attempt(2, "accepted"))
    first, between, last = what_vendors_said([made], [later])
    assert between is later
    assert first == {
        "id": f"dat_{ULID}1",
        "started_at": NOW + timedelta(minutes=1),
        "finished_at": NOW + timedelta(minutes=1, seconds=1),
        "channel": "email",
        "vendor": "smtp",
        "vendor_message_id": "m1",
        "outcome": "rejected_retryable",
        "error_code": "451",
    }
    assert (last["id"], last["outcome"]) == (f"dat_{ULID}2", "accepted")


@pytest.mark.parametrize(
    ("attempt", "outcome"),
    [
        (_attempt(1, "accepted", "sent", "delivered"), "delivered"),
        (_attempt(1, "accepted", "bounced"), "accepted"),
        (_attempt(1, "accepted", "failed_perm"), "rejected_terminal"),
        (_attempt(1, "timed_out"), "timeout"),
    ],
)
def test_the_last_that_a_vendor_said_counts(attempt: AttemptRecord, outcome: str) -> None:
    assert [line["outcome"] for line in what_vendors_said([_execution(attempt)], [])] == [outcome]


def test_steps_that_gave_a_vendor_nothing_are_left_out() -> None:
    made = _execution(_attempt(1, "step_skipped", vendor=None), _attempt(2, "under_way"))
    assert what_vendors_said([made], []) == []
