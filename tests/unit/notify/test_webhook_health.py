"""When an endpoint is called again, with how many calls, and when it is disabled."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.notify.webhooks.health import (
    EndpointStanding,
    next_slot,
    slots_of,
    standing_of,
    verdict_of,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
TAKEN = WebhookResult(delivered=True, status=204)
FAILED = WebhookResult(delivered=False, status=500, reason="answered")
BUSY = WebhookResult(delivered=False, status=429, reason="answered", after=timedelta(minutes=5))
GONE = WebhookResult(delivered=False, status=410, reason="gone", final=True)


def test_no_call_says_nothing() -> None:
    assert verdict_of([], 3, disable_after=20, now=NOW, chance=1.0) is None


@pytest.mark.parametrize(
    ("disable_after", "expected"),
    [
        (20, {10: 50, 14: 70, 18: 90}),
        (10, {5: 50, 7: 70, 9: 90}),
        (4, {2: 50, 3: 70}),
        (1, {}),
    ],
)
def test_each_mark_is_warned_of_once(disable_after: int, expected: dict[int, int]) -> None:
    warned: dict[int, int] = {}
    for before in range(disable_after):
        verdict = verdict_of([FAILED], before, disable_after=disable_after, now=NOW, chance=1.0)
        assert verdict is not None
        for mark in verdict.warnings:
            warned[verdict.consecutive_failures] = mark
        assert verdict.disabled == ("failures" if before + 1 == disable_after else None)
    assert warned == expected


def test_calls_that_fail_together_are_one_failure_and_one_that_is_taken_ends_the_row() -> None:
    together = verdict_of([FAILED] * 10, 0, disable_after=20, now=NOW, chance=1.0)
    mixed = verdict_of([FAILED, TAKEN, FAILED], 19, disable_after=20, now=NOW, chance=1.0)
    assert together is not None
    assert mixed is not None
    assert together.consecutive_failures == 1
    assert (mixed.consecutive_failures, mixed.proven, mixed.disabled) == (0, True, None)


def test_one_that_says_that_it_is_gone_is_disabled_whatever_else_was_taken() -> None:
    verdict = verdict_of([TAKEN, GONE], 0, disable_after=20, now=NOW, chance=1.0)
    assert verdict is not None
    assert verdict.disabled == "gone"


def test_it_rests_longer_after_each_failure_and_as_long_as_it_asks_for() -> None:
    rests: list[timedelta] = []
    for before in range(20):
        verdict = verdict_of([FAILED], before, disable_after=100, now=NOW, chance=1.0)
        assert verdict is not None
        assert verdict.resting_until is not None
        rests.append(verdict.resting_until - NOW)
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (timedelta(seconds=0.5), timedelta(minutes=1))
    assert timedelta(minutes=10) < sum(rests, timedelta()) < timedelta(minutes=20)
    asked = verdict_of([BUSY], 0, disable_after=20, now=NOW, chance=1.0)
    assert asked is not None
    assert asked.resting_until == NOW + timedelta(minutes=5)


def test_trust_comes_with_a_call_that_is_taken() -> None:
    assert standing_of(0, proven=False) is EndpointStanding.NEW
    assert standing_of(0, proven=True) is EndpointStanding.PROVEN
    assert standing_of(1, proven=False) is EndpointStanding.FAILING


@given(per_minute=st.integers(1, 60_000), wanted=st.integers(1, 250), minutes=st.integers(1, 5))
def test_no_minute_has_more_calls_than_are_allowed(per_minute: int, wanted: int, minutes: int) -> None:
    """But for those that come together in its first second."""
    now, slot, made = NOW, None, 0
    end = NOW + timedelta(minutes=minutes)
    for _ in range(400):
        count = slots_of(wanted, per_minute, slot, now=now)
        made += count
        slot = next_slot(count, per_minute, now=now) or slot
        assert slot is not None
        now = max(slot, now)
        if now >= end:
            break
    elapsed = (min(now, end) - NOW) / timedelta(minutes=1)
    assert made <= per_minute * elapsed + per_minute / 60 + 1
