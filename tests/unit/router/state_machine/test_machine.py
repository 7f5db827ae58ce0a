"""What follows from what happened, as a table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from tidings.contracts.delivery import SkipStep, WaitStep
from tidings.contracts.ladder import Hours, LadderStep, Strategy
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import (
    CallSkipped,
    ClosedAttempt,
    ExecutionEnd,
    ExecutionEvent,
    ExecutionState,
    OpenAttempt,
    ReachObservation,
    ReceiptReceived,
    StepBarred,
    StepBlocked,
    VendorAnswered,
    WorkerDied,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
MAIL = LadderStep(channel="email", vendors=("smtp",))
OTHER_MAIL = LadderStep(channel="email", vendors=("http",))
SMS = LadderStep(channel="sms", vendors=("http",))
EITHER = LadderStep(channel="sms", vendors=("http", "http_acme"))
#: Waits for receipts.
WHATSAPP = LadderStep(channel="whatsapp", vendors=("http",), success="delivered", deadline=60, retries=1)
TEXT = LadderStep(channel="sms", vendors=("http",), success="delivered", deadline=30, retries=0)

NO = Refused(reason="no", code="5.7.1")
NO_SUCH_ADDRESS = Refused(reason="no", code="5.1.1")
LATER = TryLater(reason="later", code="4.3.0")
CONSENT = SkipStep(reason="consent_missing", result="REFUSED_CONSENT")
NOWHERE = SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL")

ladder = ExecutionStateMachine()


def start(*steps: LadderStep, strategy: Strategy = "SEQUENTIAL", **more: Any) -> ExecutionState:
    """Before its first call."""
    more = {"use_case": "txn", "expires_at": NOW + timedelta(days=1), **more}
    return ladder.start(steps or (MAIL, OTHER_MAIL), strategy=strategy, now=NOW, **more)


def called(here: ExecutionState, step: int = 1, *, at: datetime = NOW, **more: Any) -> ExecutionState:
    """With a call of that step under way."""
    vendor = more.pop("vendor", here.steps[step - 1].vendors[0])
    call = OpenAttempt(id=f"attempt_{step}", vendor=vendor, started_at=at, **more)
    return ladder.open_attempts(here, {step: call}, now=at)


def after(here: ExecutionState, *happened: ExecutionEvent, at: datetime = NOW, jitter: float = 1.0) -> Any:
    """The end, or the steps that are asked for, or when it goes on."""
    turn = ladder.transition(here, happened, now=at, jitter=jitter)
    return turn.end or turn.ask or turn.due_at


def answer(outcome: Any, *, step: int = 1, receipts: bool = False) -> VendorAnswered:
    return VendorAnswered(step=step, outcome=outcome, receipts=receipts)


def tired(here: ExecutionState, tries: int) -> ExecutionState:
    """After so many calls."""
    return replace(here, active_steps=tuple(replace(leg, tries=tries) for leg in here.active_steps))


ACCEPTED = ExecutionEnd(result="DELIVERED", evidence="accepted", final_channel="email")


@pytest.mark.parametrize(
    ("here", "happened", "follows"),
    [
        (called(start()), answer(Accepted()), ACCEPTED),
        (called(start()), answer(NO), (2,)),
        (called(start(MAIL)), answer(NO), ExecutionEnd(result="FAILED", reason="5.7.1")),
        (called(start()), answer(NO_SUCH_ADDRESS), ExecutionEnd(result="FAILED", reason="5.1.1")),
        (called(start(MAIL, OTHER_MAIL, SMS)), answer(NO_SUCH_ADDRESS), (3,)),
        (called(start()), answer(Refused(reason="no", code="x", permanent=False)), NOW + 5 * SECOND),
        (called(start()), answer(LATER), NOW + 5 * SECOND),
        (tired(called(start()), 2), answer(LATER), NOW + 15 * SECOND),
        (called(start()), answer(TryLater(reason="later", code="x", after=2 * MINUTE)), NOW + 2 * MINUTE * 1.1),
        # Longer than the step may take: the next vendor is quicker.
        (called(start()), answer(TryLater(reason="later", code="x", after=20 * MINUTE)), (2,)),
        (called(start(MAIL)), answer(TryLater(reason="later", code="x", after=300 * MINUTE)), ExecutionEnd(result="FAILED", reason="x")),
        (tired(called(start()), 9), answer(LATER), (2,)),
        (tired(called(start(MAIL)), 9), answer(LATER), ExecutionEnd(result="FAILED", reason="4.3.0")),
        (called(start()), answer(Unlearned(reason="?")), NOW + 5 * SECOND),
        (tired(called(start(MAIL)), 9), answer(Unlearned(reason="?")), ExecutionEnd(result="FAILED", reason="answer_never_learned")),
        # The vendor is not to blame: at once.
        (called(start()), WorkerDied(step=1), (1,)),
        (tired(called(start()), 9), WorkerDied(step=1), (2,)),
        (called(start(expires_at=NOW)), answer(LATER), ExecutionEnd(result="FAILED", reason="expired")),
        (called(start(expires_at=NOW)), CallSkipped(step=1), ExecutionEnd(result="FAILED", reason="expired")),
        # A step that has another vendor asks that one, and does not wait.
        (called(start(EITHER, MAIL)), answer(LATER), (1,)),
        (called(start(EITHER, MAIL)), answer(NO), (1,)),
        (called(start(EITHER, MAIL)), answer(NO_SUCH_ADDRESS), (2,)),
        # But what may have been sent is not sent elsewhere at once.
        (called(start(EITHER, MAIL)), answer(Unlearned(reason="?")), NOW + 5 * SECOND),
        (start(), StepBarred(step=1, by=NOWHERE), (2,)),
        (start(MAIL), StepBarred(step=1, by=NOWHERE), ExecutionEnd(result="REFUSED_NO_CHANNEL", reason="no_address")),
        (start(), StepBarred(step=1, by=SkipStep(reason="cancelled", result="FAILED", ends=True)), ExecutionEnd(result="FAILED", reason="cancelled")),
        (start(), StepBarred(step=1, by=WaitStep(until=NOW + MINUTE, reason="quiet_hours")), NOW + MINUTE),
        (start(MAIL), StepBarred(step=1, by=WaitStep(until=NOW + timedelta(days=1), reason="quiet_hours")), ExecutionEnd(result="FAILED", reason="expired")),
        # Nobody waits for a broken vendor while there is another way.
        (start(), StepBlocked(step=1, reason="circuit_open", until=NOW + MINUTE), (2,)),
        (start(MAIL), StepBlocked(step=1, reason="circuit_open", until=NOW + MINUTE), NOW + MINUTE),
        (start(), StepBlocked(step=1, reason="vendor_limit", until=NOW + SECOND), NOW + SECOND),
        (start(), StepBlocked(step=1, reason="vendor_limit", until=NOW + timedelta(hours=3)), (2,)),
        (start(MAIL), StepBlocked(step=1, reason="vendor_limit", until=NOW + timedelta(days=2)), ExecutionEnd(result="FAILED", reason="vendor_limit")),
    ],
)  # fmt: skip
def test_what_follows(here: ExecutionState, happened: ExecutionEvent, follows: object) -> None:
    assert after(here, happened) == follows


def test_the_most_telling_of_the_skipped_ones_is_the_result() -> None:
    """Unless somebody was called: then it has failed, and the call says why."""
    skipped = ladder.transition(start(), [StepBarred(step=1, by=CONSENT)], now=NOW).state
    assert after(skipped, StepBarred(step=2, by=NOWHERE)) == ExecutionEnd(
        result="REFUSED_CONSENT", reason="consent_missing"
    )
    refused = ladder.transition(called(start()), [answer(NO)], now=NOW).state
    assert after(refused, StepBarred(step=2, by=CONSENT)) == ExecutionEnd(result="FAILED", reason="5.7.1")


def test_no_steps() -> None:
    nothing = ladder.start((), use_case="txn", expires_at=NOW + MINUTE, strategy="FAILOVER", now=NOW)
    assert after(nothing) == ExecutionEnd(result="REFUSED_NO_CHANNEL", reason="no_route")


def test_what_is_due_is_asked_for_and_nothing_else() -> None:
    assert after(start()) == (1,)
    assert after(start(), at=NOW + timedelta(days=1)) == ExecutionEnd(result="FAILED", reason="expired")
    barred = replace(MAIL, barred="condition_priority")
    assert after(start(barred, SMS)) == (2,)
    assert after(start(replace(MAIL, vendors=()), SMS)) == (2,)
    assert after(start(barred)) == ExecutionEnd(result="REFUSED_NO_CHANNEL", reason="condition_priority")
    day = Hours(start="08:00", end="20:00", timezone="Asia/Kabul")
    night = Hours(start="20:00", end="08:00", timezone="Asia/Kabul")
    assert after(start(replace(MAIL, hours=day), SMS)) == (1,)
    assert after(start(replace(MAIL, hours=night), SMS)) == (2,)


def test_the_clock_of_a_step() -> None:
    """It begins with the first call, and is longer where nothing comes after."""
    assert called(start()).active_steps[0].deadline_at == NOW + 15 * MINUTE
    assert called(start(MAIL)).active_steps[0].deadline_at == NOW + timedelta(hours=4)
    assert called(start(use_case="otp")).active_steps[0].deadline_at == NOW + 30 * SECOND
    assert called(start(WHATSAPP)).active_steps[0].deadline_at == NOW + MINUTE
    waits = ladder.transition(called(start()), [answer(LATER)], now=NOW, jitter=1.0).state
    assert called(waits, at=NOW + MINUTE).active_steps[0].deadline_at == NOW + 15 * MINUTE
    assert after(waits, at=NOW + 15 * MINUTE) == (2,)


def test_jitter_spreads_those_that_failed_together() -> None:
    assert after(called(start()), answer(LATER), jitter=0.0) == NOW + timedelta(seconds=2.5)
    asked = TryLater(reason="later", code="x", after=MINUTE)
    assert after(called(start()), answer(asked), jitter=0.0) == NOW + MINUTE


def test_who_may_have_it_is_asked_again_and_nobody_else() -> None:
    """Its answer was not learned, and it recognises what it has: another vendor would send it a second time."""
    unlearned = VendorAnswered(step=1, outcome=Unlearned(reason="?"), idempotent=True)
    for happened in (unlearned, WorkerDied(step=1)):
        turn = ladder.transition(called(start(EITHER, MAIL)), [happened], now=NOW)
        assert turn.state.active_steps[0].unlearned == "http"
        again = called(turn.state, at=NOW + MINUTE)
        assert after(again, answer(LATER), at=NOW + MINUTE) not in {(1,), (2,)}
    careless = ladder.transition(called(start(EITHER, MAIL)), [answer(Unlearned(reason="?"))], now=NOW)
    assert careless.state.active_steps[0].unlearned is None


def test_an_answer_is_that_of_its_call() -> None:
    """One that comes to a later call, because a commit was not heard of, says nothing about it."""
    here = called(start())
    other = VendorAnswered(step=1, outcome=NO, attempt_id="attempt_0")
    assert ladder.transition(here, [other], now=NOW).state == here
    mine = VendorAnswered(step=1, outcome=NO, attempt_id="attempt_1", account="adcfg_2")
    turn = ladder.transition(here, [mine], now=NOW)
    assert [(past.id, past.account) for past in turn.new_attempts] == [("attempt_1", "adcfg_2")]


@pytest.mark.parametrize(("said", "kept"), [("a\x00b", "ab"), ("\x00", None), ("m1", "m1"), (None, None)])
def test_a_vendors_id_is_kept_without_what_no_text_in_postgres_can_hold(
    said: str | None, kept: str | None
) -> None:
    turn = ladder.transition(called(start()), [answer(Accepted(provider_message_id=said))], now=NOW)
    assert [past.provider_message_id for past in turn.new_attempts] == [kept]


def test_what_was_only_passed_over_gets_its_turn_when_nothing_else_is_left() -> None:
    """A vendor is left alone for half a minute, and the person has no other address: nobody has failed yet."""
    opened = StepBlocked(step=1, reason="circuit_open", until=NOW + MINUTE)
    passed = ladder.transition(start(MAIL, SMS), [opened], now=NOW).state
    turn = ladder.transition(passed, [StepBarred(step=2, by=NOWHERE)], now=NOW)
    assert (turn.end, turn.ask, turn.due_at) == (None, (), NOW + MINUTE)
    waits = ladder.transition(turn.state, now=NOW + MINUTE)
    assert waits.ask == (1,)
    assert after(called(waits.state, at=NOW + MINUTE), answer(Accepted()), at=NOW + MINUTE) == ACCEPTED
    # Once: what fails then has failed.
    failed = ladder.transition(called(waits.state, at=NOW + MINUTE), [answer(NO)], now=NOW + MINUTE)
    assert failed.end == ExecutionEnd(result="FAILED", reason="5.7.1")


# --- waits


def waited(past: ClosedAttempt) -> list[tuple[str, datetime, datetime]]:
    return [(one.reason, one.since, one.until) for one in past.waited]


def test_what_a_step_waited_for_is_kept_with_the_call_that_came_of_it() -> None:
    """One after the other for the same reason is one wait, and it ends with the call."""
    here = ladder.transition(
        start(MAIL), [StepBlocked(step=1, reason="circuit_open", until=NOW + MINUTE)], now=NOW
    ).state
    again = StepBlocked(step=1, reason="circuit_open", until=NOW + 2 * MINUTE)
    here = ladder.transition(here, [again], now=NOW + MINUTE).state
    limit = StepBarred(step=1, by=WaitStep(until=NOW + 3 * MINUTE, reason="rate_limited"))
    here = ladder.transition(here, [limit], now=NOW + 2 * MINUTE).state
    here = called(here, at=NOW + 4 * MINUTE)
    turn = ladder.transition(here, [answer(LATER)], now=NOW + 4 * MINUTE)

    assert waited(turn.new_attempts[0]) == [
        ("circuit_open", NOW, NOW + 2 * MINUTE),
        ("rate_limited", NOW + 2 * MINUTE, NOW + 4 * MINUTE),
    ]
    # The next call has not waited for that.
    more = ladder.transition(
        called(turn.state, at=NOW + 5 * MINUTE), [answer(Accepted())], now=NOW + 5 * MINUTE
    )
    assert waited(more.new_attempts[0]) == []


def test_a_call_that_was_not_made_gives_its_waits_back() -> None:
    here = ladder.transition(
        start(MAIL), [StepBlocked(step=1, reason="vendor_limit", until=NOW + SECOND)], now=NOW
    ).state
    here = ladder.transition(called(here, at=NOW + SECOND), [CallSkipped(step=1)], now=NOW + SECOND).state
    turn = ladder.transition(called(here, at=NOW + SECOND), [answer(Accepted())], now=NOW + SECOND)

    assert waited(turn.new_attempts[0]) == [("vendor_limit", NOW, NOW + SECOND)]


def test_what_waited_until_it_was_too_late_says_so() -> None:
    here = start(MAIL, expires_at=NOW + MINUTE)
    here = ladder.transition(
        here, [StepBlocked(step=1, reason="circuit_open", until=NOW + 50 * SECOND)], now=NOW
    ).state
    turn = ladder.transition(here, now=NOW + MINUTE)

    assert turn.end == ExecutionEnd(result="FAILED", reason="expired")
    assert [(past.status, past.reason) for past in turn.state.attempts] == [("step_skipped", "expired")]
    assert waited(turn.state.attempts[0]) == [("circuit_open", NOW, NOW + MINUTE)]


def test_a_step_that_is_put_off_for_ever_does_not_make_its_ladder_grow() -> None:
    here = start(MAIL)
    for place in range(40):
        reason = ("circuit_open", "vendor_limit")[place % 2]
        at = NOW + place * SECOND
        here = ladder.transition(here, [StepBlocked(step=1, reason=reason, until=at + SECOND)], now=at).state

    assert len(here.active_steps[0].waited) == 8
    assert here.active_steps[0].waited[0].since == NOW


# --- receipts


def awaiting(*steps: LadderStep, **more: Any) -> ExecutionState:
    """The first step's message was accepted, and its receipt is awaited."""
    here = called(start(*(steps or (WHATSAPP, TEXT)), **more))
    return ladder.transition(here, [answer(Accepted(provider_message_id="m1"), receipts=True)], now=NOW).state


