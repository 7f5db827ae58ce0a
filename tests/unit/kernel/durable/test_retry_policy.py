"""Retry with exponential backoff and jitter."""

from datetime import timedelta

from tidings.kernel.durable.retry_policy import Backoff, RetryPolicy


def test_waits_double_up_to_the_longest() -> None:
    """And chance spreads them over the upper half."""
    policy = RetryPolicy(first_delay=timedelta(seconds=1), longest_delay=timedelta(seconds=60))

    assert [policy.delay(n, 1.0).total_seconds() for n in (1, 2, 3, 7, 8, 1000)] == [1, 2, 4, 60, 60, 60]
    assert policy.delay(3, 0.0) == timedelta(seconds=2)


def test_an_item_is_given_up_by_its_attempts_or_by_its_waits_together() -> None:
    """Whichever comes first; the waits are counted without their jitter."""
    by_attempts = RetryPolicy(max_attempts=3)
    by_waits = RetryPolicy(max_attempts=None, give_up_after=timedelta(seconds=3))

    assert [by_attempts.gives_up(n) for n in (1, 2, 3)] == [False, False, True]
    assert [by_waits.next_delay(n, 1.0) for n in (2, 3)] == [timedelta(seconds=2), None]


def test_no_wait_is_shorter_than_the_shortest() -> None:
    policy = RetryPolicy(shortest_delay=timedelta(seconds=3))

    assert policy.delay(1, 0.0) == timedelta(seconds=3)


def test_pauses_grow_until_something_succeeds() -> None:
    """To a limit, and from the beginning after a success."""
    backoff = Backoff(first=1, longest=5)

    assert [backoff.after_failure() for _ in range(4)] == [1, 2, 4, 5]
    backoff.after_success()
    assert backoff.after_failure() == 1
