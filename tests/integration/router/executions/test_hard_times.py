"""Limits with a backlog, clocks that differ, a database that stumbles at the wrong moment, rows in somebody's grasp."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.support.ladders import EMAIL, LadderWorld, Wish, Worker
from tests.support.postgres import TestDatabase
from tests.support.running import PATIENCE
from tidings.contracts.delivery import DeliveryRoute
from tidings.contracts.execution_history import WaitRecord
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.operations.partitions import make_missing
from tidings.router.executions import load
from tidings.router.executions.record import Recorder
from tidings.router.executions.snapshot import state_of
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.policies.model import PolicyStep

SMS = DeliveryRoute(channel="sms", vendor="http_sms")


async def attempts(world: LadderWorld) -> list[dict[str, Any]]:
    return await world.rows(
        "SELECT * FROM chan.delivery_attempts WHERE provider IS NOT NULL ORDER BY started_at"
    )


async def test_what_an_accounts_limit_holds_back_comes_back_at_its_pace(
    world: LadderWorld, worker: Worker
) -> None:
    """Each is prepared when its turn comes, and not all of them every time that there is room for one."""
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.channel_adapter_configs SET rate_limit_per_second = 2 WHERE provider = 'smtp'"
        )
    await worker.send(world.tenant_id, [world.begin() for _ in range(60)])
    due = [row["due_at"] for row in await world.live()]
    for _ in range(40):
        await world.manual.advance(timedelta(seconds=1))
        await worker.due.drain()

    assert len(set(due)) == len(due) == 58
    assert len(await world.outcomes()) == len(world.sandbox.store) == 60
    assert len(worker.preparer.asked) <= 2 * 58


async def test_history_tells_what_a_message_waited_for_also_when_it_is_over(
    world: LadderWorld, worker: Worker
) -> None:
    """From the hand-over, over a second look at a limit that is still used up, to the call."""
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.channel_adapter_configs SET rate_limit_per_second = 1 WHERE provider = 'smtp'"
        )
    wishes = [world.begin() for _ in range(3)]
    await worker.send(world.tenant_id, wishes)
    before = await _waits(world, wishes)
    for _ in range(6):
        await world.manual.advance(timedelta(seconds=1))
        await worker.due.drain()
    after = await _waits(world, wishes)

    assert len(await world.outcomes()) == 3
    assert [len(found) for found in before] == [len(found) for found in after] == [0, 1, 1]
    calls = {row["started_at"] for row in await attempts(world)}
    for (waits,), (waited,) in zip(before[1:], after[1:], strict=True):
        assert (waited.step, waited.channel, waited.reason) == (1, "email", "vendor_limit")
        assert waited.since == waits.since
        assert waited.until in calls


async def _waits(world: LadderWorld, wishes: Sequence[Wish]) -> list[tuple[WaitRecord, ...]]:
    """What each has waited for; those that waited least come first."""
    ids = [wish.hand_off.notification_id for wish in wishes]
    async with world.db.tenant(world.tenant_id) as tx:
        found = await world.history.of_notifications(tx, ids)
    return sorted((found[id_][0].waits for id_ in ids), key=lambda waits: (len(waits), str(waits)))


async def test_a_receipt_from_a_clock_that_is_behind_is_heard(world: LadderWorld, worker: Worker) -> None:
    await world.vendor("http_sms")
    await world.policy("txn", PolicyStep(channel="sms", deadline_seconds=60))
    await worker.send(world.tenant_id, [world.begin(SMS, to="+93700000001")])
    (attempt,) = await attempts(world)
    behind = INBOUND_WEBHOOK_EVENT.new(attempt["started_at"] - timedelta(milliseconds=20))
    await world.hear(worker, attempt, "delivered", id=behind)
    await worker.due.drain()

    (outcome,) = await world.outcomes()
    assert (outcome.result, outcome.evidence) == ("DELIVERED", "delivered")


async def test_an_answer_is_not_forgotten_when_the_news_cannot_be_read(
    world: LadderWorld, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt came meanwhile, and the database is away when it is to be read."""
    begun = await worker.begin(world.tenant_id, [world.begin()])
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute("UPDATE chan.executions_live SET version = version + 1")
    read = load.with_receipts

    async def away(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(load, "with_receipts", read)
        raise DatabaseUnavailableError("gone for a moment")

    monkeypatch.setattr(load, "with_receipts", away)
    carrying = asyncio.ensure_future(begun())
    while not carrying.done():
        await world.manual.advance(timedelta(seconds=1))
        await asyncio.sleep(0.01)
    await carrying

    (outcome,) = await world.outcomes()
    assert [a.status for a in outcome.attempts] == ["accepted"]
    assert len(world.sandbox.store) == 1


async def test_a_commit_that_was_not_heard_of_lets_the_call_be_made(
    world: LadderWorld, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call is noted, but the answer to that was lost: it is made once, and not told as never answered."""
    await worker.send(world.tenant_id, [Wish(hand_off=world.hand_off(EMAIL))])
    write = Recorder._write

    async def unheard(recorder: Recorder, *args: Any, **more: Any) -> Any:
        monkeypatch.setattr(Recorder, "_write", write)
        await write(recorder, *args, **more)
        # As the fence answers when the same is written again.
        return set()

    monkeypatch.setattr(Recorder, "_write", unheard)
    await worker.due.drain()

    (outcome,) = await world.outcomes()
    assert [a.status for a in outcome.attempts] == ["accepted"]
    assert len(world.sandbox.store) == 1


async def test_who_was_overtaken_does_not_let_go_of_anothers_call(world: LadderWorld, worker: Worker) -> None:
    """What it wrote was committed unheard, and the ladder is on its next call since: that one stays in its hands."""
    begun = await worker.begin(world.tenant_id, [world.begin()])
    (row,) = await world.live()
    (leg,) = state_of(row["state"]).active_steps
    assert leg.open_attempt is not None
    later = row["state"].replace(leg.open_attempt.id, "attempt_01JCQ00000000000000000000Z")
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.executions_live SET version = version + 3, state = $1", later
        )
    await begun()

    (now,) = await world.live()
    assert (now["claimed_by"], now["state"]) == (worker.id, later)
    assert await world.outcomes() == []


async def test_a_row_in_somebodys_grasp_is_not_hammered_at(world: LadderWorld, worker: Worker) -> None:
    await worker.begin(world.tenant_id, [Wish(hand_off=world.hand_off(EMAIL))])
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute("SELECT FROM chan.executions_live FOR UPDATE")
        assert await worker.due._turn() > 0
    assert await worker.due.drain() == 1


async def test_an_answer_waits_for_its_partition(
    world: LadderWorld, worker: Worker, fresh_database: TestDatabase
) -> None:
    """The vendor has the mail, and there is no room to write that down: it is written as soon as there is, and not sent twice."""
    async with fresh_database.owner() as owner:
        await owner.execute(f"DROP TABLE chan.fallback_executions_{world.manual.now():y%Ym%m}")
        sending = asyncio.create_task(worker.send(world.tenant_id, [world.begin()]))
        async with asyncio.timeout(PATIENCE):
            while len(world.sandbox.store) == 0:
                await asyncio.sleep(0.01)
        for _ in range(5):
            await world.manual.advance(timedelta(seconds=1))
        early = sending.done()
        await make_missing(owner, world.manual.now())
    async with asyncio.timeout(PATIENCE):
        while not sending.done():
            await world.manual.advance(timedelta(seconds=1))
            await asyncio.sleep(0.01)
    await sending

    assert not early
    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"]
    assert len(world.sandbox.store) == 1
