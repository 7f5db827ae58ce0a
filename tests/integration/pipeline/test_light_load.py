"""A dispatcher under light load: it rests between messages, and looks into the queue when it is told to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.support.bus import DEADLINE
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, order
from tests.support.statements import Asked, counting
from tidings.notify.dispatch.job import DispatchJob

pytestmark = pytest.mark.xdist_group("pipeline-statements")


@asynccontextmanager
async def _resting(job: DispatchJob) -> AsyncIterator[None]:
    """While it runs, and has found nothing to do."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(job._wakeups.run(stop)), asyncio.create_task(job.run(stop))]
    try:
        async with asyncio.timeout(DEADLINE):
            while not job._resting or job._unseen:
                await asyncio.sleep(0.01)
        yield
    finally:
        stop.set()
        await asyncio.wait(tasks)


async def _delivered(sender: Sender, ids: list[str]) -> None:
    async with asyncio.timeout(DEADLINE):
        for id_ in ids:
            while await sender.status(id_) != "delivered":
                await asyncio.sleep(0.01)


def _claims(asked: Asked) -> int:
    return sum(text.startswith("WITH RECURSIVE best") for text in asked.texts)


async def test_a_message_alone_is_claimed_when_it_comes_and_not_looked_for_again(
    world: PipelineWorld,
) -> None:
    """Told once by the API of its own process, once by the database; batches that move on call for no claim."""
    job = world.system.dispatch.job
    async with world.sender() as sender, _resting(job):
        for _ in range(3):
            with counting(world.db) as asked:
                sent = await sender.send(f"{unused()}@example.test")
                await _delivered(sender, [sent["id"]])
                await asyncio.sleep(0.2)
            assert 1 <= _claims(asked) <= 2
            assert job._resting


async def test_under_load_it_looks_by_itself_and_rests_again(world: PipelineWorld) -> None:
    """More than a few at once: writers need not notify it, and nothing is left behind."""
    job = world.system.dispatch.job
    async with world.sender() as sender, _resting(job):
        bulk = {"notifications": [order() for _ in range(150)]}
        answer = await sender.client.post("/api/v1/notifications/bulk", json=bulk)
        await _delivered(sender, [one["id"] for one in answer.json()["results"]])
        async with asyncio.timeout(DEADLINE):
            while not job._resting or job._unseen:
                await asyncio.sleep(0.01)
        sent = await sender.send(f"{unused()}@example.test")
        await _delivered(sender, [sent["id"]])
