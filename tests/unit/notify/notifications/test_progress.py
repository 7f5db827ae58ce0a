"""Where a notification is, what comes next, and the whole of it in a sentence."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.traces import (
    PASSED,
    after,
    appointment,
    attempt,
    delivered,
    delivery_trace,
    execution,
    in_queue,
    notification,
)
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.execution_history import AttemptRecord, ReceiptRecord, WaitRecord
from tidings.notify.notifications.model import FINAL
from tidings.notify.notifications.progress import next_of, phase_of, repeated_perhaps, summary
from tidings.notify.notifications.trace import DeliveryTrace

NOW = after(10)
DISPATCHED: dict[str, Any] = {"trace": PASSED, "moments": {"dispatched": after(1)}}


def dispatched(*ladders: Any) -> DeliveryTrace:
    return delivery_trace(notification(NotificationStatus.DISPATCHED, **DISPATCHED), executions=ladders)


@pytest.mark.parametrize(
    ("given", "phase", "what", "at"),
    [
        (delivery_trace(waits=(in_queue(),)), "queued", "decide", None),
        (delivery_trace(waits=(in_queue(claimed=True),)), "sending", "send", None),
        # Between an appointment and the queue.
        (
            delivery_trace(waits=(appointment("scheduled_send", made=0, due=5, over=True),)),
            "queued",
            "decide",
            None,
        ),
        (
            delivery_trace(
                notification(NotificationStatus.SCHEDULED, scheduled_for=after(60)),
                waits=(appointment("scheduled_send", made=0, due=60),),
            ),
            "waiting",
            "decide",
            after(60),
        ),
        (dispatched(), "sending", "send", None),
        (dispatched(execution(attempt("under_way", ended=None), due_at=after(99))), "sending", "send", None),
        (dispatched(execution(attempt("failed_temp"), due_at=after(99))), "waiting", "send", after(99)),
        (dispatched(execution(attempt("failed_temp"), due_at=after(5))), "sending", "send", None),
        (dispatched(execution(attempt(), ended_at=after(2), result="DELIVERED")), "ending", "finish", None),
    ],
)
def test_what_is_under_way_says_where_it_is_and_what_comes_next(
    given: DeliveryTrace, phase: str, what: str, at: object
) -> None:
    comes = next_of(given, NOW)

    assert phase_of(given, NOW) == phase
    assert comes is not None
    assert (comes.what, comes.at) == (what, at)


@pytest.mark.parametrize("status", sorted(FINAL))
def test_what_is_over_has_no_next(status: NotificationStatus) -> None:
    over = delivery_trace(notification(status))

    assert phase_of(over, NOW) is None
    assert next_of(over, NOW) is None


def test_a_retry_and_a_wait_say_why() -> None:
    retry = next_of(dispatched(execution(attempt("failed_temp"), due_at=after(99))), NOW)
    quiet = next_of(
        delivery_trace(
            notification(
                NotificationStatus.SCHEDULED, trace=f"t+;q~quiet_hours@{int(after(60).timestamp())}"
            ),
            waits=(appointment("quiet_hours", made=1, due=60),),
        ),
        NOW,
    )

    assert retry is not None
    assert retry.text.endswith("The last try did not succeed. Step 1 is tried again.")
    assert quiet is not None
    assert quiet.text.endswith("It is the recipient's quiet time; it waits until that ends.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            delivered(),
            "Delivered by email on 15 November 2026, 12:00:02 UTC, 2.0 seconds after it was due: "
            "accepted by the vendor; no receipt expected.",
        ),
        (
            delivery_trace(
                notification(
                    NotificationStatus.SUPPRESSED, reason="consent_missing", moments={"suppressed": after(1)}
                )
            ),
            "Not sent: suppressed on 15 November 2026, 12:00:01 UTC. "
            "The category needs consent, and the recipient has not given it.",
        ),
        (
            delivery_trace(
                notification(NotificationStatus.FAILED, moments={"failed": after(3)}),
                executions=(execution(attempt("failed_perm"), ended_at=after(3), result="FAILED"),),
            ),
            "Not delivered: failed on 15 November 2026, 12:00:03 UTC. "
            "Every way to reach the recipient was tried, and none worked.",
        ),
        (
            delivery_trace(notification(NotificationStatus.CANCELLED, moments={"cancelled": after(3)})),
            "Cancelled on 15 November 2026, 12:00:03 UTC, before it was sent.",
        ),
        (
            delivery_trace(waits=(in_queue(),)),
            "It was not sent yet. It waits for its turn; a worker takes it next.",
        ),
        (dispatched(), "It was handed over and is not over yet. A worker has it in hand."),
    ],
)
def test_the_whole_of_it_is_one_sentence_to_read_aloud(given: DeliveryTrace, said: str) -> None:
    assert summary(given, NOW) == said


@pytest.mark.parametrize(
    ("attempts", "perhaps"),
    [
        ([attempt()], False),
        ([attempt("failed_temp"), attempt(started=5, ended=6)], False),
        # Lost, and nobody tried again.
        ([attempt("timed_out", reason="answer_never_learned")], False),
        ([attempt("timed_out", reason="answer_never_learned"), attempt(started=5, ended=6)], True),
        # Refused the second time: nothing more was sent.
        (
            [
                attempt("timed_out", reason="answer_never_learned"),
                attempt("failed_perm", started=5, ended=6),
            ],
            False,
        ),
    ],
)
def test_a_message_that_may_have_come_twice_is_said_so(attempts: list[Any], perhaps: bool) -> None:
    given = dispatched(execution(*attempts))

    assert repeated_perhaps(given) is perhaps
    assert ("twice" in summary(given, NOW)) is perhaps


def test_the_summary_says_why_the_last_try_did_not_succeed() -> None:
    refused = attempt("failed_temp", reason="5.7.8", meaning="credentials")
    retried = dispatched(execution(refused, due_at=after(99)))
    left_alone = dispatched(execution(refused, due_at=after(99), waits_for="circuit_open"))
    failed = delivery_trace(
        notification(NotificationStatus.FAILED, reason="5.7.8", moments={"failed": after(3)}),
        executions=(execution(refused, ended_at=after(3), result="FAILED"),),
    )
    why = "the server did not accept the user name and password (5.7.8, credentials)."

    assert summary(retried, NOW).endswith(f"The last try did not succeed: {why} Step 1 is tried again.")
    assert summary(left_alone, NOW).endswith(f"left alone for a while. The last try did not succeed: {why}")
    assert summary(failed, NOW).endswith(f"UTC. T{why[1:]}")


def test_the_summary_of_a_late_message_says_what_it_waited_for() -> None:
    base = delivered()
    waits = (
        WaitRecord(step=1, channel="email", reason="circuit_open", since=after(2), until=after(96)),
        WaitRecord(step=1, channel="email", reason="vendor_limit", since=after(96), until=after(97)),
    )
    late = delivery_trace(base.notification, executions=(replace(base.executions[0], waits=waits),))

    assert summary(late, NOW).endswith(
        "no receipt expected. It waited 94 seconds, because the vendor's circuit was open: too many calls had failed, "
        "and it was left alone for a while."
    )
    assert "waited" not in summary(base, NOW)


def test_a_message_that_nobody_takes_says_what_to_look_at() -> None:
    comes = next_of(delivery_trace(waits=(in_queue(),)), after(600))

    assert comes is not None
    assert comes.text == (
        "It has waited 10 minutes in the queue, and no worker has taken it: look whether `tidings work` is running "
        "and keeps up."
    )


def _heard(*statuses: str) -> tuple[ReceiptRecord, ...]:
    return tuple(
        ReceiptRecord(
            id=f"whe_{place}",
            status=status,
            recorded_at=after(3 + place),
            occurred_at=None,
            code="30003",
            reason=None,
            late=True,
        )
        for place, status in enumerate(statuses)
    )


@pytest.mark.parametrize(
    ("attempts", "told"),
    [
        ([attempt(receipts=_heard("sent", "failed_perm"))], True),
        ([attempt(receipts=_heard("failed_temp", "delivered"))], False),
        ([attempt(receipts=_heard("sent"))], False),
        # The step before failed, and the next one was what it was delivered by.
        ([attempt(receipts=_heard("failed_perm")), attempt(started=5, ended=6)], False),
        ([attempt(channel="sms", receipts=_heard("failed_perm"))], False),
    ],
)
def test_a_vendor_that_takes_its_word_back_is_told(attempts: list[AttemptRecord], told: bool) -> None:
    base = delivered()
    given = delivery_trace(
        base.notification, executions=(replace(base.executions[0], attempts=tuple(attempts)),)
    )

    assert summary(given, NOW).endswith("But smtp said afterwards that it did not arrive (30003).") is told
