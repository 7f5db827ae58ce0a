"""What follows from what happened, as a table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidings.contracts.delivery import SkipStep, WaitStep
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.ladder.decide import Ladder
from tidings.router.ladder.model import (
    Again,
    Call,
    End,
    Happened,
    Next,
    Past,
    Position,
    Step,
    Wait,
    WorkerDied,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MAIL, OTHER_MAIL, SMS = (
    Step(channel="email", vendor="smtp"),
    Step(channel="email", vendor="http"),
    Step(channel="sms", vendor="http"),
)


def position(*steps: Step, **more: Any) -> Position:
    more = {"use_case": "txn", "expires_at": NOW + timedelta(days=1), "tries": 1, **more}
    return Position(steps=steps or (MAIL, OTHER_MAIL), **more)


def past(**more: Any) -> Past:
    return Past(
        **{
            "id": "attempt_1",
            "step": 1,
            "channel": "email",
            "status": "failed_temp",
            "started_at": NOW,
            "ended_at": NOW,
            **more,
        }
    )


DELIVERED = End(result="DELIVERED", evidence="accepted", final_channel="email")
LATER = TryLater(reason="later", code="4.3.0")
NO = Refused(reason="no", code="5.7.1")
NO_SUCH_ADDRESS = Refused(reason="no", code="5.1.1")


@pytest.mark.parametrize(
    ("here", "happened", "follows"),
    [
        (position(), Accepted(), DELIVERED),
        (position(), NO, Next(step=2)),
        (position(MAIL), NO, End(result="FAILED", reason="5.7.1")),
        (position(), NO_SUCH_ADDRESS, End(result="FAILED", reason="5.1.1")),
        (position(MAIL, OTHER_MAIL, SMS), NO_SUCH_ADDRESS, Next(step=3)),
        (position(), Refused(reason="no", code="x", permanent=False), Again(at=NOW + timedelta(seconds=5))),
        (position(), LATER, Again(at=NOW + timedelta(seconds=5))),
        (position(tries=2), LATER, Again(at=NOW + timedelta(seconds=15))),
        (
            position(),
            TryLater(reason="later", code="x", after=2 * MINUTE),
            Again(at=NOW + 2 * MINUTE * 1.1),
        ),
        # Longer than the step may take: the next vendor is quicker.
        (position(), TryLater(reason="later", code="x", after=20 * MINUTE), Next(step=2)),
        (position(step=2), TryLater(reason="later", code="x", after=300 * MINUTE), End(result="FAILED", reason="x")),
        (position(tries=9), LATER, Next(step=2)),
        (position(tries=9, step=2), LATER, End(result="FAILED", reason="4.3.0")),
        (position(), Unlearned(reason="?"), Again(at=NOW + timedelta(seconds=5))),
        (position(MAIL, tries=9), Unlearned(reason="?"), End(result="FAILED", reason="answer_never_learned")),
        # The vendor is not to blame: at once.
        (position(), WorkerDied(), Again(at=NOW)),
        (position(tries=9), WorkerDied(), Next(step=2)),
        (position(expires_at=NOW), LATER, End(result="FAILED", reason="expired")),
        (position(step_deadline_at=NOW + timedelta(seconds=4)), LATER, Next(step=2)),
        (position(), SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL"), Next(step=2)),
        (
            position(step=2),
            SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL"),
            End(result="REFUSED_NO_CHANNEL", reason="no_address"),
        ),
        (
            position(step=2, past=(past(status="step_skipped", reason="consent_missing", result="REFUSED_CONSENT"),)),
            SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL"),
            End(result="REFUSED_CONSENT", reason="consent_missing"),
        ),
        # Somebody was called, so it has failed, and the call says why.
        (
            position(step=2, past=(past(reason="4.3.0"),)),
            SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL"),
            End(result="FAILED", reason="4.3.0"),
        ),
        (
            position(),
            SkipStep(reason="cancelled", result="FAILED", ends=True),
            End(result="FAILED", reason="cancelled"),
        ),
        (position(), WaitStep(until=NOW + MINUTE, reason="quiet_hours"), Wait(until=NOW + MINUTE)),
        (
            position(),
            WaitStep(until=NOW + timedelta(days=1), reason="quiet_hours"),
            End(result="FAILED", reason="expired"),
        ),
    ],
)  # fmt: skip
def test_what_follows(here: Position, happened: Happened, follows: object) -> None:
    assert Ladder().after(here, happened, now=NOW, luck=1.0) == follows


@pytest.mark.parametrize(
    ("here", "follows"),
    [
        (position(), Call()),
        (position(tries=0), Call()),
        (
            Position(steps=(), use_case="txn", expires_at=NOW + MINUTE),
            End(result="REFUSED_NO_CHANNEL", reason="no_route"),
        ),
        (position(expires_at=NOW), End(result="FAILED", reason="expired")),
        (position(step_deadline_at=NOW), Next(step=2)),
        (position(step=2, step_deadline_at=NOW, past=(past(reason="x"),)), End(result="FAILED", reason="x")),
        (position(tries=9), Next(step=2)),
    ],
)
def test_what_to_do_when_it_is_due(here: Position, follows: object) -> None:
    assert Ladder().look(here, now=NOW) == follows


def test_the_clock_of_a_step() -> None:
    """It begins with the first call, is longer where nothing comes after, and never passes the message's."""
    ladder = Ladder()
    assert ladder.step_deadline(position(), now=NOW) == NOW + 15 * MINUTE
    assert ladder.step_deadline(position(step=2), now=NOW) == NOW + timedelta(hours=4)
    assert ladder.step_deadline(position(use_case="otp"), now=NOW) == NOW + timedelta(seconds=30)
    assert ladder.step_deadline(position(expires_at=NOW + MINUTE), now=NOW) == NOW + MINUTE
    assert ladder.step_deadline(position(step_deadline_at=NOW + MINUTE), now=NOW) == NOW + MINUTE


def test_luck_spreads_those_that_failed_together() -> None:
    ladder = Ladder()
    assert ladder.after(position(), LATER, now=NOW, luck=0.0) == Again(at=NOW + timedelta(seconds=2.5))
    asked = TryLater(reason="later", code="x", after=MINUTE)
    assert ladder.after(position(), asked, now=NOW, luck=0.0) == Again(at=NOW + MINUTE)
