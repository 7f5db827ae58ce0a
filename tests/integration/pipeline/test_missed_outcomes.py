"""An outcome that never arrives does not leave its notification `dispatched` for ever."""

from datetime import timedelta

import pytest

from tests.support.pipeline import PipelineWorld, Sender
from tidings.notify.dispatch import outcome
from tidings.notify.dispatch.unsettled import OutcomeSweeper
from tidings.router.executions.ended import StoredEnds

pytestmark = pytest.mark.xdist_group("pipeline-missed-outcomes")


def sweeper(world: PipelineWorld, settled_for: timedelta = timedelta(0)) -> OutcomeSweeper:
    """The real one, with less patience."""
    system = world.system
    settle = outcome.NotificationSettler(outbox=system.kernel.outbox, clock=system.clock).apply
    return OutcomeSweeper(
        system.db,
        StoredEnds(),
        settle,
        clock=system.clock,
        metrics=system.access.metrics,
        settled_for=settled_for,
    )


def missed(world: PipelineWorld, became: str) -> float:
    return (
        world.system.kernel.metrics.registry.get_sample_value(
            "tidings_outcomes_missed_total", {"became": became}
        )
        or 0
    )


async def send_and_lose_the_outcome(sender: Sender, count: int) -> list[str]:
    """Sent, and over for the router; what it announced is gone before anybody has read it."""
    world = sender.world
    ids = [(await sender.send())["id"] for _ in range(count)]
    with world.router_alone():
        await world.system.dispatch.job.drain()
    async with world.unguarded("chan.outbox") as owner:
        await owner.execute("DELETE FROM chan.outbox WHERE tenant_id = $1", sender.tenant_id)
    await world.settle()
    return ids


async def test_one_whose_ladder_is_over_is_settled_as_it_ended(world: PipelineWorld) -> None:
    await sweeper(world).sweep(100)
    before = missed(world, "settled")
    async with world.sender() as sender:
        ids = await send_and_lose_the_outcome(sender, 3)
        stuck = [await sender.status(one) for one in ids]
        patient = await sweeper(world, timedelta(minutes=30)).sweep(100)
        settled = await sweeper(world).sweep(2)
        again = await sweeper(world).sweep(2)
        await world.settle()
        stories = [await sender.explain(one) for one in ids]
        calls = await sender.rows("SELECT id FROM chan.delivery_attempts ORDER BY id")
        by = await sender.rows(
            "SELECT delivering_attempt_id AS id FROM notification.notifications ORDER BY delivering_attempt_id"
        )

    assert stuck == ["dispatched"] * 3
    assert (patient, settled, again) == (0, 3, 0)
    assert [story["notification"]["status"] for story in stories] == ["delivered"] * 3
    assert [story["notification"]["evidence"] for story in stories] == ["accepted"] * 3
    assert by == calls
    assert missed(world, "settled") == before + 3


async def test_what_the_bus_has_brought_and_what_is_under_way_is_left_alone(world: PipelineWorld) -> None:
    await sweeper(world).sweep(100)
    async with world.sender() as sender:
        settled_by_the_bus = (await sender.send())["id"]
        await world.settle()
        before = await sender.rows("SELECT version FROM notification.notifications")
        under_way = (await sender.send())["id"]

        assert await sweeper(world).sweep(100) == 0
        after = await sender.rows(
            "SELECT version FROM notification.notifications WHERE id = $1", settled_by_the_bus
        )
        assert after == before
        assert await sender.status(under_way) == "queued"
        await world.settle()


async def test_one_process_at_a_time_sweeps(world: PipelineWorld) -> None:
    """The others pass by; nothing is done twice, and nobody waits."""
    await sweeper(world).sweep(100)
    async with world.sender() as sender:
        (lost,) = await send_and_lose_the_outcome(sender, 1)
        async with world.database.owner() as owner, owner.transaction():
            await owner.execute("ALTER TABLE kernel.sweep_marks NO FORCE ROW LEVEL SECURITY")
        try:
            async with world.database.owner() as owner, owner.transaction():
                await owner.execute("SELECT FROM kernel.sweep_marks FOR UPDATE")
                assert await sweeper(world).sweep(100) == 0
        finally:
            async with world.database.owner() as owner:
                await owner.execute("ALTER TABLE kernel.sweep_marks FORCE ROW LEVEL SECURITY")
        assert await sender.status(lost) == "dispatched"

        assert await sweeper(world).sweep(100) == 1
        assert await sender.status(lost) == "delivered"
