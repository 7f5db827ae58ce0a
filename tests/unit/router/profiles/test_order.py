"""Who is tried first, and why."""

import random
from datetime import timedelta

import pytest

from tests.unit.router.profiles.profiling import NOON, known, nobody, saw
from tidings.router.profiles.model import Discovery, TriState
from tidings.router.profiles.observe import observed, told
from tidings.router.profiles.order import Orderable, arrange

WHATSAPP = Orderable(place=0, channel="whatsapp", cost_micros=4_000, deadline_seconds=60)
SMS = Orderable(place=1, channel="sms", cost_micros=30_000, deadline_seconds=60)
VOICE = Orderable(place=2, channel="voice", cost_micros=90_000, deadline_seconds=60)
LADDER = (WHATSAPP, SMS, VOICE)


def no_luck() -> float:
    raise AssertionError("nobody has to draw here")


def test_the_fixed_order_is_the_policys() -> None:
    arranged = arrange(LADDER, known({"voice": [True] * 9}), order="fixed", random_unit=no_luck)

    assert arranged.places == (0, 1, 2)
    assert [(why.channel, why.p, why.index, why.drawn) for why in arranged.why] == [
        ("whatsapp", None, None, False),
        ("sms", None, None, False),
        ("voice", None, None, False),
    ]


def test_the_cheapest_comes_first_and_equals_keep_their_order() -> None:
    free = Orderable(place=3, channel="inapp", cost_micros=0, deadline_seconds=5)
    other = Orderable(place=4, channel="viber", cost_micros=4_000, deadline_seconds=5)

    arranged = arrange((VOICE, WHATSAPP, other, free), None, order="cheapest", random_unit=no_luck)

    assert arranged.places == (3, 0, 4, 2)


@pytest.mark.parametrize("profile", [None, nobody()])
def test_of_whom_nothing_is_known_the_policys_order_holds(profile: None) -> None:
    assert arrange(LADDER, profile, order="learned", random_unit=no_luck).places == (0, 1, 2)


def test_a_fact_alone_does_not_make_somebody_known() -> None:
    """Told by hand, nothing observed: there is no score to order by."""
    profile = told(nobody(), {"has_whatsapp_business": TriState.KNOWN_NO}, at=NOON)

    assert profile.discovery is Discovery.UNSEEN
    assert arrange(LADDER, profile, order="learned", random_unit=no_luck).places == (0, 1, 2)


def test_what_arrives_for_its_money_and_time_comes_first() -> None:
    profile = known({"whatsapp": [False] * 9, "sms": [True] * 9, "voice": [True] * 9})

    arranged = arrange(LADDER, profile, order="learned", random_unit=no_luck, now=NOON)

    assert arranged.places == (1, 2, 0)
    sms, voice, whatsapp = arranged.why
    assert sms.p == pytest.approx(10 / 11)
    assert sms.index == pytest.approx(10 / 11 * 1_000_000 / (30_000 + 60 * 100))
    assert (voice.index or 0) > (whatsapp.index or 0)
    assert not any(why.drawn for why in arranged.why)


def test_patience_costs_too() -> None:
    """Two that are free and as likely: the one that is waited for less comes first."""
    slow = Orderable(place=0, channel="email", cost_micros=0, deadline_seconds=3600)
    quick = Orderable(place=1, channel="push", cost_micros=0, deadline_seconds=30)
    profile = known({"email": [True] * 6, "push": [True] * 6})

    assert arrange((slow, quick), profile, order="learned", random_unit=no_luck).places == (1, 0)


def test_the_value_of_a_second_changes_the_order() -> None:
    """A free channel that often fails against a dear one that arrives: who can wait takes the free one first."""
    chat = Orderable(place=0, channel="telegram", cost_micros=0, deadline_seconds=60)
    call = Orderable(place=1, channel="voice", cost_micros=50_000, deadline_seconds=60)
    profile = known({"telegram": [True, False, False, False, False, False], "voice": [True] * 12})

    def first(value_of_a_second: int) -> str:
        arranged = arrange(
            (chat, call), profile, order="learned", random_unit=no_luck, value_of_a_second=value_of_a_second
        )
        return arranged.why[0].channel

    assert (first(0), first(100), first(1_000)) == ("telegram", "telegram", "voice")


def test_while_learning_all_get_their_chance() -> None:
    """One message arrived by SMS. That is no proof that WhatsApp would not."""
    profile = known({"sms": [True]})
    random_unit = random.Random(5).random
    equal = (
        Orderable(place=0, channel="whatsapp", cost_micros=10, deadline_seconds=1),
        Orderable(place=1, channel="sms", cost_micros=10, deadline_seconds=1),
    )

    first = [arrange(equal, profile, order="learned", random_unit=random_unit) for _ in range(300)]

    assert all(why.drawn for one in first for why in one.why)
    # Of Beta(2, 1) and Beta(1, 1) the first is the greater in two of three draws.
    assert sum(one.places[0] for one in first) / 300 == pytest.approx(2 / 3, abs=0.1)


def test_a_channel_has_one_guess_however_many_steps_it_has() -> None:
    """Two vendors of one channel differ in what they cost and not in whom they reach."""
    profile = known({"sms": [True, False]})
    random_unit = random.Random(6).random
    dear = Orderable(place=0, channel="sms", cost_micros=50_000, deadline_seconds=60)

    for _ in range(50):
        arranged = arrange((dear, SMS), profile, order="learned", random_unit=random_unit)

        assert arranged.places == (1, 0)
        assert arranged.why[0].p == arranged.why[1].p


def test_what_was_learned_fades_until_now() -> None:
    """A year after the last sign of life nobody knows any more, and the cheaper one is tried first again."""
    profile = observed(nobody(), [saw("whatsapp", False, days_ago=n) for n in range(9)], now=NOON)
    profile = observed(profile, [saw("sms", True, days_ago=n) for n in range(9)], now=NOON)

    assert arrange(LADDER, profile, order="learned", random_unit=no_luck, now=NOON).places[0] == 1
    a_year_later = NOON + timedelta(days=365)
    assert arrange(LADDER, profile, order="learned", random_unit=no_luck, now=a_year_later).places[0] == 0


def test_no_steps_are_no_steps() -> None:
    for order in ("fixed", "learned", "cheapest"):
        assert arrange((), known({"sms": [True]}), order=order, random_unit=no_luck).places == ()
