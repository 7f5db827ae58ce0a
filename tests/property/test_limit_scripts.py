"""The script in Redis gives the same answers as the arithmetic in Python, whatever is asked in whatever order."""

import asyncio
import itertools
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.valkey import Valkey, running_valkey
from tidings.kernel.clock import SystemClock
from tidings.kernel.hot_state import Take
from tidings.kernel.ids import TENANT
from tidings.kernel.limit_windows import (
    FixedWindow,
    Limit,
    LimitState,
    SlidingWindow,
    TokenBucket,
    from_micros,
)
from tidings.kernel.local_hot_state.limits import decide, stored_key
from tidings.kernel.redis_hot_state.limits import RedisLimits
from tidings.kernel.redis_hot_state.server import RedisServer

_TENANT = TENANT.new(SystemClock().now())
_epochs = itertools.count(1)
_START = 1_800_000_000_000_000

_windows = st.sampled_from(
    [timedelta(microseconds=7), timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)]
)
_numbers = st.integers(1, 20)
_limits: st.SearchStrategy[Limit] = st.one_of(
    st.builds(FixedWindow, _numbers, _windows),
    st.builds(SlidingWindow, _numbers, _windows),
    st.builds(TokenBucket, _numbers, _numbers, _windows),
)
_takes = st.builds(Take, key=st.sampled_from(["a", "b", "é:{x}"]), limit=_limits, amount=st.integers(0, 25))
_groups = st.lists(st.lists(_takes, max_size=4), max_size=5)
#: Clocks of several processes: forwards as a rule, backwards at times.
_steps = st.one_of(st.integers(0, 20), st.integers(-2_000_000, 5_000_000), st.integers(0, 90_000_000_000))
_calls = st.lists(st.tuples(_steps, _groups), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=_calls)
def test_same_answers(valkey: Valkey, calls: list[tuple[int, list[list[Take]]]]) -> None:
    """Granted or not, by which keys, and when to come again: to the microsecond."""

    async def compare() -> None:
        server = RedisServer(valkey.url, call_seconds=10)
        limits = RedisLimits(server, SystemClock(), epoch=next(_epochs))
        states: dict[str, LimitState] = {}
        now = _START
        try:
            for step, groups in calls:
                now += step
                for take in itertools.chain.from_iterable(groups):
                    states.setdefault(stored_key(take), LimitState())
                expected, _ = decide(groups, states, now)

                assert (await limits.take_at(from_micros(now), _TENANT, groups)).taken == expected
        finally:
            await server.close()

    asyncio.run(compare())


def test_a_crowded_sliding_window_is_packed_alike(valkey: Valkey) -> None:
    """More moments than are remembered: the closest two become one, in both."""
    limit = SlidingWindow(1000, timedelta(hours=1))

    async def compare() -> None:
        server = RedisServer(valkey.url, call_seconds=10)
        limits = RedisLimits(server, SystemClock(), epoch=next(_epochs))
        states = {stored_key(Take(key="a", limit=limit)): LimitState()}
        now = _START
        try:
            for number in range(400):
                now += 1000 + number * 7919 % 501
                wish = [[Take(key="a", limit=limit, amount=1 + number % 3)]]
                expected, _ = decide(wish, states, now)
                assert (await limits.take_at(from_micros(now), _TENANT, wish)).taken == expected
            late = now + 3_599_900_000
            expected, _ = decide([[Take(key="a", limit=limit, amount=900)]], states, late)
            found = await limits.take_at(
                from_micros(late), _TENANT, [[Take(key="a", limit=limit, amount=900)]]
            )
            assert found.taken == expected
            assert not expected[0].granted
        finally:
            await server.close()

    asyncio.run(compare())