def heard(status: str, attempt: str = "attempt_1") -> ReceiptReceived:
    return ReceiptReceived(attempt_id=attempt, status=status)


def test_a_receipt_is_awaited_where_there_are_any() -> None:
    assert after(awaiting()) == NOW + MINUTE
    # A vendor without receipts can't say more than that it took it.
    ended = after(called(start(WHATSAPP, TEXT)), answer(Accepted(), receipts=False))
    assert ended == ExecutionEnd(result="DELIVERED", evidence="accepted", final_channel="whatsapp")


@pytest.mark.parametrize(
    ("status", "follows"),
    [
        ("delivered", ExecutionEnd(result="DELIVERED", evidence="delivered", final_channel="whatsapp")),
        ("delivered_read", ExecutionEnd(result="DELIVERED", evidence="read", final_channel="whatsapp")),
        ("sent", NOW + MINUTE),
        ("unknown", NOW + MINUTE),
        ("complaint", NOW + MINUTE),
        ("failed_perm", (2,)),
        ("rejected_by_provider", (2,)),
        ("rejected_by_recipient", (2,)),
        ("bounced", (2,)),
        # There is one try left.
        ("failed_temp", NOW + 5 * SECOND),
    ],
)
def test_what_a_receipt_does(status: str, follows: object) -> None:
    assert after(awaiting(), heard(status)) == follows


