"""Draws are spread as the distribution says, and end whatever random_unit does."""

import random
from itertools import cycle

import pytest

from tidings.router.profiles.posterior import Posterior
from tidings.router.profiles.thompson_sampling import draw

_DRAWS = 20_000


@pytest.mark.parametrize(
    ("a", "b"), [(1.0, 1.0), (3.0, 1.0), (1.0, 4.0), (1.5, 1.2), (2.0, 5.0), (40.0, 9.0)]
)
def test_mean_and_spread_are_those_of_the_distribution(a: float, b: float) -> None:
    random_unit = random.Random(f"{a} {b}").random
    drawn = [draw(Posterior(a, b), random_unit) for _ in range(_DRAWS)]

    mean = sum(drawn) / _DRAWS
    spread = sum((p - mean) ** 2 for p in drawn) / _DRAWS
    assert mean == pytest.approx(a / (a + b), abs=0.01)
    assert spread == pytest.approx(a * b / ((a + b) ** 2 * (a + b + 1)), rel=0.05)


@pytest.mark.parametrize(("a", "b"), [(1.5, 1.2), (2.0, 5.0), (5.0, 2.0)])
def test_the_middle_of_all_draws_is_the_median(a: float, b: float) -> None:
    """Against another way to draw, so that a mistake in the shape shows too."""
    random_unit, other = random.Random(7), random.Random(8)
    ours = sorted(draw(Posterior(a, b), random_unit.random) for _ in range(_DRAWS))
    theirs = sorted(other.betavariate(a, b) for _ in range(_DRAWS))

    for part in (0.05, 0.25, 0.5, 0.75, 0.95):
        place = int(part * _DRAWS)
        assert ours[place] == pytest.approx(theirs[place], abs=0.02)


@pytest.mark.parametrize("constant", [0.0, 1e-300, 0.25, 0.5, 0.999, 1.0])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (3.0, 4.0), (1.0000001, 900.0)])
def test_a_luck_that_never_changes_is_no_endless_search(constant: float, a: float, b: float) -> None:
    assert 0.0 < draw(Posterior(a, b), lambda: constant) < 1.0


def test_when_no_try_is_taken_the_mean_serves() -> None:
    """Luck that repeats a pair which the method always throws away."""
    pair = cycle([0.999999, 0.999999])

    assert draw(Posterior(3.0, 4.0), lambda: next(pair)) == pytest.approx(3 / 7)
