"""Which conditions hold a step back when its ladder is made."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tidings.contracts.ids import RECIPIENT
from tidings.router.policies.conditions import LOW_SCORE, NOT_ONLINE, NOT_REACHABLE, WRONG_PRIORITY, barred_by
from tidings.router.policies.model import Conditions
from tidings.router.profiles.facts import Fact
from tidings.router.profiles.model import PROFILE, ChannelScore, Profile, TriState

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def profile(whatsapp: TriState | None = None, *, delivered: tuple[bool, ...] = ()) -> Profile:
    score = ChannelScore(channel="whatsapp")
    for arrived in delivered:
        score = score.after(delivered=arrived, at=NOW)
    return Profile(
        id=PROFILE.new(NOW),
        recipient_id=RECIPIENT.new(NOW),
        channels={"whatsapp": score} if delivered else {},
        facts={} if whatsapp is None else {"has_whatsapp_business": Fact(value=whatsapp, at=NOW)},
        created_at=NOW,
        updated_at=NOW,
    )


def barred(known: Profile | None = None, priority: Any = "normal", **conditions: Any) -> str | None:
    return barred_by(Conditions(**conditions), "whatsapp", priority=priority, profile=known, now=NOW)


def test_without_conditions_every_step_is_taken() -> None:
    assert barred_by(None, "sms", priority="low", profile=None, now=NOW) is None


def test_only_some_priorities() -> None:
    assert barred(priority="critical", priorities=("critical", "high")) is None
    assert barred(priority="low", priorities=("critical", "high")) == WRONG_PRIORITY


@pytest.mark.parametrize(
    ("known", "yes", "not_no"),
    [
        (None, NOT_REACHABLE, None),
        (profile(), NOT_REACHABLE, None),
        (profile(TriState.KNOWN_YES), None, None),
        (profile(TriState.KNOWN_NO), NOT_REACHABLE, NOT_REACHABLE),
    ],
)
def test_by_what_is_known_of_somebody(known: Profile | None, yes: str | None, not_no: str | None) -> None:
    assert barred(known, reachable="known_yes") == yes
    assert barred(known, reachable="not_known_no") == not_no


def test_a_score_counts_once_there_is_one() -> None:
    """Who held back what was never tried would never learn of it."""
    assert barred(None, min_score=0.9) is None
    assert barred(profile(), min_score=0.9) is None
    assert barred(profile(delivered=(False, False, False)), min_score=0.4) == LOW_SCORE
    assert barred(profile(delivered=(True, True, True)), min_score=0.4) is None


def test_hours_and_prefixes_are_looked_at_later() -> None:
    assert barred(prefixes=("+93",)) is None


def test_by_who_has_their_inbox_open() -> None:
    there, away = Conditions(online=True), Conditions(online=False)

    def reason(conditions: Conditions, *, online: bool) -> str | None:
        return barred_by(conditions, "inapp", priority="normal", profile=None, now=NOW, online=online)

    assert reason(there, online=True) is None
    assert reason(there, online=False) == NOT_ONLINE
    assert reason(away, online=False) is None
    assert reason(away, online=True) == NOT_ONLINE
