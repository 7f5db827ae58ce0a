"""How much of what was refused is kept."""

from datetime import timedelta

from tests.support.clock import ManualClock
from tidings.router.callbacks.evidence import Evidence


async def test_so_many_a_minute_for_each_account() -> None:
    clock = ManualClock()
    evidence = Evidence(clock=clock, most=2)

    first = [evidence.may_keep("a") for _ in range(4)]
    other = evidence.may_keep("b")
    await clock.advance(timedelta(seconds=60))
    next_minute = [evidence.may_keep("a") for _ in range(3)]

    assert first == [True, True, False, False]
    assert other
    assert next_minute == [True, True, False]


async def test_so_many_an_hour() -> None:
    clock = ManualClock()
    evidence = Evidence(clock=clock, most=1, seconds=3600.0)

    first = [evidence.may_keep("a") for _ in range(2)]
    await clock.advance(timedelta(seconds=3599))
    still = evidence.may_keep("a")
    await clock.advance(timedelta(seconds=1))

    assert first == [True, False]
    assert not still
    assert evidence.may_keep("a")


def test_what_could_not_be_kept_takes_nothing_away() -> None:
    evidence = Evidence(clock=ManualClock(), most=2)
    for _ in range(2):
        evidence.may_keep("a")

    evidence.give_back("a", 1)
    evidence.give_back("b", 1)

    assert [evidence.may_keep("a") for _ in range(2)] == [True, False]
    assert [evidence.may_keep("b") for _ in range(3)] == [True, True, False]


def test_accounts_that_are_remembered_are_bounded() -> None:
    evidence = Evidence(clock=ManualClock(), most=1)

    kept = [evidence.may_keep(f"account-{n}") for n in range(5000)]

    assert all(kept)
    assert len(evidence._kept) <= 2000
