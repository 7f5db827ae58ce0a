"""The real ladder under hundreds of seeds, and broken ladders under as many."""

from dataclasses import replace
from itertools import count

import pytest

from tests.simulation.pure.mutations import FENCES, MUTATIONS, Mutation
from tests.simulation.pure.rules import Rules
from tests.simulation.pure.run import simulate

#: Seeds of one test, so that they can be shared among processes.
_EACH = 2_000
#: A broken ladder is noticed within so many.
_ENOUGH = 1_500


@pytest.mark.parametrize("first", range(1, 4 * _EACH, _EACH))
def test_no_sentence_is_broken(first: int) -> None:
    found = [one for seed in range(first, first + _EACH) if (one := simulate(seed)) is not None]
    assert not found, f"{len(found)} seeds failed; the first:\n{found[0]}"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_a_broken_ladder_is_noticed(mutation: Mutation) -> None:
    assert _seeds_until_noticed(mutation.rules()) <= _ENOUGH


@pytest.mark.parametrize("name", FENCES)
def test_a_broken_fence_is_noticed(name: str) -> None:
    assert _seeds_until_noticed(replace(Rules(), fences=FENCES[name])) <= _ENOUGH


def test_a_failing_seed_tells_its_story() -> None:
    """By itself, and the same each time."""
    (mutation,) = [one for one in MUTATIONS if one.name == "the cap is ignored"]
    rules = mutation.rules()
    seed = next(seed for seed in count(1) if simulate(seed, rules) is not None)
    told = [str(simulate(seed, rules)) for _ in range(2)]

    assert told[0] == told[1]
    assert f"Seed {seed}" in told[0]
    assert "What is reserved plus what is spent never passes the cap. But: " in told[0]
    assert "message begins" in told[0]
    assert "calls" in told[0]
    assert "It ends: " in told[0]


def _seeds_until_noticed(rules: Rules) -> int:
    return next((seed for seed in range(1, _ENOUGH + 1) if simulate(seed, rules) is not None), _ENOUGH + 1)
