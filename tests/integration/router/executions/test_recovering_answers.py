"""Answers that a worker had read when it died: the next worker of the host takes them from its journal."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import Raw
from msgspec.structs import replace

from tests.support.bus import DEADLINE
from tests.support.ladders import EMAIL, SMS, LadderWorld, Wish, Worker
from tests.support.postgres import TestDatabase
from tidings.contracts.delivery import DeliveryRoute
from tidings.kernel.ids import TENANT, TenantId
from tidings.router.executions.answer_journal import JournalEntry
from tidings.router.executions.model import ExecutionId
from tidings.sandbox.faults import FaultSpec

MANY = 12


@pytest.fixture
async def other(world: LadderWorld) -> AsyncIterator[Worker]:
    """Another worker that is alive."""
    made = Worker(world)
    await made.announce()
    yield made
    await made.vendors.close()


@asynccontextmanager
async def nothing_recorded(world: LadderWorld) -> AsyncIterator[None]:
    """Executions are locked: answers come, and can't be recorded."""
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute("SELECT FROM chan.executions_live FOR UPDATE")
        yield


async def die_with_answers(world: LadderWorld, route: DeliveryRoute, *, count: int = MANY) -> Worker:
    """A worker that has read all its answers, and was killed before it recorded them."""
    dead = Worker(world)
    begun = await dead.begin(world.tenant_id, [world.begin(route) for _ in range(count)])
    async with nothing_recorded(world):
        await cut_off(dead, asyncio.ensure_future(begun()), count)
    # The operating system lets go of the lock on its journal.
    await dead.journal.journal.close()
    return dead


async def take_over(world: LadderWorld, other: Worker) -> int:
    """What dead workers had claimed is freed, and another one claims it."""
    freed = await world.rescue()
    await world.manual.advance(timedelta(seconds=5))
    await other.due.drain()
    return freed


async def cut_off(dead: Worker, work: "asyncio.Future[None]", count: int) -> None:
    """End it when it has noted so many answers."""
    async with asyncio.timeout(DEADLINE):
        while (
            sum([len(await dead.journal.entries(path) or ()) for path in dead.journal.journal.files()])
            < count
        ):
            assert not work.done()
            await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    await dead.recorder.close()


@pytest.mark.parametrize("route", [EMAIL, SMS], ids=["smtp", "http"])
async def test_what_was_answered_is_recorded_and_not_sent_again(
    world: LadderWorld, other: Worker, route: DeliveryRoute
) -> None:
    await die_with_answers(world, route)
    assert len(world.sandbox.store) == MANY
    freed = await take_over(world, other)

    outcomes = await world.outcomes()
    assert freed == MANY
    assert [(a.status, a.reason) for o in outcomes for a in o.attempts] == [("accepted", None)] * MANY
    assert {o.result for o in outcomes} == {"DELIVERED"}
    assert len(world.sandbox.store) == MANY
    assert await world.live() == []


async def test_a_journal_goes_when_all_of_it_is_recorded(world: LadderWorld, other: Worker) -> None:
    dead = await die_with_answers(world, EMAIL)
    before = await other.sweep_journals(100)
    await take_over(world, other)

    assert before == 0
    assert await other.sweep_journals(100) == 1
    assert not [path for path in dead.journal.journal.files() if path.name.startswith(dead.id)]


async def test_what_nobody_takes_up_is_kept_for_a_day(world: LadderWorld, other: Worker) -> None:
    await die_with_answers(world, EMAIL, count=1)
    await world.manual.advance(timedelta(hours=23))
    assert await other.sweep_journals(100) == 0
    await world.manual.advance(timedelta(hours=2))
    assert await other.sweep_journals(100) == 1


async def test_a_file_that_its_writer_only_began_goes_after_a_day(world: LadderWorld, other: Worker) -> None:
    """Nothing is in it; before that, it may be one that is being made just now."""
    folder = Path(world.folder, "journal")
    folder.mkdir(exist_ok=True)
    (folder / "wrk_dead.00000001.begun").touch()
    await world.manual.advance(timedelta(hours=23))
    assert await other.sweep_journals(100) == 0
    await world.manual.advance(timedelta(hours=2))
    assert await other.sweep_journals(100) == 1
    assert other.journal.journal.begun() == []


async def test_who_dies_while_taking_over_leaves_it_to_the_next(world: LadderWorld, other: Worker) -> None:
    """Two workers die one after the other, the second with the answers of the first in its hands."""
    await die_with_answers(world, EMAIL)
    await world.rescue()
    await world.manual.advance(timedelta(seconds=5))
    second = Worker(world)
    async with nothing_recorded(world):
        taking_over = asyncio.ensure_future(second.due.drain())
        await asyncio.sleep(0.3)
        taking_over.cancel()
        await asyncio.gather(taking_over, return_exceptions=True)
    await take_over(world, other)

    assert {len(o.attempts) for o in await world.outcomes()} == {1}
    assert len(await world.outcomes()) == len(world.sandbox.store) == MANY
    await second.vendors.close()