def test_a_receipt_heard_twice_changes_nothing_more() -> None:
    once = ladder.transition(awaiting(), [heard("failed_temp")], now=NOW)
    twice = ladder.transition(once.state, [heard("failed_temp"), heard("sent")], now=NOW)
    assert twice.state.active_steps == once.state.active_steps
    rejected = ladder.transition(awaiting(), [heard("rejected_by_recipient")], now=NOW)
    again = ladder.transition(rejected.state, [heard("rejected_by_recipient")], now=NOW)
    assert rejected.learned == (ReachObservation(channel="whatsapp", delivered=False, never=True),)
    assert again.learned == ()


def test_bad_news_after_good_ones() -> None:
    """First sent, then bounced: no other vendor of the channel is asked, and it is learned."""
    two = (replace(WHATSAPP, vendors=("a",)), replace(WHATSAPP, vendors=("b",)))
    sent = ladder.transition(awaiting(*two), [heard("sent")], now=NOW).state
    turn = ladder.transition(sent, [heard("bounced")], now=NOW)
    assert turn.end == ExecutionEnd(result="FAILED", reason="bounced")
    assert [past.reason for past in turn.new_attempts] == ["address_refused"]
    assert turn.learned == (ReachObservation(channel="whatsapp", delivered=False, never=True),)


