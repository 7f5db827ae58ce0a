"""How long an event waits for its attempt."""

from datetime import timedelta
from itertools import pairwise

from tidings.router.callbacks.retry_policy import CORRELATION_RETRY


def test_soon_at_first_and_then_less_and_less_often() -> None:
    pauses = [CORRELATION_RETRY.next_delay(looks) for looks in range(1, 20)]

    assert pauses[0] == CORRELATION_RETRY.first_delay
    for before, after in pairwise(pauses):
        assert before is not None
        assert after in (before * 2, CORRELATION_RETRY.longest_delay)
    assert pauses[-1] == CORRELATION_RETRY.longest_delay


def test_it_is_given_up_after_a_day_of_waiting() -> None:
    waited, a_day = timedelta(0), timedelta(hours=24)
    looks = 1
    while (pause := CORRELATION_RETRY.next_delay(looks)) is not None:
        waited += pause
        looks += 1

    assert a_day <= waited < a_day + CORRELATION_RETRY.longest_delay
    assert CORRELATION_RETRY.next_delay(looks + 1000) is None
