"""What a profile becomes by what is observed."""

from datetime import timedelta

import pytest

from tests.unit.router.profiles.profiling import NOON, known, nobody, saw
from tidings.contracts.tenants import Channel
from tidings.router.profiles.facts import Fact, SealedId
from tidings.router.profiles.model import STABLE_FROM, Discovery, TriState, discovery_of
from tidings.router.profiles.observe import observed, told


def test_somebody_becomes_known_step_by_step() -> None:
    profile, states = nobody(), []
    for n in range(STABLE_FROM):
        states.append(profile.discovery)
        profile = observed(profile, [saw("sms", delivered=n % 2 == 0, days_ago=n)], now=NOON)
    states.append(profile.discovery)

    assert states == [Discovery.UNSEEN, *[Discovery.LEARNING] * (STABLE_FROM - 1), Discovery.STABLE]
    assert profile.observations == STABLE_FROM


def test_how_often_is_not_forgotten_with_time() -> None:
    """The score fades; that somebody was looked at does not."""
    profile = observed(nobody(), [saw("sms", True, days_ago=400)] * STABLE_FROM, now=NOON)

    assert profile.discovery is Discovery.STABLE
    assert profile.score("sms", NOON) == pytest.approx(0.5, abs=0.01)
    assert profile.posterior("sms").mean == pytest.approx(6 / 7)


def test_the_channel_of_the_newest_delivery_is_remembered() -> None:
    profile = observed(
        nobody(), [saw("sms", True), saw("email", True, days_ago=1), saw("voice", False)], now=NOON
    )

    assert profile.last_successful_channel == "sms"
    assert profile.last_observed_at == NOON


def test_a_clock_that_runs_ahead_counts_as_now() -> None:
    """Otherwise one receipt of the year 2099 would make everything before it worthless."""
    profile = observed(
        nobody(), [saw("sms", True, days_ago=-10_000, has_whatsapp_business=TriState.KNOWN_NO)], now=NOON
    )

    assert profile.channels["sms"].posterior.at == NOON
    assert profile.facts["has_whatsapp_business"] == Fact(TriState.KNOWN_NO, NOON)


def test_the_later_word_counts_field_by_field() -> None:
    profile = observed(
        nobody(),
        [
            saw(
                "whatsapp",
                False,
                has_whatsapp_business=TriState.KNOWN_NO,
                voice_otp_supported=TriState.KNOWN_YES,
            )
        ],
        now=NOON,
    )
    earlier = told(profile, {"has_whatsapp_business": TriState.KNOWN_YES}, at=NOON - timedelta(days=1))
    later = told(profile, {"has_whatsapp_business": TriState.KNOWN_YES}, at=NOON + timedelta(days=1))

    assert earlier.has_whatsapp_business is TriState.KNOWN_NO
    assert later.has_whatsapp_business is TriState.KNOWN_YES
    assert later.voice_otp_supported is TriState.KNOWN_YES


@pytest.mark.parametrize(
    ("channel", "facts", "reachable"),
    [
        ("whatsapp", {"has_whatsapp_business": TriState.KNOWN_NO}, "KNOWN_NO"),
        ("whatsapp", {}, "UNKNOWN"),
        ("voice", {"voice_otp_supported": TriState.KNOWN_YES}, "KNOWN_YES"),
        ("email", {"email_verified": True}, "KNOWN_YES"),
        ("email", {"email_verified": False}, "UNKNOWN"),
        ("telegram", {"telegram_chat_id": SealedId("sha256:00", b"sealed")}, "KNOWN_YES"),
        ("viber", {"telegram_chat_id": SealedId("sha256:00", b"sealed")}, "UNKNOWN"),
        ("viber", {"viber_id": SealedId("sha256:00", b"sealed")}, "KNOWN_YES"),
        ("sms", {"email_verified": True}, "UNKNOWN"),
    ],
)
def test_reachable_is_what_is_known_for_certain(
    channel: Channel, facts: dict[str, object], reachable: str
) -> None:
    profile = told(nobody(), facts, at=NOON)  # type: ignore[arg-type]

    assert profile.reachable(channel) == reachable


def test_a_score_is_a_half_where_nothing_was_seen() -> None:
    assert known({"sms": [True]}).score("voice") == 0.5


def test_an_id_of_a_messenger_is_not_printed() -> None:
    assert "secret" not in repr(told(nobody(), {"viber_id": SealedId("sha256:00", b"secret")}, at=NOON))


def test_states_by_number() -> None:
    assert [discovery_of(n).value for n in (0, 1, 4, 5)] == ["UNSEEN", "LEARNING", "LEARNING", "STABLE"]
