"""Who is taken up first."""

from tests.support.ladders import EMAIL, LadderWorld, Wish, Worker
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT, TenantId
from tidings.router.executions.jobs import DUE_EXECUTIONS


async def waiting(world: LadderWorld, worker: Worker, tenant_id: TenantId, count: int, priority: str) -> None:
    begins = [
        Wish(hand_off=world.hand_off(EMAIL, tenant_id=tenant_id, priority=priority)) for _ in range(count)
    ]
    await worker.begin(tenant_id, begins)


async def test_the_urgent_first_and_tenants_in_turn(world: LadderWorld, worker: Worker) -> None:
    """One tenant's many do not stand before another's few."""
    few = TENANT.new(SystemClock().now())
    await waiting(world, worker, world.tenant_id, 50, "normal")
    await waiting(world, worker, few, 2, "normal")
    await waiting(world, worker, world.tenant_id, 3, "critical")
    await waiting(world, worker, world.tenant_id, 50, "low")

    async with world.db.worker(claims=True) as tx:
        now = world.clock.now()
        first = await DUE_EXECUTIONS.claim(tx, worker=worker.id, now=now, limit=8)
        rest = await DUE_EXECUTIONS.claim(tx, worker=worker.id, now=now, limit=200)
        nothing = await DUE_EXECUTIONS.claim(tx, worker=worker.id, now=now, limit=200)
        due = await DUE_EXECUTIONS.next_due(tx, now=now)

    assert len(first) == 8
    assert sum(claim.tenant_id == few for claim in first) == 2
    critical = {row["id"] for row in await world.live() if row["priority"] == "critical"}
    assert critical < {claim.id for claim in first}
    assert (len(rest), nothing, due) == (97, [], None)