def test_a_receipt_that_does_not_come_lets_the_next_step_begin() -> None:
    turn = ladder.transition(awaiting(), now=NOW + MINUTE)
    assert turn.ask == (2,)
    assert [past.id for past in turn.late] == ["attempt_1"]
    assert turn.learned == (ReachObservation(channel="whatsapp", delivered=False),)
    last = awaiting(TEXT)
    assert after(last, at=NOW + 30 * SECOND) == ExecutionEnd(result="FAILED", reason="not_in_time")


def test_a_late_delivery_ends_it_wherever_it_stands() -> None:
    moved = ladder.transition(awaiting(), now=NOW + MINUTE).state
    ended = ExecutionEnd(result="DELIVERED", evidence="delivered", final_channel="whatsapp")
    assert after(moved, heard("delivered"), at=NOW + MINUTE) == ended
    calling = called(moved, 2, at=NOW + MINUTE)
    turn = ladder.transition(calling, [answer(NO, step=2), heard("delivered")], now=NOW + MINUTE)
    assert turn.end == ended
    assert [past.status for past in turn.new_attempts] == ["rejected_by_provider"]
    # What arrives for certain is not undone by what was said before or after.
    assert ladder.transition(moved, [heard("failed_perm"), heard("delivered")], now=NOW + MINUTE).end == ended
    assert ladder.transition(moved, [heard("delivered"), heard("failed_perm")], now=NOW + MINUTE).end == ended


