"""A webhook that does not answer is called again, less and less often, for about a day."""

from datetime import timedelta

from tidings.router.inbound_routes.patience import FIRST, GIVE_UP_AFTER, LONGEST, pause_after


def test_pauses_grow_and_end_after_a_day() -> None:
    pauses: list[timedelta] = []
    while (pause := pause_after(len(pauses) + 1, lambda: 0.0)) is not None:
        pauses.append(pause)

    assert pauses[0] == FIRST
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST
    assert GIVE_UP_AFTER <= sum(pauses, timedelta(0)) < GIVE_UP_AFTER + LONGEST


def test_those_who_failed_together_come_back_apart() -> None:
    usual, soonest = pause_after(3, lambda: 0.0), pause_after(3, lambda: 1.0)

    assert usual is not None
    assert soonest is not None
    assert usual * 0.6 < soonest < usual
