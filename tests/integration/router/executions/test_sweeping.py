"""Proofs whose time is over go; the others stay."""

from datetime import timedelta

from tests.support.ladders import LadderWorld, Worker
from tidings.router.executions.sweep import sweep_ledgers


async def test_only_what_has_expired_is_swept(world: LadderWorld, worker: Worker) -> None:
    await worker.send(world.tenant_id, [world.begin(), world.begin()])
    before = await sweep_ledgers(world.db, world.clock, limit=100)
    await world.manual.advance(timedelta(days=31))
    after = await sweep_ledgers(world.db, world.clock, limit=100)

    assert (before, after) == (0, 2)
    assert await world.rows("SELECT * FROM chan.delivery_outbox") == []
