"""Pause, resume and cancel, while messages are made and sent."""

import asyncio
import contextlib
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.batches.arranging import crowd, write
from tests.support.people import told
from tests.support.pipeline import PipelineWorld
from tidings.bootstrap import System
from tidings.notify.batches.runner import BatchRunner, RunnerSettings


def small_chunks(system: System, **other: Any) -> BatchRunner:
    """A runner that takes ten people at a time."""
    runner = system.batches.runner
    settings = RunnerSettings(**({"chunk": 10, "turn": 0.0} | other))
    object.__setattr__(runner, "settings", settings)
    return runner


async def claimed_turn(system: System) -> None:
    """One chunk of one batch; nothing is sent."""
    await system.batches.job._turn()
    await asyncio.gather(*system.batches.job._tasks)


async def test_a_paused_batch_makes_no_more_messages_and_goes_on_where_it_stood(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 45, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await _one_chunk(world)
        await batch.do("pause")
        await world.advance(minutes=5)

        paused = await batch.totals()
        again = await batch.post("pause")
        resumed = await batch.do("resume")
        await world.settle()
        await world.advance(seconds=30)

        assert paused == {"people": 45, "sent": 10, "delivered": 10, "remaining": 35}
        assert (again.status_code, resumed["status"]) == (200, "running")
        assert await batch.totals() == {"people": 45, "sent": 45, "delivered": 45}
        assert Counter(line["recipient_id"] for line in await batch.people()) == Counter(ids)


async def test_who_was_not_met_is_not_written_to_when_it_is_cancelled(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 45, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await _one_chunk(world)
        await world.system.dispatch.job.drain()
        await _one_chunk(world)

        cancelled = await batch.do("cancel")
        await world.settle()
        await world.advance(seconds=5)

        shown = await batch.show()
        assert (cancelled["status"], shown["status"]) == ("cancelled", "cancelled")
        assert await batch.totals() == {"people": 45, "sent": 10, "delivered": 10, "cancelled": 35}
        assert shown["completed_at"] is not None
        assert Counter(line["state"] for line in await batch.people()) == {"delivered": 10, "cancelled": 10}
        report = await batch.get("/report", verify="true")
        assert (report["met"], report["unmet"], report["proof"]["agrees"]) == (20, 25, True)
        events = Counter(subject for subject, _ in await told(world.db, sender.tenant_id, ""))
        waiting = await sender.rows(
            "SELECT count(*) AS n FROM notification.dispatch_queue WHERE tenant_id = $1", sender.tenant_id
        )
        assert waiting == [{"n": 0}]
        assert events["batch.cancelled.v1"] <= 1


async def test_a_cancelled_batch_awaits_outcomes_without_reading_its_ledger(world: PipelineWorld) -> None:
    """What was handed over can't be cancelled: the cursor stays at the end, and each look is later than the one before."""
    small_chunks(world.system)
    job = world.system.batches.job
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 15, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await _one_chunk(world)
        with world.router_alone():
            # What became of the ten is not heard yet.
            await world.system.dispatch.job.drain()
        await _one_chunk(world)
        await batch.do("cancel")
        pauses = []
        for minutes in (0, 1, 5):
            await world.clock.advance(timedelta(minutes=minutes))
            await job.drain()
            [row] = await sender.rows(
                "SELECT walked_to, due_at FROM notification.dispatch_batches WHERE id = $1", batch.id
            )
            assert row["walked_to"] == max(line["recipient_id"] for line in await batch.people())
            pauses.append((row["due_at"] - world.clock.now()).total_seconds())

        assert pauses == [2, 6, 36]
        assert await batch.totals() == {"people": 15, "sent": 10, "remaining": 10, "cancelled": 5}
        await world.settle()
        await world.advance(minutes=1)
        assert await batch.totals() == {"people": 15, "sent": 10, "delivered": 10, "cancelled": 5}
        assert (await batch.show())["completed_at"] is not None


async def test_a_cancelled_batch_finds_what_its_ledger_was_not_told(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 15, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await _one_chunk(world)
        with world.router_alone():
            await world.system.dispatch.job.drain()
        await batch.do("cancel")
        async with world.unguarded("notification.notifications") as owner:
            await owner.execute(
                "UPDATE notification.notifications SET status = 'bounced' WHERE batch_id = $1", batch.id
            )
        await world.settle()
        await world.advance(minutes=5)
        before = await batch.show()

        for _ in range(5):
            await world.advance(minutes=5)

        shown = await batch.show()
        assert before["completed_at"] is None
        assert shown["completed_at"] is not None
        assert await batch.totals() == {
            "people": 15, "sent": 10, "delivered": 10, "bounced": 10, "cancelled": 5,
        }  # fmt: skip
        assert (await batch.get("/report", verify="true"))["proof"]["agrees"]


async def test_who_started_it_is_written_down(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 1, tags=["vip"])
        at_once = await write(sender)
        later = await write(sender, scheduled_for=(world.clock.now() + timedelta(hours=1)).isoformat())

        for batch in (at_once, later):
            await batch.do("start")
        await world.advance(hours=1)

        rows = await sender.rows(
            "SELECT started_by, created_by FROM notification.dispatch_batches WHERE tenant_id = $1 AND started_at IS NOT NULL",
            sender.tenant_id,
        )
        assert len(rows) == 2
        assert all(row["started_by"] == row["created_by"] for row in rows)


async def test_a_draft_is_cancelled_too(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        batch = await write(sender)

        await batch.do("cancel")
        await world.settle()

        assert (await batch.show())["completed_at"] is not None
        assert (await batch.post("start")).json()["code"] == "batch_state"
        assert (await batch.post("cancel")).status_code == 200


@pytest.mark.parametrize("verb", ["pause", "resume"])
async def test_what_a_state_does_not_allow_is_refused(world: PipelineWorld, verb: str) -> None:
    async with world.sender() as sender:
        batch = await write(sender)

        answer = await batch.post(verb)

        assert (answer.status_code, answer.json()["code"]) == (409, "batch_state")
        assert "draft" in answer.json()["detail"]


async def test_a_batch_waits_for_its_time(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 3, tags=["vip"])
        at = world.clock.now().replace(hour=(world.clock.now().hour + 2) % 24)
        batch = await write(sender, scheduled_for=at.isoformat())

        started = await batch.do("start")
        await world.advance(minutes=30)
        before = await batch.show()
        await world.advance(hours=2)
        await world.advance(seconds=2)

        assert (started["status"], before["status"]) == ("scheduled", "scheduled")
        assert before["totals"]["people"] == 0
        assert (await batch.show())["status"] == "completed"


async def test_two_runners_at_once_meet_everybody_once(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender, world.another_worker() as other:
        small_chunks(other)
        ids = await crowd(world, sender.tenant_id, 120, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")

        for _ in range(30):
            await asyncio.gather(claimed_turn(world.system), claimed_turn(other))
        await world.settle()
        await world.advance(seconds=2)

        assert Counter(line["recipient_id"] for line in await batch.people()) == Counter(ids)
        assert await batch.totals() == {"people": 120, "sent": 120, "delivered": 120}


async def test_a_runner_that_dies_in_the_middle_of_a_chunk_skips_and_repeats_nobody(
    world: PipelineWorld,
) -> None:
    """It is cut off after so many milliseconds, wherever it is then: before, in and after its transaction."""
    small_chunks(world.system)
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 200, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")

        for death in range(25):
            await _cut_off(world, after=death * 0.002)
        await world.settle()
        await world.advance(seconds=2)

        assert Counter(line["recipient_id"] for line in await batch.people()) == Counter(ids)
        found = await sender.rows(
            "SELECT recipient_id, count(*) AS n FROM notification.notifications WHERE tenant_id = $1 GROUP BY 1",
            sender.tenant_id,
        )
        assert {row["n"] for row in found} == {1}
        assert await batch.totals() == {"people": 200, "sent": 200, "delivered": 200}


async def _cut_off(world: PipelineWorld, *, after: float) -> None:
    job = world.system.batches.job
    await job._turn()
    tasks = list(job._tasks)
    await asyncio.sleep(after)
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task
    # What the dead had claimed is freed, as presence does it.
    async with world.db.worker() as tx:
        await tx.connection.execute("UPDATE notification.dispatch_batches SET claimed_by = NULL")


async def test_a_batch_whose_template_is_gone_rests_and_says_why(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 25, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await _one_chunk(world)
        async with world.unguarded("notification.dispatch_batches") as owner:
            await owner.execute(
                "UPDATE notification.dispatch_batches SET template_key = 'gone' WHERE id = $1", batch.id
            )

        await world.settle()

        shown = await batch.show()
        assert shown["status"] == "paused"
        assert shown["problem"].startswith("template must be the key of a template")
        assert shown["totals"]["delivered"] == 10
        assert (await batch.post("resume")).json()["code"] == "bad_value"


async def test_a_tenant_that_is_frozen_holds_its_batches(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 15, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        async with world.unguarded("notification.tenants_local") as owner:
            await owner.execute(
                "UPDATE notification.tenants_local SET frozen_at = now() WHERE tenant_id = $1",
                sender.tenant_id,
            )
        await world.advance(minutes=5)
        held = await batch.totals()
        async with world.unguarded("notification.tenants_local") as owner:
            await owner.execute(
                "UPDATE notification.tenants_local SET frozen_at = NULL WHERE tenant_id = $1",
                sender.tenant_id,
            )
        await world.advance(minutes=2)
        await world.advance(seconds=30)

        assert held == {"people": 15, "remaining": 15}
        assert await batch.totals() == {"people": 15, "sent": 15, "delivered": 15}


async def _one_chunk(world: PipelineWorld) -> None:
    await claimed_turn(world.system)


async def test_a_runner_that_always_fails_ends_the_batch(world: PipelineWorld) -> None:
    small_chunks(world.system)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 5, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        async with world.unguarded("notification.dispatch_batches") as owner:
            await owner.execute(
                "UPDATE notification.dispatch_batches SET variables_ciphertext = 'nonsense' WHERE id = $1",
                batch.id,
            )

        for _ in range(15):
            await world.advance(minutes=20)

        shown = await batch.show()
        assert (shown["status"], shown["totals"]["cancelled"]) == ("failed", 5)
        assert shown["problem"]
