"""Waits between tries; the state machine itself is proven by `tests/simulation`."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidings.router.state_machine.retry_policy import STEP_RETRY_POLICIES


@given(
    use_case=st.sampled_from(sorted(STEP_RETRY_POLICIES)),
    tries=st.integers(1, 10_000),
    jitter=st.floats(0, 1),
)
def test_pauses_grow_and_stay_within_their_bounds(use_case: str, tries: int, jitter: float) -> None:
    backoff = STEP_RETRY_POLICIES[use_case].backoff  # type: ignore[index]
    pause = backoff.delay(tries, jitter)

    assert timedelta(0) < pause <= backoff.longest_delay
    assert pause <= backoff.delay(tries + 1)
