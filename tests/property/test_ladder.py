"""Backoff between tries; the ladder itself is proven by `tests/simulation`."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidings.router.ladder.patience import PATIENCE


@given(use_case=st.sampled_from(sorted(PATIENCE)), tries=st.integers(1, 10_000), luck=st.floats(0, 1))
def test_pauses_grow_and_stay_within_their_bounds(use_case: str, tries: int, luck: float) -> None:
    patience = PATIENCE[use_case]  # type: ignore[index]
    pause = patience.pause(tries, luck=luck)

    assert timedelta(0) < pause <= patience.longest_pause
    assert pause <= patience.pause(tries + 1, luck=1)
