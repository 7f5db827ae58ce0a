"""How far each step of a ladder has come."""

from datetime import UTC, datetime
from typing import Any

from tidings.contracts.ladder import LadderSnapshot, LadderStep
from tidings.router.executions.model import EXECUTION
from tidings.router.executions_api.model import Execution
from tidings.router.executions_api.steps import StepState, state_of_step
from tidings.router.state_machine.model import ActiveStep, ClosedAttempt, OpenAttempt

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def past(step: int, channel: str, status: str) -> ClosedAttempt:
    return ClosedAttempt(
        id=f"attempt_{step}", step=step, channel=channel, status=status, started_at=NOW, ended_at=NOW
    )


def states(*path: ClosedAttempt, active_steps: tuple[ActiveStep, ...] = (), **more: Any) -> list[StepState]:
    execution = Execution(
        id=EXECUTION.new(NOW),
        notification_id="ntf_1",
        recipient_id="rcp_1",
        use_case="txn",
        strategy="SEQUENTIAL",
        policy_id=None,
        policy_version=None,
        frozen=LadderSnapshot(steps=tuple(LadderStep(channel=c) for c in ("whatsapp", "sms", "email"))),
        path=path,
        started_at=NOW,
        cost_spent_micros=0,
        cost_currency=None,
        trace_id=None,
        active_steps=active_steps,
        **more,
    )
    return [state_of_step(execution, place) for place in (1, 2, 3)]


def test_under_way() -> None:
    skipped = past(1, "whatsapp", "step_skipped")
    calling = OpenAttempt(id="attempt_9", vendor="http", started_at=NOW)

    assert states(skipped, active_steps=(ActiveStep(step=2, due_at=NOW),)) == [
        "skipped",
        "waiting",
        "not_begun",
    ]
    assert states(skipped, active_steps=(ActiveStep(step=2, open_attempt=calling),))[1] == "calling"
    assert states(skipped, active_steps=(ActiveStep(step=2, awaiting="attempt_2"),))[1] == "awaiting_receipt"


def test_a_delivery_is_owed_to_the_last_that_was_taken_on_its_channel() -> None:
    path = past(1, "whatsapp", "accepted"), past(2, "sms", "failed_temp"), past(2, "sms", "accepted")

    assert states(*path, ended_at=NOW, outcome="DELIVERED", final_channel="sms") == [
        "left",
        "reached",
        "not_begun",
    ]
    # A late receipt of an earlier step.
    assert states(*path, ended_at=NOW, outcome="DELIVERED", final_channel="whatsapp")[:2] == [
        "reached",
        "left",
    ]


def test_nothing_is_reached_where_nothing_was_delivered() -> None:
    assert states(past(1, "whatsapp", "accepted"), ended_at=NOW, outcome="FAILED")[0] == "left"
