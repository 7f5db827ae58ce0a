"""The arithmetic of limits, by property: whatever is asked when, no window ever holds too much."""

from datetime import UTC, datetime, timedelta
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.errors import BadValueError
from tidings.kernel.limit_windows import (
    MOST_MOMENTS,
    FixedWindow,
    Limit,
    LimitState,
    SlidingWindow,
    TokenBucket,
    from_micros,
    to_micros,
)

WINDOW = 60
SECONDS = timedelta(microseconds=WINDOW)  # one "second" is a microsecond here, so that edges are hit

steps = st.lists(st.tuples(st.integers(0, WINDOW), st.integers(0, 6)), max_size=60)
limits: st.SearchStrategy[Limit] = st.one_of(
    st.builds(FixedWindow, st.integers(1, 10), st.just(SECONDS)),
    st.builds(SlidingWindow, st.integers(1, 10), st.just(SECONDS)),
    st.builds(TokenBucket, st.integers(1, 10), st.integers(1, 10), st.just(SECONDS)),
)


def play(limit: Limit, script: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ask step by step; what was granted when."""
    state, granted = LimitState(), []
    for now, (_, amount) in zip(accumulate(wait for wait, _ in script), script, strict=True):
        verdict = limit.ask(state, amount, now)
        state = verdict.state
        if verdict.granted:
            granted.append((now, amount))
    return granted


@given(st.integers(1, 10), steps)
def test_no_stretch_of_a_sliding_window_holds_too_much(limit: int, script: list[tuple[int, int]]) -> None:
    """Any stretch, wherever it begins."""
    granted = play(SlidingWindow(limit, SECONDS), script)

    for end, _ in granted:
        assert sum(amount for moment, amount in granted if end - WINDOW < moment <= end) <= limit


@given(st.integers(1, 10), steps)
def test_a_sliding_window_refuses_only_when_it_must(limit: int, script: list[tuple[int, int]]) -> None:
    """It is exact in both directions."""
    window = SlidingWindow(limit, SECONDS)
    granted = play(window, script)

    expected: list[tuple[int, int]] = []
    for now, (_, amount) in zip(accumulate(wait for wait, _ in script), script, strict=True):
        used = sum(taken for moment, taken in expected if now - WINDOW < moment <= now)
        if used + amount <= limit:
            expected.append((now, amount))
    assert granted == expected


@given(st.integers(1, 10), steps)
def test_a_fixed_window_is_exact(limit: int, script: list[tuple[int, int]]) -> None:
    """The sum between two marks, no more and no less."""
    granted = play(FixedWindow(limit, SECONDS), script)

    used: dict[int, int] = {}
    expected = []
    for now, (_, amount) in zip(accumulate(wait for wait, _ in script), script, strict=True):
        if used.get(now // WINDOW, 0) + amount <= limit:
            used[now // WINDOW] = used.get(now // WINDOW, 0) + amount
            expected.append((now, amount))
    assert granted == expected


@given(st.integers(1, 10), st.integers(1, 10), steps)
def test_a_bucket_never_gives_more_than_it_held_and_got(
    capacity: int, refill: int, script: list[tuple[int, int]]
) -> None:
    """Over any stretch: its capacity, and what was filled in meanwhile."""
    granted = play(TokenBucket(capacity, refill, SECONDS), script)

    for first in range(len(granted)):
        for last in range(first, len(granted)):
            given_out = sum(amount for _, amount in granted[first : last + 1])
            elapsed = granted[last][0] - granted[first][0]
            assert given_out * WINDOW <= capacity * WINDOW + elapsed * refill


@given(limits, steps, st.integers(1, 10))
def test_the_time_to_come_again_is_right(limit: Limit, script: list[tuple[int, int]], amount: int) -> None:
    """Then it is granted, and a moment before it is not."""
    state, now = LimitState(), 0
    for wait, wanted in script:
        now += wait
        state = limit.ask(state, wanted, now).state
    verdict = limit.ask(state, amount, now)

    if verdict.granted:
        assert verdict.retry_at is None
    elif verdict.retry_at is None:
        assert not limit.ask(LimitState(), amount, now).granted
    else:
        assert verdict.retry_at > now
        assert limit.ask(verdict.state, amount, verdict.retry_at).granted
        assert not limit.ask(verdict.state, amount, verdict.retry_at - 1).granted


@given(limits, steps)
def test_a_state_that_has_expired_means_nothing(limit: Limit, script: list[tuple[int, int]]) -> None:
    """The sweeper may take it."""
    state, now, expires_at = LimitState(), 0, 0
    for wait, wanted in script:
        now += wait
        verdict = limit.ask(state, wanted, now)
        state, expires_at = verdict.state, verdict.expires_at

    for amount in range(1, 11):
        kept = limit.ask(state, amount, max(now, expires_at))
        swept = limit.ask(LimitState(), amount, max(now, expires_at))
        assert (kept.granted, kept.remaining) == (swept.granted, swept.remaining)


@given(limits, steps, st.integers(0, 500))
def test_a_clock_that_is_behind_opens_nothing(
    limit: Limit, script: list[tuple[int, int]], behind: int
) -> None:
    """Another process's slow clock can't take what is not there now."""
    state, now = LimitState(), 1000
    for wait, wanted in script:
        now += wait
        state = limit.ask(state, wanted, now).state

    for amount in range(1, 11):
        if limit.ask(state, amount, now - behind).granted:
            assert limit.ask(state, amount, now).granted


@given(st.lists(st.integers(1, 3), min_size=MOST_MOMENTS, max_size=MOST_MOMENTS + 80))
def test_a_crowded_sliding_window_stays_small_and_safe(waits: list[int]) -> None:
    """Moments are merged into later ones: never too much, at most a little too late."""
    window = SlidingWindow(100_000, timedelta(microseconds=5000))
    state, now = LimitState(), 0
    for wait in waits:
        now += wait
        state = window.ask(state, 1, now).state

    assert len(state.moments) <= MOST_MOMENTS
    assert sum(state.amounts) == len(waits)
    assert list(state.moments) == sorted(state.moments)
    assert state.moments[-1] == now


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_moments_survive_the_round_trip(moment: datetime) -> None:
    """To the microsecond."""
    assert from_micros(to_micros(moment)) == moment


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: FixedWindow(0, SECONDS), "limit"),
        (lambda: SlidingWindow(1, timedelta(0)), "window"),
        (lambda: TokenBucket(1, 0, SECONDS), "refill"),
        (lambda: TokenBucket(2**50, 1, timedelta(days=1)), "capacity"),
    ],
)
def test_nonsense_is_refused_by_name(make: type, field: str) -> None:
    """A limit that can't be counted."""
    with pytest.raises(BadValueError) as refused:
        make()

    assert refused.value.field == field


@given(st.integers(1, 10), steps, st.data())
def test_what_was_taken_elsewhere_adds_up_in_any_order(
    limit: int, script: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Noted by several, in parts, the newest first: the windows end up as if all had been taken here."""
    for window in (FixedWindow(limit, SECONDS), SlidingWindow(limit, SECONDS)):
        here = LimitState()
        parts: list[dict[int, int]] = [{}, {}, {}]
        now = 0
        for wait, amount in script:
            now += wait
            verdict = window.ask(here, amount, now)
            if verdict.granted and amount:
                here = verdict.state
                part = data.draw(st.sampled_from(parts))
                part[now] = part.get(now, 0) + amount

        there = LimitState()
        for part in data.draw(st.permutations(parts)):
            absorbed = window.absorb(there, part, now)
            there = absorbed.state if absorbed is not None else LimitState()

        for amount in range(limit + 1):
            mine, theirs = window.ask(here, amount, now), window.ask(there, amount, now)
            assert (theirs.granted, theirs.remaining, theirs.retry_at) == (
                mine.granted,
                mine.remaining,
                mine.retry_at,
            )


@given(st.integers(1, 10), st.integers(1, 10), steps, st.data())
def test_a_bucket_emptied_elsewhere_never_holds_more_than_it_should(
    capacity: int, refill: int, script: list[tuple[int, int]], data: st.DataObject
) -> None:
    """In order it is exact; out of order it errs on the safe side."""
    bucket = TokenBucket(capacity, refill, SECONDS)
    here, in_order, now = LimitState(), LimitState(), 0
    parts: list[dict[int, int]] = [{}, {}]
    for wait, amount in script:
        now += wait
        verdict = bucket.ask(here, amount, now)
        here = verdict.state
        if verdict.granted and amount:
            absorbed = bucket.absorb(in_order, {now: amount}, now)
            in_order = absorbed.state if absorbed is not None else LimitState()
            part = data.draw(st.sampled_from(parts))
            part[now] = part.get(now, 0) + amount
    mixed = LimitState()
    for part in data.draw(st.permutations(parts)):
        absorbed = bucket.absorb(mixed, part, now)
        mixed = absorbed.state if absorbed is not None else LimitState()

    def left(state: LimitState) -> int:
        return bucket.ask(state, 0, now).state.amounts[0]

    assert left(in_order) == left(here)
    assert left(mixed) <= left(here)
