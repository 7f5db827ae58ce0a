"""How often and how long a fault is in force."""

from datetime import timedelta

from tests.support.clock import ManualClock
from tidings.sandbox.faults import Faults, FaultSpec


def test_a_count_is_used_up() -> None:
    """So many messages, then all is well."""
    faults = Faults(ManualClock())
    faults.set(FaultSpec(adapter="smtp", mode="close", count=2))

    struck = [faults.strike("smtp") is not None for _ in range(4)]

    assert struck == [True, True, False, False]
    assert faults.standing() == []


async def test_seconds_pass() -> None:
    """So long, then all is well; meanwhile it says how long to wait."""
    clock = ManualClock()
    faults = Faults(clock)
    faults.set(FaultSpec(adapter="http", mode="throttle", seconds=10))

    await clock.advance(timedelta(seconds=4))
    during = faults.strike("http")
    await clock.advance(timedelta(seconds=6))

    assert during is not None
    assert during.retry_after == 6
    assert faults.strike("http") is None


async def test_held_back_answers() -> None:
    """For `slow` and `hang`, `seconds` is how long one answer is held back; a count then says for how many."""
    clock = ManualClock()
    faults = Faults(clock)
    faults.set(FaultSpec(adapter="smtp", mode="slow", seconds=2, count=2))
    await clock.advance(timedelta(seconds=60))

    first = faults.strike("smtp")

    assert first is not None
    assert first.delay == 2


def test_the_newest_of_a_kind_counts() -> None:
    """A fault takes the place of its like; different ones stand side by side; clearing ends all."""
    faults = Faults(ManualClock())
    faults.set(FaultSpec(adapter="smtp", mode="close", count=5))
    faults.set(FaultSpec(adapter="smtp", mode="close", count=1))
    faults.set(FaultSpec(adapter="http", mode="hang"))

    assert [(wish.adapter, wish.mode, wish.count) for wish in faults.standing()] == [
        ("smtp", "close", 1),
        ("http", "hang", None),
    ]
    faults.clear()
    assert faults.strike("smtp") is None


def test_a_rate_of_nothing_never_strikes() -> None:
    """And one of everything always does."""
    faults = Faults(ManualClock(), seed=7)
    faults.set(FaultSpec(adapter="smtp", mode="close", rate=0))
    faults.set(FaultSpec(adapter="http", mode="close", rate=1))

    assert not any(faults.strike("smtp") for _ in range(50))
    assert all(faults.strike("http") for _ in range(50))