def test_what_should_be_read_and_only_arrives() -> None:
    """The next step is taken; where there is none, it was delivered all the same."""
    read = replace(WHATSAPP, success="read")
    waits = ladder.transition(awaiting(read, TEXT), [heard("delivered")], now=NOW).state
    assert after(waits) == NOW + MINUTE
    assert after(waits, at=NOW + MINUTE) == (2,)
    alone = ladder.transition(awaiting(read), [heard("delivered")], now=NOW).state
    delivered = ExecutionEnd(result="DELIVERED", evidence="delivered", final_channel="whatsapp")
    assert after(alone, at=NOW + MINUTE) == delivered


def test_the_clock_of_the_message_stops_sending_and_not_listening() -> None:
    waits = awaiting(WHATSAPP, TEXT, expires_at=NOW + 10 * SECOND)
    assert after(waits, at=NOW + 20 * SECOND) == NOW + MINUTE
    assert after(waits, heard("delivered"), at=NOW + 20 * SECOND).result == "DELIVERED"
    assert after(waits, at=NOW + MINUTE) == ExecutionEnd(result="FAILED", reason="expired")


# --- side by side


def side_by_side() -> ExecutionState:
    here = start(WHATSAPP, TEXT, strategy="PARALLEL")
    calls = {
        1: OpenAttempt(id="attempt_1", vendor="http", started_at=NOW),
        2: OpenAttempt(id="attempt_2", vendor="http", started_at=NOW),
    }
    return ladder.open_attempts(here, calls, now=NOW)


