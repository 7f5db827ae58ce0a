"""Evidence counts, and fades."""

from datetime import timedelta

import pytest

from tests.unit.router.profiles.profiling import NOON
from tidings.router.profiles.posterior import HALF_LIFE, NOTHING_SEEN, Posterior, weight


def test_before_anything_was_seen_all_is_as_likely() -> None:
    assert (NOTHING_SEEN.mean, NOTHING_SEEN.confidence, NOTHING_SEEN.evidence) == (0.5, 0.0, 0.0)


def test_each_observation_moves_the_mean_and_adds_confidence() -> None:
    once = NOTHING_SEEN.update(delivered=True, at=NOON)
    twice = once.update(delivered=False, at=NOON)

    assert once == Posterior(2.0, 1.0, NOON)
    assert once.mean == pytest.approx(2 / 3)
    assert once.confidence == pytest.approx(1 / 6)
    assert twice == Posterior(2.0, 2.0, NOON)
    assert twice.confidence == pytest.approx(2 / 7)


def test_five_observations_are_believed_by_half() -> None:
    seen = NOTHING_SEEN
    for _ in range(5):
        seen = seen.update(delivered=True, at=NOON)

    assert seen.confidence == 0.5


def test_after_a_half_life_an_observation_counts_half() -> None:
    later = Posterior(5.0, 3.0, NOON).decayed(NOON + HALF_LIFE)

    assert later == Posterior(3.0, 2.0, NOON + HALF_LIFE)
    assert weight(2 * HALF_LIFE) == 0.25


def test_time_does_not_run_backwards() -> None:
    seen = Posterior(5.0, 3.0, NOON)

    assert seen.decayed(NOON - timedelta(days=1)) is seen


def test_one_that_arrives_late_counts_for_its_age() -> None:
    seen = Posterior(2.0, 1.0, NOON).update(delivered=False, at=NOON - HALF_LIFE)

    assert seen == Posterior(2.0, 1.5, NOON)


def test_what_failed_long_ago_does_not_weigh_against_what_arrives_now() -> None:
    """Somebody who was unreachable for months is tried again soon after they are back."""
    seen = NOTHING_SEEN
    for _ in range(20):
        seen = seen.update(delivered=False, at=NOON - 12 * HALF_LIFE)
    for _ in range(3):
        seen = seen.update(delivered=True, at=NOON)

    assert seen.mean > 0.75
