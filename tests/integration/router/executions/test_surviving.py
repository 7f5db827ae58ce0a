"""Dead workers, lost claims, a database that is away: nothing is lost, and one outcome is told."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from tests.support.bus import DEADLINE
from tests.support.ladders import EMAIL, EMAIL_ELSEWHERE, LadderWorld, PlayedPreparer, Wish, Worker
from tests.support.people import counted
from tidings.contracts.delivery import PreparedStep, StepAsk
from tidings.sandbox.faults import FaultSpec


@pytest.fixture
async def other(world: LadderWorld) -> Worker:
    """Another worker that is alive."""
    made = Worker(world)
    await made.announce()
    return made


async def test_a_call_of_a_dead_worker_was_never_answered(world: LadderWorld, other: Worker) -> None:
    """It is told as such, and the ladder goes on."""
    dead = Worker(world)
    begin = world.begin()
    await dead.begin(world.tenant_id, [begin])
    before = await other.due.drain()
    freed = await world.rescue()
    await world.manual.advance(timedelta(seconds=5))
    await other.due.drain()

    assert (before, freed) == (0, 1)
    (outcome,) = await world.outcomes()
    assert [(a.step, a.status, a.reason) for a in outcome.attempts] == [
        (1, "timed_out", "answer_never_learned"),
        (1, "accepted", None),
    ]
    assert outcome.result == "DELIVERED"
    assert await world.live() == []
    await other.vendors.close()


async def test_who_lost_the_claim_tells_nothing(world: LadderWorld, other: Worker) -> None:
    """A worker that was taken for dead comes back with its answer: there is one outcome, and it is not its."""
    silent = Worker(world)
    begins = [world.begin() for _ in range(3)]
    begun = await silent.begin(world.tenant_id, begins)
    await world.rescue()
    await world.manual.advance(timedelta(seconds=5))
    await other.due.drain()
    told = await world.outcomes()
    await begun()

    assert len(told) == 3
    assert await world.outcomes() == told
    assert [len(o.attempts) for o in told] == [2, 2, 2]
    (counts,) = await world.rows(
        "SELECT (SELECT count(*) FROM chan.fallback_executions) AS ladders, "
        "(SELECT count(*) FROM chan.delivery_attempts) AS attempts, "
        "(SELECT count(*) FROM chan.delivery_outbox) AS proofs"
    )
    assert counts == {"ladders": 3, "attempts": 6, "proofs": 3}
    await other.vendors.close()
    await silent.vendors.close()


async def test_a_claim_lost_between_look_and_call_makes_no_call(world: LadderWorld, other: Worker) -> None:
    """The mark is refused, and the vendor hears nothing."""

    class Slow(PlayedPreparer):
        async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
            # While this one renders it is taken for dead, and another does the work.
            await world.rescue()
            await world.manual.advance(timedelta(seconds=5))
            await other.due.drain()
            return await super().prepare(asks)

    silent = Worker(world, preparer=Slow())
    await silent.send(world.tenant_id, [Wish(hand_off=world.hand_off(EMAIL))])
    await silent.due.drain()

    assert len(world.sandbox.store) == 1
    assert len(await world.outcomes()) == 1
    await other.vendors.close()


async def test_two_workers_share_what_is_due(world: LadderWorld, worker: Worker, other: Worker) -> None:
    """Nobody takes up what the other has."""
    begins = [Wish(hand_off=world.hand_off(EMAIL)) for _ in range(120)]
    await worker.send(world.tenant_id, begins)
    await asyncio.gather(worker.due.drain(), other.due.drain())

    outcomes = await world.outcomes()
    assert {o.notification_id for o in outcomes} == {b.hand_off.notification_id for b in begins}
    assert len(outcomes) == len(world.sandbox.store) == 120
    assert {len(o.attempts) for o in outcomes} == {1}
    await other.vendors.close()


async def test_an_answer_is_not_forgotten_while_the_database_is_away(
    world: LadderWorld, worker: Worker
) -> None:
    """It was learned, so it is written when the database is back, and nothing is sent again."""
    begin = world.begin()
    begun = await worker.begin(world.tenant_id, [begin])
    await world.db.close()
    watch = world.sandbox.store.bell.watch()
    carrying = asyncio.ensure_future(begun())
    async with asyncio.timeout(DEADLINE):
        await watch.wait()
        await world.manual.advance(timedelta(seconds=1))
        await world.db.open()
        while not carrying.done():
            await world.manual.advance(timedelta(seconds=1))
            await asyncio.sleep(0.01)
    await carrying

    (outcome,) = await world.outcomes()
    assert [a.status for a in outcome.attempts] == ["accepted"]
    assert len(world.sandbox.store) == 1


async def test_the_number_of_statements_does_not_grow_with_the_set(
    world: LadderWorld, worker: Worker
) -> None:
    """One to begin and one to record, for 1 and for 100."""
    await worker.send(world.tenant_id, [world.begin()])
    numbers = []
    for size in (1, 100):
        begins = await worker.booked(world.tenant_id, [world.begin() for _ in range(size)])
        async with world.db.tenant(world.tenant_id) as tx, counted(tx) as statements:
            begun = await worker.router.start_in(tx, begins)
        recorded: list[str] = []
        for connection in world.db._pool._idle:
            connection.add_query_logger(lambda record: recorded.append(record.query))  # noqa: B023
        await begun()
        for connection in world.db._pool._idle:
            connection._query_loggers.clear()
        begin_and_commit = [q for q in recorded if q.startswith(("BEGIN", "COMMIT"))]
        numbers.append((len(statements), len(recorded) - len(begin_and_commit)))

    assert numbers == [(1, 1), (1, 1)]
    assert len(await world.outcomes()) == 102


async def test_the_job_wakes_when_something_is_due(world: LadderWorld, worker: Worker) -> None:
    """By the alarm of its own process, not by looking again and again."""
    world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
    stop = asyncio.Event()
    job = asyncio.create_task(worker.due.run(stop))
    await worker.send(world.tenant_id, [world.begin(), Wish(hand_off=world.hand_off(EMAIL_ELSEWHERE))])
    async with asyncio.timeout(DEADLINE):
        while len(await world.outcomes()) < 1:
            await asyncio.sleep(0.01)
        (waiting,) = await world.live()
        await world.manual.advance(waiting["due_at"] - world.clock.now())
        # The job's own sleep is by the machine's clock; this is what a moved clock has to tell it.
        worker.due_timer.look_now()
        while len(await world.outcomes()) < 2:
            await asyncio.sleep(0.01)
    stop.set()
    async with asyncio.timeout(DEADLINE):
        await job
