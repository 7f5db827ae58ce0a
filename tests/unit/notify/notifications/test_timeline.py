"""The timeline: everything that happened, in its order, in sentences to read aloud."""

from dataclasses import replace
from datetime import datetime

import msgspec
import pytest

from tests.support.traces import (
    ID,
    NOON,
    PASSED,
    STEP,
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
from tidings.contracts.execution_history import ReceiptRecord, WaitRecord
from tidings.notify.notifications.messages_en import receipt_sentence
from tidings.notify.notifications.store import LoggedAttempt
from tidings.notify.notifications.timeline import Happening, timeline
from tidings.notify.notifications.trace import DeliveryTrace


def kinds(found: list[Happening]) -> list[str]:
    return [one.kind for one in found]


def at(moment: datetime) -> int:
    return int(moment.timestamp())


def logged(outcome: str, *, seconds: float, router_id: str | None = None) -> LoggedAttempt:
    return LoggedAttempt(
        id=f"dat_{seconds}",
        attempt_number=1,
        channel="email",
        vendor="smtp",
        outcome=outcome,
        router_attempt_id=router_id,
        vendor_message_id=None,
        reason=None,
        started_at=after(seconds),
        finished_at=None,
    )


def test_a_delivery_is_told_from_acceptance_to_its_end() -> None:
    found = timeline(delivered())

    assert kinds(found) == ["accepted", "decided", "dispatched", "attempt", "outcome", "delivered"]
    assert [one.text for one in found] == [
        "Accepted: order_confirmation 1.0.0, to be sent by email.",
        "Every gate was passed: it may be sent.",
        "Handed over, to go by email through smtp, then by email through http.",
        "Step 1, email: smtp accepted it.",
        "Delivered by email: accepted by the vendor; no receipt expected.",
        "The notification is delivered.",
    ]
    assert (found[3].took_ms, found[3].answer_learned) == (500, True)


def test_within_a_millisecond_what_led_to_it_comes_first() -> None:
    """The router's attempts are dated to the millisecond, what notify does to the microsecond."""
    base = delivered()
    moments = {**base.notification.moments, "dispatched": after(1.0004)}

    found = timeline(replace(base, notification=replace(base.notification, moments=moments)))

    assert kinds(found) == ["accepted", "decided", "dispatched", "attempt", "outcome", "delivered"]


def test_a_moment_says_only_what_is_known_of_it() -> None:
    """Fields that mean nothing for a kind are left out, not null."""
    told = msgspec.json.decode(msgspec.json.encode(timeline(delivery_trace())[0]))

    assert set(told) == {"at", "kind", "text"}


def test_a_schedule_and_a_deferral_say_until_when_and_why() -> None:
    due = after(3600)
    found = timeline(
        delivery_trace(
            notification(
                NotificationStatus.SCHEDULED,
                scheduled_for=after(60),
                trace=f"t+;e+;r+;c+;q~quiet_hours@{at(due)}",
            ),
            waits=(
                appointment("scheduled_send", made=0, due=60, over=True),
                appointment("quiet_hours", made=61, due=3600.4),
            ),
        )
    )

    assert kinds(found) == ["accepted", "scheduled", "deferred"]
    assert (found[1].at, found[1].until) == (NOON, after(60))
    assert (found[2].at, found[2].until, found[2].reason) == (after(61), due, "quiet_hours")
    assert "15 November 2026, 13:00:00 UTC. It is the recipient's quiet time" in found[2].text
    assert found[2].approximate is msgspec.UNSET


def test_deferrals_whose_appointments_were_swept_follow_one_another() -> None:
    first, second = after(100), after(200)
    trace = f"q~quiet_hours@{at(first)};l~rate_limited@{at(second)};{PASSED}"
    found = timeline(
        delivery_trace(
            notification(NotificationStatus.DISPATCHED, trace=trace, moments={"dispatched": after(201)})
        )
    )

    put_off = [one for one in found if one.kind == "deferred"]

    assert [(one.at, one.until, one.approximate) for one in put_off] == [
        (NOON, first, True),
        (first, second, True),
    ]
    assert kinds(found)[-2:] == ["decided", "dispatched"]


def test_a_stop_is_told_with_its_gate_and_its_sentence() -> None:
    one = notification(
        NotificationStatus.SUPPRESSED,
        trace="t+;e+;r+;c-consent_missing",
        reason="consent_missing",
        moments={"suppressed": after(1)},
    )
    found = timeline(delivery_trace(one))

    assert kinds(found) == ["accepted", "decided", "suppressed"]
    assert (found[1].verdict, found[1].gate, found[1].reason) == (
        "stop",
        "category_allowed",
        "consent_missing",
    )
    assert found[1].text == "Not to be sent. The category needs consent, and the recipient has not given it."


def test_what_was_passed_in_spite_of_something_is_told() -> None:
    one = notification(
        NotificationStatus.DISPATCHED,
        trace="t+;e+;r+guardian_instead;c+;q+quiet_but_critical",
        moments={"dispatched": after(1)},
    )
    decided = next(h for h in timeline(delivery_trace(one)) if h.kind == "decided")

    assert "guardian is written to instead" in decided.text
    assert "but the message is critical" in decided.text


def test_an_answer_that_was_never_learned_is_said_so() -> None:
    lost = attempt("timed_out", reason="answer_never_learned")
    found = timeline(
        delivery_trace(
            notification(NotificationStatus.DISPATCHED, trace=PASSED, moments={"dispatched": after(1)}),
            executions=(execution(lost, attempt(started=9, ended=9.5)),),
        )
    )

    calls = [one for one in found if one.kind == "attempt"]

    assert [one.answer_learned for one in calls] == [False, True]
    assert "whose answer was never learned" in calls[0].text
    assert "may have been sent or not" in calls[0].text


@pytest.mark.parametrize(
    ("made", "kind", "text"),
    [
        (
            attempt("failed_temp", reason="451"),
            "attempt",
            "smtp could not take it then: the server could not process it now (451).",
        ),
        (
            attempt("rejected_by_recipient", reason="5.1.1"),
            "attempt",
            "the recipient's side refused it: there is no such mailbox (5.1.1).",
        ),
        (
            attempt("rejected_by_recipient", reason="30003", meaning="unreachable"),
            "attempt",
            "the recipient's side refused it: the recipient can't be reached for now (30003, unreachable).",
        ),
        (attempt("under_way", ended=None), "attempt", "handed to smtp, whose answer is awaited."),
        (
            attempt("step_skipped", reason="no_address", vendor=None),
            "step_skipped",
            "skipped. The recipient has no address on this channel.",
        ),
        (
            attempt("step_skipped", reason="render_too_large"),
            "step_skipped",
            "could not be rendered (too_large).",
        ),
        (attempt("of_tomorrow"), "attempt", "smtp answered of_tomorrow."),
        (
            attempt("failed_temp", reason="5.7.8", meaning="credentials"),
            "attempt",
            "smtp could not take it then: the server did not accept the user name and password (5.7.8, credentials).",
        ),
        (
            attempt("failed_temp", reason="address"),
            "attempt",
            "smtp could not take it then: the server's address is not one that we may connect to (address).",
        ),
        (
            attempt("failed_temp", reason="E-99", vendor="http"),
            "attempt",
            "http could not take it then (E-99).",
        ),
        (
            attempt("failed_temp", reason="E-99", vendor="http", error="The moon is full."),
            "attempt",
            "http could not take it then: The moon is full (E-99).",
        ),
        (
            attempt(
                "failed_temp",
                reason="tls",
                meaning="untrusted_connection",
                error="untrusted_connection: the server's certificate is not one that we trust",
            ),
            "attempt",
            "smtp could not take it then: the server's certificate is not one that we trust "
            "(tls, untrusted_connection).",
        ),
        (
            attempt("failed_temp", reason="5.7.8", meaning="credentials", error="credentials: go away"),
            "attempt",
            "smtp could not take it then: the server did not accept the user name and password (5.7.8, credentials).",
        ),
    ],
)
def test_every_answer_has_its_sentence(made: object, kind: str, text: str) -> None:
    found = timeline(
        delivery_trace(
            notification(NotificationStatus.DISPATCHED, moments={"dispatched": after(1)}),
            executions=(execution(made),),  # type: ignore[arg-type]
        )
    )

    assert (found[-1].kind, found[-1].text.endswith(text)) == (kind, True), found[-1].text


@pytest.mark.parametrize(
    ("status", "code", "reason", "text"),
    [
        (
            "failed_perm",
            "30005",
            "invalid_address",
            "smtp says that it will not arrive: there is no such address (30005, invalid_address).",
        ),
        ("failed_temp", "30003", "switched off", "smtp could not deliver it this time (30003)."),
        (
            "bounced",
            "hard_bounce",
            "hard_bounce",
            "smtp says that it bounced: the mailbox does not exist any more, or takes nothing (hard_bounce).",
        ),
        ("unknown", "39999", None, "smtp said something that has no meaning yet (39999)."),
        ("delivered", None, None, "smtp says that it arrived."),
    ],
)
def test_a_receipt_says_what_it_means_with_code_and_reason(
    status: str, code: str | None, reason: str | None, text: str
) -> None:
    """A vendor's own sentence stays out of it."""
    heard = ReceiptRecord(
        id="whe_1",
        status=status,
        recorded_at=after(2),
        occurred_at=None,
        code=code,
        reason=reason,
        late=False,
    )

    assert receipt_sentence(attempt(), heard) == f"Step 1, email: {text}"


def test_what_a_vendor_said_later_is_told_once() -> None:
    """Notify's log repeats the router's attempts; only what those don't say is added."""
    base = delivered()
    log = (
        logged("accepted", seconds=1, router_id=base.attempts[0].id),
        logged("bounced", seconds=60, router_id=base.attempts[0].id),
        logged("opened", seconds=90, router_id=base.attempts[0].id),
    )
    found = timeline(
        DeliveryTrace(
            notification=base.notification, lines=base.lines, waits=(), executions=base.executions, log=log
        )
    )

    assert [(one.status, one.text) for one in found if one.kind == "receipt"] == [
        ("bounced", "Afterwards: smtp says that it bounced."),
        ("opened", "Afterwards: it was opened."),
    ]


@pytest.mark.parametrize(
    ("code", "meaning", "text"),
    [
        ("Unregistered", "invalid_address", "There is no such address (Unregistered, invalid_address)."),
        (
            "SENDER_ID_MISMATCH",
            "sender_mismatch",
            "The device token belongs to another sender (SENDER_ID_MISMATCH, sender_mismatch).",
        ),
        ("E-99", None, "The reason given was E-99."),
    ],
)
def test_a_failure_says_what_the_vendors_code_means(code: str, meaning: str | None, text: str) -> None:
    one = notification(
        NotificationStatus.FAILED,
        trace=PASSED,
        reason=code,
        moments={"dispatched": after(1), "failed": after(2)},
    )
    lost = execution(attempt("failed_perm", reason=code, meaning=meaning))

    found = timeline(delivery_trace(one, executions=(lost,)))

    assert found[-1].text == f"The notification failed. {text}"


def test_what_came_back_stands_after_what_was_sent_whatever_the_vendors_clock_says() -> None:
    """Vendors know whole seconds: what bounced at once would have bounced before it was accepted."""
    base = delivered()
    heard = ReceiptRecord(
        id="whe_1",
        status="rejected_by_recipient",
        recorded_at=after(2.7),
        occurred_at=after(-1),
        code="131026",
        reason="recipient_unsupported",
        late=True,
    )
    moments = {**base.notification.moments, "bounced": after(-1)}
    ladder = replace(base.executions[0], attempts=(attempt(receipts=(heard,)),))
    one = replace(base.notification, status=NotificationStatus.BOUNCED, moments=moments)

    found = timeline(replace(base, notification=one, executions=(ladder,)))

    assert kinds(found)[-3:] == ["delivered", "receipt", "bounced"]
    assert (found[-1].at, found[-1].approximate) == (after(2.7), True)
    assert (found[-2].reason, found[-2].meaning) == ("131026", "recipient_unsupported")
    # Of what only notify's log knows the floor is what had happened.
    bare = timeline(replace(base, notification=one))
    assert (bare[-1].kind, bare[-1].at) == ("bounced", moments["delivered"])


def test_a_step_that_was_put_off_stands_after_the_call_before_it() -> None:
    due = after(500)
    one = notification(
        NotificationStatus.DISPATCHED,
        trace=f"{PASSED};{STEP};2.q~quiet_hours@{at(due)}",
        moments={"dispatched": after(1)},
    )
    found = timeline(delivery_trace(one, executions=(execution(attempt("failed_perm")),)))

    assert kinds(found)[-2:] == ["attempt", "step_deferred"]
    assert (found[-1].at, found[-1].until, found[-1].step) == (after(1.5), due, 2)


def wait(reason: str, since: float, until: float, step: int = 1) -> WaitRecord:
    return WaitRecord(step=step, channel="email", reason=reason, since=after(since), until=after(until))


def test_what_a_late_message_waited_for_stands_with_its_times_also_when_all_is_over() -> None:
    base = delivered()
    moments = {**base.notification.moments, "delivered": after(97)}
    ladder = replace(
        base.executions[0],
        attempts=(attempt(started=96, ended=96.5),),
        waits=(wait("circuit_open", 1.5, 95.5), wait("vendor_limit", 95.5, 96)),
        ended_at=after(96.6),
    )

    found = timeline(
        replace(base, notification=replace(base.notification, moments=moments), executions=(ladder,))
    )

    waited = [one for one in found if one.kind == "waited"]
    assert [(one.at, one.until, one.reason, one.step) for one in waited] == [
        (after(1.5), after(95.5), "circuit_open", 1),
        (after(95.5), after(96), "vendor_limit", 1),
    ]
    assert waited[0].text == (
        "Step 1, email: waited 94 seconds, until 15 November 2026, 12:01:35 UTC, because the vendor's circuit was "
        "open: too many calls had failed, and it was left alone for a while."
    )
    assert kinds(found)[-5:] == ["waited", "waited", "attempt", "outcome", "delivered"]


def test_a_wait_that_the_router_tells_is_not_told_by_its_gate_again() -> None:
    """A channel's limit puts a step off again and again: one line, from the first time to the call."""
    rounds = ";".join(f"1.m~rate_limited@{at(after(second))}" for second in (2, 3, 4))
    one = notification(
        NotificationStatus.DISPATCHED, trace=f"{PASSED};{rounds};{STEP}", moments={"dispatched": after(1)}
    )
    ladder = execution(attempt(started=4, ended=4.5), waits=(wait("rate_limited", 1, 4),))

    found = timeline(delivery_trace(one, executions=(ladder,)))

    assert [(k, h.text) for h in found if (k := h.kind) in {"waited", "step_deferred"}] == [
        (
            "waited",
            "Step 1, email: waited 3.0 seconds, until 15 November 2026, 12:00:04 UTC, because a limit of the channel "
            "was used up.",
        )
    ]


def test_a_wait_that_goes_on_says_until_when() -> None:
    ladder = execution(waits=(wait("circuit_open", 1, 60),), waits_for="circuit_open", due_at=after(60))
    one = notification(NotificationStatus.DISPATCHED, trace=PASSED, moments={"dispatched": after(1)})

    waited = timeline(delivery_trace(one, executions=(ladder,)))[-1]

    assert waited.kind == "waited"
    assert waited.text.startswith(
        "Step 1, email: waits until 15 November 2026, 12:01:00 UTC, because the vendor's"
    )


def test_a_message_that_nobody_took_from_the_queue_says_so() -> None:
    slow = notification(NotificationStatus.DISPATCHED, trace=PASSED, moments={"dispatched": after(42)})
    quick = notification(NotificationStatus.DISPATCHED, trace=PASSED, moments={"dispatched": after(2)})
    quiet = after(100)
    deferred = notification(
        NotificationStatus.DISPATCHED,
        trace=f"q~quiet_hours@{at(quiet)};{PASSED}",
        moments={"dispatched": after(101)},
    )

    [waited] = [one for one in timeline(delivery_trace(slow)) if one.kind == "waited"]

    assert (waited.at, waited.until, waited.reason) == (NOON, after(42), "queue")
    assert waited.text == (
        "Waited 42 seconds, until 15 November 2026, 12:00:42 UTC, because no worker was free to take it."
    )
    assert "waited" not in kinds(timeline(delivery_trace(quick)))
    # What a gate has put off did not wait for a worker.
    assert "waited" not in kinds(timeline(delivery_trace(deferred)))


def test_a_step_that_was_given_up_stands_before_the_one_that_follows() -> None:
    """It is written with what follows from it, and so a moment later."""
    late = ReceiptRecord(
        id="whe_1",
        status="timed_out",
        recorded_at=after(3.095),
        occurred_at=None,
        code=None,
        reason="not_in_time",
        late=False,
    )
    skipped = attempt(
        "step_skipped", started=3.067, ended=3.067, step=2, reason="no_address", vendor=None, id="attempt_2"
    )
    ladder = execution(attempt(receipts=(late,)), skipped)
    one = notification(NotificationStatus.DISPATCHED, trace=PASSED, moments={"dispatched": after(1)})

    found = timeline(delivery_trace(one, executions=(ladder,)))

    assert [(h.kind, h.step) for h in found[-2:]] == [("given_up", 1), ("step_skipped", 2)]
    assert found[-2].at <= found[-1].at


def test_moments_are_told_in_the_recipients_time_too() -> None:
    one = notification(NotificationStatus.SCHEDULED, scheduled_for=after(9 * 3600))

    found = timeline(replace(delivery_trace(one), zone="Asia/Kabul"))

    assert found[1].text == (
        "To be sent on 15 November 2026, 21:00:00 UTC (16 November, 01:30 in Asia/Kabul), as was asked."
    )


def test_nothing_personal_is_in_it() -> None:
    """Ids, codes and times; the texts are our own."""
    text = msgspec.json.encode(timeline(delivered())).decode()

    assert "@" not in text
    assert ID not in text


def test_a_claimed_place_adds_nothing() -> None:
    assert kinds(timeline(delivery_trace(waits=(in_queue(claimed=True),)))) == ["accepted"]