async def test_two_dead_workers_of_one_host(world: LadderWorld, other: Worker) -> None:
    await die_with_answers(world, EMAIL, count=5)
    first = world.sandbox.store
    assert len(first) == 5
    dead = Worker(world)
    begun = await dead.begin(world.tenant_id, [world.begin(EMAIL) for _ in range(5)])
    async with nothing_recorded(world):
        await cut_off(dead, asyncio.ensure_future(begun()), 10)
    await take_over(world, other)

    assert {len(o.attempts) for o in await world.outcomes()} == {1}
    assert len(await world.outcomes()) == len(world.sandbox.store) == 10


async def test_a_refusal_is_recovered_with_its_meaning(world: LadderWorld, other: Worker) -> None:
    world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_permanent"))
    await die_with_answers(world, EMAIL, count=1)
    await take_over(world, other)

    (outcome,) = await world.outcomes()
    assert [(a.status, a.reason) for a in outcome.attempts] == [("failed_perm", "5.1.1")]


async def test_an_answer_is_found_for_its_own_tenant_alone(world: LadderWorld, other: Worker) -> None:
    dead = await die_with_answers(world, EMAIL, count=1)
    (path,) = [path for path in dead.journal.journal.files() if path.name.startswith(dead.id)]
    entries = await dead.journal.entries(path)
    assert entries is not None
    (attempt_id,) = entries

    mine = world.tenant_id, attempt_id
    assert await other.journal.find([(TenantId("tnt_another"), attempt_id)]) == {}
    assert list(await other.journal.find([mine])) == [mine]


async def test_an_answer_that_the_database_refuses_is_recovered_once(
    world: LadderWorld, other: Worker, fresh_database: TestDatabase
) -> None:
    """Then it counts as never learned: the execution goes on, instead of being refused for ever."""
    await die_with_answers(world, EMAIL, count=1)
    (path,) = other.journal.journal.files()
    (attempt_id,) = await other.journal.entries(path) or {}
    refuses = "ALTER TABLE chan.delivery_attempts ADD CONSTRAINT refused CHECK (id <> '{}' OR status <> 'accepted') NOT VALID"
    async with fresh_database.owner() as owner:
        await owner.execute(refuses.format(attempt_id))
    await take_over(world, other)
    before = await world.outcomes()
    await world.manual.advance(timedelta(seconds=5))
    await other.due.drain()

    (outcome,) = await world.outcomes()
    assert before == []
    assert [a.reason for a in outcome.attempts] == ["answer_never_learned", None]


async def test_the_journals_are_looked_through_once_for_a_set_of_many_tenants(
    world: LadderWorld, other: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    await die_with_answers(world, EMAIL, count=1)
    further = LadderWorld(
        world.db, world.folder, world.sandbox, TENANT.new(world.clock.now()), clock=world.clock
    )
    await further.accounts()
    await die_with_answers(further, EMAIL, count=2)
    looked: list[list[Path]] = []
    files = other.journal.journal.files

    def noted() -> list[Path]:
        looked.append(list(files()))
        return looked[-1]

    monkeypatch.setattr(other.journal.journal, "files", noted)
    await take_over(world, other)

    assert [len(await one.outcomes()) for one in (world, further)] == [1, 2]
    assert len(looked) == 1


def test_an_answer_of_another_release_counts_as_not_there() -> None:
    known = JournalEntry(
        TenantId("tnt_a"),
        ExecutionId("exec_a"),
        "att_a",
        receipts=False,
        idempotent=False,
        kind=0,
        outcome=Raw(b"\x80"),
    )
    assert known.is_readable
    assert not replace(known, kind=9).is_readable
    assert not replace(known, outcome=Raw(b"\xc1")).is_readable


async def test_an_execution_that_is_gone_keeps_no_journal(world: LadderWorld, other: Worker) -> None:
    """Its tenant was erased meanwhile."""
    await die_with_answers(world, EMAIL, count=2)
    await world.rows("DELETE FROM chan.executions_live RETURNING id")

    assert await other.sweep_journals(100) == 1


async def test_without_its_journal_the_answer_was_never_learned(world: LadderWorld, other: Worker) -> None:
    """Another host can't read it: then as before there was one, it is sent again."""
    await die_with_answers(world, EMAIL, count=1)
    for path in Path(world.folder, "journal").iterdir():
        path.unlink()
    await take_over(world, other)

    (outcome,) = await world.outcomes()
    assert [a.reason for a in outcome.attempts] == ["answer_never_learned", None]
    assert len(world.sandbox.store) == 2


async def test_what_is_recorded_leaves_nothing_on_the_disk(world: LadderWorld, worker: Worker) -> None:
    await worker.send(world.tenant_id, [Wish(hand_off=world.hand_off(EMAIL))])
    await worker.due.drain()
    await worker.send(world.tenant_id, [world.begin(EMAIL)])

    files = worker.journal.journal.files()
    assert len(files) == 1
    assert await worker.journal.entries(files[0]) == {}
    assert worker.journal.journal.is_writing
