"""How long an event waits for its attempt."""

from datetime import timedelta
from itertools import pairwise

from tidings.router.callbacks.patience import FIRST, GIVE_UP_AFTER, LONGEST, pause_after


def test_soon_at_first_and_then_less_and_less_often() -> None:
    pauses = [pause_after(looks) for looks in range(1, 20)]

    assert pauses[0] == FIRST
    for before, after in pairwise(pauses):
        assert before is not None
        assert after in (before * 2, LONGEST)
    assert pauses[-1] == LONGEST


def test_it_is_given_up_after_a_day_of_waiting() -> None:
    waited = timedelta(0)
    looks = 1
    while (pause := pause_after(looks)) is not None:
        waited += pause
        looks += 1

    assert GIVE_UP_AFTER <= waited < GIVE_UP_AFTER + LONGEST
    assert pause_after(looks + 1000) is None
