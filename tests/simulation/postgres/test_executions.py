"""The whole router on Postgres, with workers that die, under a few dozen seeds."""

import pytest

from tests.simulation.postgres.run import PostgresRun
from tests.simulation.pure.mutations import MUTATIONS
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT
from tidings.router.state_machine.machine import ExecutionStateMachine

#: Seeds that share a database, one after the other: claims reach across tenants.
_EACH = 10
_GROUPS = 4
#: A broken ladder is noticed within so many.
_ENOUGH = 20


def run_of(seed: int, db: Database, ladder: ExecutionStateMachine | None = None) -> PostgresRun:
    """A tenant of its own."""
    return PostgresRun(seed, db, TENANT.new(SystemClock().now()), ladder=ladder)


@pytest.mark.parametrize("first", range(1, _GROUPS * _EACH, _EACH))
async def test_no_sentence_is_broken(fresh_db: Database, first: int) -> None:
    calls = heard = died = 0
    for seed in range(first, first + _EACH):
        run = run_of(seed, fresh_db)
        found = await run.go()
        assert not found, "\n".join([f"Seed {seed}:", *map(str, found), str(run.story)])
        calls += sum(len(seen.calls) for seen in run.seen)
        heard += sum(receipt.live for seen in run.seen for receipt in seen.receipts)
        died += run.died

    assert calls > 0
    assert heard > 0
    assert died > 0


@pytest.mark.parametrize(
    "name",
    [
        "the budget is one too many",
        "the clock of the message is ignored",
        "a refusal is paid for",
        "the first delivery does not win while others are under way",
    ],
)
async def test_a_broken_ladder_is_noticed(fresh_db: Database, name: str) -> None:
    """The sentences are checked on what Postgres and the vendors have to say, too."""
    (mutation,) = [one for one in MUTATIONS if one.name == name]
    ladder = mutation.rules().machine
    for seed in range(1, _ENOUGH + 1):
        if await run_of(seed, fresh_db, ladder).go():
            return
    pytest.fail(f"{_ENOUGH} seeds have not noticed it")