def test_all_at_once_and_the_first_that_arrives_wins() -> None:
    assert after(start(WHATSAPP, TEXT, strategy="PARALLEL")) == (1, 2)
    both = [answer(Accepted(provider_message_id=f"m{s}"), step=s, receipts=True) for s in (1, 2)]
    waits = ladder.transition(side_by_side(), both, now=NOW)
    assert (waits.end, waits.ask, waits.due_at) == (None, (), NOW + 30 * SECOND)
    turn = ladder.transition(waits.state, [heard("delivered", "attempt_2")], now=NOW)
    assert turn.end == ExecutionEnd(result="DELIVERED", evidence="delivered", final_channel="sms")
    assert [past.id for past in turn.needless] == ["attempt_1"]


def test_one_of_several_may_fail() -> None:
    turn = ladder.transition(
        side_by_side(), [answer(NO, step=1), answer(Accepted(), step=2, receipts=True)], now=NOW
    )
    assert (turn.end, [leg.step for leg in turn.state.active_steps]) == (None, [2])
    assert after(turn.state, heard("failed_perm", "attempt_2")) == ExecutionEnd(
        result="FAILED", reason="failed_perm"
    )


# --- what it costs


@pytest.mark.parametrize(
    ("happened", "purse"),
    [
        (answer(Accepted()), CostBudget(cap=100, spent=70)),
        # It may have been taken, and so it may be charged for.
        (answer(Unlearned(reason="?")), CostBudget(cap=100, spent=70)),
        (WorkerDied(step=1), CostBudget(cap=100, spent=70)),
        (answer(NO), CostBudget(cap=100)),
        (answer(LATER), CostBudget(cap=100)),
        (CallSkipped(step=1), CostBudget(cap=100)),
    ],
)
def test_what_is_reserved_is_settled(happened: ExecutionEvent, purse: CostBudget) -> None:
    here = called(start(cap=100), reserved=70)
    assert here.cost_budget == CostBudget(cap=100, reserved=70)
    assert here.cost_budget.allows(30)
    assert not here.cost_budget.allows(31)
    assert ladder.transition(here, [happened], now=NOW).state.cost_budget == purse


def test_too_dear_is_a_reason() -> None:
    dear = SkipStep(reason="cost_cap", result="REFUSED_COST_CAP")
    assert after(start(MAIL), StepBarred(step=1, by=dear)) == ExecutionEnd(
        result="REFUSED_COST_CAP", reason="cost_cap"
    )


def test_a_skipped_step_is_kept_with_its_reason() -> None:
    turn = ladder.transition(start(), [StepBarred(step=1, by=NOWHERE)], now=NOW)
    (skipped,) = turn.new_attempts
    assert isinstance(skipped, ClosedAttempt)
    assert (skipped.step, skipped.status, skipped.reason) == (1, "step_skipped", "no_address")
