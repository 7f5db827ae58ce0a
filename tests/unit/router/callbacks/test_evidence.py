"""How much of what was refused is kept."""

from datetime import timedelta

from tests.support.clock import ManualClock
from tidings.router.callbacks.evidence import Evidence


async def test_so_many_a_minute_for_each_account() -> None:
    clock = ManualClock()
    evidence = Evidence(clock=clock, most_a_minute=2)

    first = [evidence.may_keep("a") for _ in range(4)]
    other = evidence.may_keep("b")
    await clock.advance(timedelta(seconds=60))
    next_minute = [evidence.may_keep("a") for _ in range(3)]

    assert first == [True, True, False, False]
    assert other
    assert next_minute == [True, True, False]


def test_accounts_that_are_remembered_are_bounded() -> None:
    evidence = Evidence(clock=ManualClock(), most_a_minute=1)

    kept = [evidence.may_keep(f"account-{n}") for n in range(5000)]

    assert all(kept)
    assert len(evidence._kept) <= 2000
