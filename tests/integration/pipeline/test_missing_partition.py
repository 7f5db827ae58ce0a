"""A month without its partition: nothing is half-written, and who asks reads what is missing and what to do."""

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, order
from tidings.operations.partitions import make_missing

pytestmark = pytest.mark.xdist_group("pipeline-partition")


async def _drop(world: PipelineWorld) -> None:
    async with world.database.owner() as owner:
        for kept in ("regulated", "standard", "marketing"):
            await owner.execute(f"DROP TABLE notification.notifications_{kept}_{world.clock.now():y%Ym%m}")


async def _make(world: PipelineWorld) -> None:
    async with world.database.owner() as owner:
        await make_missing(owner, world.clock.now())


async def test_a_request_that_can_not_be_written_is_answered_with_what_is_missing(
    world: PipelineWorld,
) -> None:
    """503 and the remedy; nothing is half-written, and the same request goes through afterwards."""
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        await _drop(world)
        try:
            refused = await sender.client.post("/api/v1/notifications", json=order(to))
        finally:
            await _make(world)
        sent = await sender.send(to)
        await world.settle()

    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (503, "partition_missing")
    assert "table notification.notifications_regulated has no partition" in problem["detail"]
    assert "`tidings partitions` with TIDINGS_OWNER_DATABASE_URL" in problem["detail"]
    assert sent["status"] == "queued"
    assert len(world.received(to)) == 1
