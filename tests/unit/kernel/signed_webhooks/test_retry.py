"""A webhook that does not answer is called again, less and less often, for about a day."""

from datetime import timedelta

from tidings.kernel.signed_webhooks.retry import WEBHOOK_RETRY


def test_pauses_grow_and_end_after_a_day() -> None:
    pauses: list[timedelta] = []
    while (pause := WEBHOOK_RETRY.next_delay(len(pauses) + 1)) is not None:
        pauses.append(pause)

    assert pauses[0] == WEBHOOK_RETRY.first_delay
    assert pauses == sorted(pauses)
    assert pauses[-1] == WEBHOOK_RETRY.longest_delay
    assert (
        timedelta(hours=24) <= sum(pauses, timedelta(0)) < timedelta(hours=24) + WEBHOOK_RETRY.longest_delay
    )


def test_those_who_failed_together_come_back_apart() -> None:
    usual, soonest = WEBHOOK_RETRY.next_delay(3), WEBHOOK_RETRY.next_delay(3, 0.0)

    assert usual is not None
    assert soonest is not None
    assert usual * 0.6 < soonest < usual
