"""Beside a flood of one tenant, every other tenant's notification is claimed within a few claims of its acceptance."""

import random
from collections.abc import Collection

import pytest

from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.presence import WORKER, WorkerId
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.dispatch.claim import FairClaimer

_NOW = SystemClock().now()
_CLAIMS = 30


async def _queue(db: Database, tenants: Collection[TenantId], each: int = 1) -> dict[str, TenantId]:
    owners = {str(NOTIFICATION.new(_NOW)): tenant for tenant in tenants for _ in range(each)}
    async with db.tenants(set(tenants)) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority) "
            "SELECT t, n, 2 FROM unnest($1::text[], $2::text[]) AS fresh (t, n)",
            list(owners.values()),
            list(owners),
        )
    return owners


async def _worker(db: Database) -> WorkerId:
    name = WORKER.new(_NOW)
    async with db.worker() as tx:
        await tx.connection.execute("INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", name)
    return name


@pytest.mark.parametrize("most", [100, 10], ids=["usual claims", "small claims, beside urgent ones"])
@pytest.mark.parametrize("first", [True, False], ids=["flood first in the circle", "flood last"])
@pytest.mark.parametrize("every", [1, 3], ids=["always full", "full now and then"])
async def test_a_trickle_is_claimed_within_a_few_claims_of_its_acceptance(
    fresh_db: Database, most: int, first: bool, every: int
) -> None:
    """No matter where the flood stands, and whether it may have more: `every` so many claims it may not."""
    tenants = sorted(TENANT.new(_NOW) for _ in range(201))
    flood = tenants.pop(0 if first else -1)
    await _queue(fresh_db, [flood], _CLAIMS * most + 1)
    worker, claimer = await _worker(fresh_db), FairClaimer(fresh_db)
    # Once round the circle, and one claim more for what came when its tenant had just had its turn.
    patience = -(-len(tenants) // most) + 2
    waiting = dict.fromkeys(await _queue(fresh_db, tenants), 0)
    late: dict[str, int] = {}
    for claim in range(_CLAIMS):
        claimed = await claimer.claim(worker, most=most, full=[flood] if claim % every == 0 else ())
        assert len(claimed) == most
        for tenant, ids in claimed.by_tenant.items():
            if tenant == flood:
                continue
            for id_ in ids:
                if (waited := claim - waiting.pop(id_)) > patience:
                    late[id_] = waited
        # Each of them sends the next one as soon as the last one is on its way.
        served = claimed.by_tenant.keys() - {flood}
        waiting |= dict.fromkeys(await _queue(fresh_db, served), claim + 1)
    overdue = {id_: _CLAIMS - since for id_, since in waiting.items() if _CLAIMS - since > patience}
    assert late | overdue == {}


async def test_a_flood_gets_what_a_trickle_leaves(fresh_db: Database) -> None:
    """Claims are full as long as anybody has more, wherever in the circle the last one has stopped."""
    tenants = sorted(TENANT.new(_NOW) for _ in range(201))
    flood = tenants.pop(0)
    await _queue(fresh_db, [flood], _CLAIMS * 100)
    worker, claimer, chance = await _worker(fresh_db), FairClaimer(fresh_db), random.Random(7)
    waiting: dict[str, int] = {}
    for claim in range(_CLAIMS):
        waiting |= dict.fromkeys(await _queue(fresh_db, chance.sample(tenants, 33)), claim)
        claimed = await claimer.claim(worker, most=100, full=[flood] if claim % 3 == 1 else ())
        for tenant, ids in claimed.by_tenant.items():
            if tenant != flood:
                assert all(claim - waiting.pop(id_) <= 1 for id_ in ids)
        if claim % 3 != 1:
            assert len(claimed) == 100
            assert len(claimed.by_tenant[flood]) >= 100 - 2 * 33
