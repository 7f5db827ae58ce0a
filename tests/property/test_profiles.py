"""What is learned about people stays a probability, fades, and does not depend on the order in which news arrive."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.router.profiles.facts import Fact, FactName, SealedId, TriState, latest
from tidings.router.profiles.model import PROFILE, ChannelScore, Discovery, Observation, Profile
from tidings.router.profiles.observe import observed
from tidings.router.profiles.order import Order, Orderable, arrange
from tidings.router.profiles.posterior import HALF_LIFE, NOTHING_SEEN, Posterior
from tidings.router.profiles.rows import channels_text, from_row, times_text

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
WHO = RecipientId("rcp_01JCQ0000000000000000000AA")
CHANNELS: tuple[Channel, ...] = ("email", "sms", "whatsapp", "voice")

moments = st.timedeltas(timedelta(days=-2000), timedelta(days=2000)).map(lambda d: NOON + d)
past = st.timedeltas(timedelta(days=-2000), timedelta()).map(lambda d: NOON + d)
seen = st.tuples(st.booleans(), moments)
tri_states = st.sampled_from(TriState)
facts = st.fixed_dictionaries(
    {},
    optional={
        "has_whatsapp_business": tri_states,
        "voice_otp_supported": tri_states,
        "email_verified": st.booleans(),
        "viber_id": st.builds(SealedId, st.sampled_from(["sha256:a", "sha256:b"]), st.binary(max_size=3)),
    },
)
observations = st.builds(
    Observation,
    recipient_id=st.just(WHO),
    channel=st.sampled_from(CHANNELS),
    delivered=st.booleans(),
    at=past,
    fields=facts,
)
orderables = st.lists(
    st.tuples(st.sampled_from(CHANNELS), st.integers(0, 200_000), st.integers(1, 604_800)), max_size=8
).map(
    lambda steps: [
        Orderable(place=place, channel=channel, cost_micros=cost, deadline_seconds=seconds)
        for place, (channel, cost, seconds) in enumerate(steps)
    ]
)


def after(all_: Sequence[tuple[bool, datetime]]) -> Posterior:
    posterior = NOTHING_SEEN
    for delivered, at in all_:
        posterior = posterior.update(delivered=delivered, at=at)
    return posterior


def nobody() -> Profile:
    return Profile(id=PROFILE.new(NOON), recipient_id=WHO, created_at=NOON, updated_at=NOON)


@given(st.lists(seen, max_size=50), moments)
def test_a_score_is_between_nothing_and_certainty(all_: list[tuple[bool, datetime]], now: datetime) -> None:
    posterior = after(all_).decayed(now)

    assert 0.0 < posterior.mean < 1.0
    assert 0.0 <= posterior.confidence < 1.0
    assert posterior.a >= 1.0
    assert posterior.b >= 1.0


@given(st.lists(seen, min_size=1, max_size=20))
def test_everything_fades_to_the_prior(all_: list[tuple[bool, datetime]]) -> None:
    posterior = after(all_)
    assert posterior.at is not None

    steps = [posterior.decayed(posterior.at + n * HALF_LIFE) for n in range(60)]

    away = [abs(one.mean - 0.5) for one in steps]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(away))
    assert steps[-1].mean == pytest.approx(0.5)
    assert steps[-1].confidence == pytest.approx(0.0, abs=1e-9)


@given(st.lists(seen, max_size=10), st.booleans(), st.booleans(), moments)
def test_of_two_at_the_same_time_the_order_does_not_matter(
    before: list[tuple[bool, datetime]], one: bool, other: bool, at: datetime
) -> None:
    assert after([*before, (one, at), (other, at)]) == after([*before, (other, at), (one, at)])


@given(st.lists(seen, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_in_whatever_order_they_arrive_the_score_is_the_same(
    all_: list[tuple[bool, datetime]], chance: random.Random
) -> None:
    shuffled = chance.sample(all_, len(all_))

    ours, theirs = after(all_), after(shuffled)

    assert ours.at == theirs.at == max(at for _, at in all_)
    assert ours.a == pytest.approx(theirs.a)
    assert ours.b == pytest.approx(theirs.b)


@given(st.lists(st.tuples(facts, moments), max_size=8), st.randoms(use_true_random=False))
def test_the_last_writer_wins_field_by_field(
    told: list[tuple[dict[FactName, TriState | bool | SealedId], datetime]], chance: random.Random
) -> None:
    def merged(
        all_: Sequence[tuple[dict[FactName, TriState | bool | SealedId], datetime]],
    ) -> dict[FactName, Fact]:
        known: dict[FactName, Fact] = {}
        for values, at in all_:
            known = latest(known, {name: Fact(value, at) for name, value in values.items()})
        return known

    ours = merged(told)

    assert ours == merged(chance.sample(told, len(told)))
    for name, fact in ours.items():
        assert fact.at == max(at for values, at in told if name in values)


@given(st.lists(observations, max_size=12), st.integers(0, 12), st.randoms(use_true_random=False))
def test_a_profile_is_the_same_whatever_set_an_observation_came_in(
    all_: list[Observation], cut: int, chance: random.Random
) -> None:
    at_once = observed(nobody(), all_, now=NOON)
    shuffled = chance.sample(all_, len(all_))
    in_two = observed(observed(nobody(), shuffled[:cut], now=NOON), shuffled[cut:], now=NOON)

    assert at_once.facts == in_two.facts
    assert at_once.discovery == in_two.discovery
    assert at_once.channels.keys() == in_two.channels.keys()
    for channel, score in at_once.channels.items():
        assert score.observations == in_two.channels[channel].observations
        assert score.posterior.mean == pytest.approx(in_two.channels[channel].posterior.mean)


@given(st.lists(observations, max_size=12))
def test_a_row_says_what_the_profile_says(all_: list[Observation]) -> None:
    profile = observed(nobody(), all_, now=NOON)
    viber = profile.viber_id
    row = {
        "id": profile.id,
        "recipient_id": WHO,
        "channel_preferences": channels_text(profile),
        "field_times": times_text(profile),
        "has_whatsapp_business": profile.has_whatsapp_business.value,
        "voice_otp_supported": profile.voice_otp_supported.value,
        "email_verified": profile.email_verified,
        "telegram_chat_id_hash": None,
        "telegram_chat_id_ciphertext": None,
        "viber_id_hash": viber.hash if viber else None,
        "viber_id_ciphertext": viber.ciphertext if viber else None,
        "last_successful_channel": profile.last_successful_channel,
        "created_at": NOON,
        "updated_at": NOON,
        "version": 1,
    }

    assert from_row(row) == profile


@given(
    orderables,
    st.none() | st.lists(observations, max_size=12).map(lambda all_: observed(nobody(), all_, now=NOON)),
    st.sampled_from(["fixed", "learned", "cheapest"]),
    st.randoms(use_true_random=False),
)
def test_no_step_is_lost_or_doubled(
    steps: list[Orderable], profile: Profile | None, order: Order, chance: random.Random
) -> None:
    arranged = arrange(steps, profile, order=order, random_unit=chance.random, now=NOON)

    assert sorted(arranged.places) == [step.place for step in steps]
    assert [why.channel for why in arranged.why] == [steps[place].channel for place in arranged.places]
    if order == "fixed" or (order == "learned" and (not profile or profile.discovery is Discovery.UNSEEN)):
        assert list(arranged.places) == [step.place for step in steps]
    if order == "cheapest":
        costs = [(steps[place].cost_micros, place) for place in arranged.places]
        assert costs == sorted(costs)
    if order == "learned" and profile and profile.discovery is not Discovery.UNSEEN:
        keys = [
            (-(why.index or 0.0), place) for why, place in zip(arranged.why, arranged.places, strict=True)
        ]
        assert keys == sorted(keys)


@given(orderables, st.lists(st.booleans(), min_size=5, max_size=20), st.booleans())
def test_more_deliveries_never_move_a_channel_back(
    steps: list[Orderable], seen_: list[bool], arrived: bool
) -> None:
    """One more that arrived by SMS: SMS stands no later than before. One that did not: no earlier."""
    score = ChannelScore(channel="sms")
    for one in seen_:
        score = score.after(delivered=one, at=NOON)
    moved = score.after(delivered=arrived, at=NOON)

    def first(channel: ChannelScore) -> int:
        profile = Profile(
            id=PROFILE.new(NOON),
            recipient_id=WHO,
            channels={"sms": channel},
            created_at=NOON,
            updated_at=NOON,
        )
        places = arrange(steps, profile, order="learned", random_unit=lambda: 0.5, now=NOON).places
        by_place = {step.place: step for step in steps}
        return next((n for n, place in enumerate(places) if by_place[place].channel == "sms"), -1)

    assert (first(moved) <= first(score)) if arrived else (first(moved) >= first(score))
