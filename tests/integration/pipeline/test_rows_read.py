"""What a set reads of the large tables: its own rows, however many lie between the oldest and the newest of them."""

from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, order, person

pytestmark = pytest.mark.xdist_group("pipeline-rows")

BETWEEN = 400
#: More than a quiet system has open.
_CONNECTIONS = 10


async def test_an_old_one_and_a_new_one_don_t_read_what_lies_between(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        later = (world.clock.now() + timedelta(hours=1)).isoformat()
        old = await sender.send(f"{unused()}@example.test", scheduled_for=later)
        crowd = [order(recipient=person(f"{unused()}@example.test")) for _ in range(BETWEEN)]
        answer = await sender.client.post(f"{HOME}/bulk", json={"notifications": crowd})
        assert answer.json()["accepted"] == BETWEEN
        await world.settle()
        await world.clock.advance(timedelta(hours=1, seconds=1))
        new = await sender.send(f"{unused()}@example.test")
        before = await _entries_read(world)
        await world.settle()
        read = await _entries_read(world) - before
        told = [(await sender.explain(sent["id"]))["notification"] for sent in (old, new)]
    assert [one["status"] for one in told] == ["delivered", "delivered"]
    assert 0 < read < BETWEEN / 4, f"{read} index entries read for two notifications"


async def _entries_read(world: PipelineWorld) -> int:
    """Of all months. Every connection keeps its own count for a while, so each is asked to hand it in."""
    async with AsyncExitStack() as stack:
        held = [await stack.enter_async_context(world.db.worker()) for _ in range(_CONNECTIONS)]
        for tx in held:
            await tx.connection.execute("SELECT pg_stat_force_next_flush()")
    async with world.db.worker() as tx:
        return int(
            await tx.connection.fetchval(
                "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname LIKE 'notifications\\_%\\_y%'"
            )
        )
