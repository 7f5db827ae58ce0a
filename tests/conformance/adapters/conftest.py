"""Every question is asked of every adapter; those of one adapter in one process, which remembers what was played."""

import pytest

from tests.conformance.adapters.player import Player
from tests.conformance.adapters.players import PLAYERS


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in sorted(PLAYERS)])
def player(request: pytest.FixtureRequest) -> Player:
    """One vendor after the other."""
    return PLAYERS[request.param]
