"""A dispatcher under light load: it rests between messages, and looks into the queue when it is told to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.support.bus import DEADLINE
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, order
from tests.support.statements import Asked, counting
from tidings.notify.accept.group_commit import GroupCommit
from tidings.notify.dispatch.job import DispatchJob

pytestmark = pytest.mark.xdist_group("pipeline-statements")


@asynccontextmanager
async def _resting(job: DispatchJob) -> AsyncIterator[None]:
    """While it runs, and has found nothing to do."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(job._wakeups.run(stop)), asyncio.create_task(job.run(stop))]
    try:
        await _rests(job)
        yield
    finally:
        stop.set()
        await asyncio.wait(tasks)


async def _rests(job: DispatchJob) -> None:
    async with asyncio.timeout(DEADLINE):
        while not job._resting or job._unseen:
            await asyncio.sleep(0.01)


async def _delivered(sender: Sender, ids: list[str]) -> None:
    async with asyncio.timeout(DEADLINE):
        for id_ in ids:
            while await sender.status(id_) != "delivered":
                await asyncio.sleep(0.01)


def _claims(asked: Asked) -> int:
    return sum(text.startswith("WITH RECURSIVE best") for text in asked.texts)


async def test_a_message_alone_is_claimed_when_it_comes_and_not_looked_for_again(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by the database; a batch that moves on calls for no claim."""
    job = world.system.dispatch.job
    # As of an API in another process.
    monkeypatch.setattr(GroupCommit, "_wake_for", lambda *_: None)
    async with world.sender() as sender, _resting(job):
        claims = 0
        for _ in range(4):
            with counting(world.db) as asked:
                sent = await sender.send(f"{unused()}@example.test")
                await _delivered(sender, [sent["id"]])
                await asyncio.sleep(0.2)
            claims += _claims(asked)
            assert job._resting
    # One each; a look by the clock, or after a proof of the connection, may come on top.
    assert 4 <= claims <= 6


async def test_under_load_it_looks_by_itself_and_rests_again(world: PipelineWorld) -> None:
    """More than a few at once: writers need not notify it, and nothing is left behind."""
    job = world.system.dispatch.job
    async with world.sender() as sender, _resting(job):
        bulk = {"notifications": [order() for _ in range(150)]}
        answer = await sender.client.post("/api/v1/notifications/bulk", json=bulk)
        await _delivered(sender, [one["id"] for one in answer.json()["results"]])
        await _rests(job)
        sent = await sender.send(f"{unused()}@example.test")
        await _delivered(sender, [sent["id"]])


async def test_what_has_a_lower_priority_is_not_left_behind(world: PipelineWorld) -> None:
    """A claim takes one priority, and an insert of two is announced as urgent alone: the dispatcher looks for the rest by itself."""
    job = world.system.dispatch.job
    async with world.sender() as sender, _resting(job):
        for _ in range(3):
            await _rests(job)
            bulk = {
                "notifications": [order(priority="high"), order(priority="normal"), order(priority="low")]
            }
            with counting(world.db) as asked:
                answer = await sender.client.post("/api/v1/notifications/bulk", json=bulk)
                await _delivered(sender, [one["id"] for one in answer.json()["results"]])
            # One each; whoever waits for the next look by the clock makes no claim meanwhile.
            assert _claims(asked) >= 3
            async with world.db.worker() as tx:
                assert await tx.connection.fetchval("SELECT count(*) FROM notification.dispatch_queue") == 0


async def test_a_rest_ends_with_its_connection(world: PipelineWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing notifies a dispatcher whose connection was lost: it asks again on the next one."""
    job = world.system.dispatch.job
    # As of an API in another process.
    monkeypatch.setattr(GroupCommit, "_wake_for", lambda *_: None)
    async with world.sender() as sender, _resting(job):
        connection = job._wakeups._connection
        assert connection is not None
        connection.terminate()
        async with asyncio.timeout(DEADLINE):
            while job._wakeups._connection in (connection, None):
                await asyncio.sleep(0.01)
        await _rests(job)
        sent = await sender.send(f"{unused()}@example.test")
        began = asyncio.get_running_loop().time()
        await _delivered(sender, [sent["id"]])
        # Told, and not found by the clock.
        assert asyncio.get_running_loop().time() - began < job._wakeups.poll_seconds - 1
