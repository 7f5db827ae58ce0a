"""Fair claims: priority first, then turns between tenants by weight; a long queue costs no more than a short one."""

import re
from collections import Counter

import pytest

from tests.support.postgres import TestServer
from tests.support.query_plans import executed, prepare
from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.presence import WORKER, WorkerId
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.dispatch.claim import QUERIES, FairClaimer, free_orphans, give_back

_NOW = SystemClock().now()


async def _queue(
    db: Database, tenant_id: TenantId, count: int, *, rank: int = 2, weight: int = 1
) -> list[str]:
    ids: list[str] = sorted(NOTIFICATION.new(_NOW) for _ in range(count))
    async with db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight) "
            "SELECT $1, unnest($2::text[]), $3, $4",
            tenant_id,
            ids,
            rank,
            weight,
        )
    return ids


async def _worker(db: Database) -> WorkerId:
    name = WORKER.new(_NOW)
    async with db.worker() as tx:
        await tx.connection.execute("INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", name)
    return name


def _tenant() -> TenantId:
    return TENANT.new(_NOW)


async def test_priority_comes_first(fresh_db: Database) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    crowd, other = _tenant(), _tenant()
    await _queue(fresh_db, crowd, 500, rank=3)
    critical = await _queue(fresh_db, other, 1, rank=0)
    claimed = await turns.claim(worker, most=100)
    assert claimed.by_tenant == {other: critical}


async def test_tenants_share_a_round_by_weight(fresh_db: Database) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    light, heavy = _tenant(), _tenant()
    await _queue(fresh_db, light, 500)
    await _queue(fresh_db, heavy, 500, weight=3)
    claimed = await turns.claim(worker, most=100)
    assert {t: len(ids) for t, ids in claimed.by_tenant.items()} == {light: 25, heavy: 75}


async def test_a_small_tenant_is_not_held_up_by_a_large_one(fresh_db: Database) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    large, small = _tenant(), _tenant()
    await _queue(fresh_db, large, 2000)
    wanted = await _queue(fresh_db, small, 3)
    claimed = await turns.claim(worker, most=100)
    assert claimed.by_tenant[small] == wanted


async def test_a_flood_and_a_trickle_of_two_hundred_share_claims(fresh_db: Database) -> None:
    """Every tenant has its turn within three claims; the flood gets what the others leave, and no claim is half empty."""
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    flood, trickle = _tenant(), [_tenant() for _ in range(200)]
    await _queue(fresh_db, flood, 1000)
    for tenant in trickle:
        await _queue(fresh_db, tenant, 1)
    served: Counter[TenantId] = Counter()
    for _ in range(3):
        claimed = await turns.claim(worker, most=100)
        assert len(claimed) == 100
        served.update({tenant: len(ids) for tenant, ids in claimed.by_tenant.items()})
    assert all(served[tenant] == 1 for tenant in trickle)
    assert served[flood] == 100


async def test_what_small_tenants_leave_goes_to_the_large_one(fresh_db: Database) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    large, small = _tenant(), [_tenant() for _ in range(9)]
    await _queue(fresh_db, large, 500)
    for tenant in small:
        await _queue(fresh_db, tenant, 1)
    claimed = await turns.claim(worker, most=100)
    assert len(claimed.by_tenant[large]) == 91
    assert all(len(claimed.by_tenant[tenant]) == 1 for tenant in small)


async def test_the_circle_goes_on_where_it_stopped_and_nobody_is_left_out(fresh_db: Database) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    tenants = [_tenant() for _ in range(40)]
    for tenant in tenants:
        await _queue(fresh_db, tenant, 2)
    got: Counter[TenantId] = Counter()
    rounds = 0
    while claimed := await turns.claim(worker, most=16):
        rounds += 1
        got.update({tenant: len(ids) for tenant, ids in claimed.by_tenant.items()})
        if rounds == 3:
            assert set(got) == set(tenants), "everybody had a turn before anybody had a third"
    assert got == dict.fromkeys(tenants, 2)


async def test_the_oldest_come_first_and_nothing_is_claimed_twice(fresh_db: Database) -> None:
    first, second = await _worker(fresh_db), await _worker(fresh_db)
    tenant = _tenant()
    ids = await _queue(fresh_db, tenant, 30)
    one = await FairClaimer(fresh_db).claim(first, most=10)
    two = await FairClaimer(fresh_db).claim(second, most=10)
    assert [*one.by_tenant[tenant], *two.by_tenant[tenant]] == ids[:20] or (
        set(one.by_tenant[tenant]) | set(two.by_tenant[tenant]) == set(ids[:20])
    )


async def test_a_tenant_that_is_full_is_passed_over_and_lower_priorities_are_looked_at(
    fresh_db: Database,
) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    full, other = _tenant(), _tenant()
    await _queue(fresh_db, full, 10, rank=0)
    wanted = await _queue(fresh_db, other, 1, rank=3)
    claimed = await turns.claim(worker, most=10, full=[full])
    assert claimed.by_tenant == {other: wanted}
    assert not await turns.claim(worker, most=10, full=[full])


async def test_only_express_where_only_that_is_asked_for(fresh_db: Database) -> None:
    worker, turns = await _worker(fresh_db), FairClaimer(fresh_db)
    tenant = _tenant()
    await _queue(fresh_db, tenant, 5, rank=2)
    high = await _queue(fresh_db, tenant, 1, rank=1)
    assert (await turns.claim(worker, most=10, to_rank=1)).by_tenant == {tenant: high}
    assert not await turns.claim(worker, most=10, to_rank=1)


async def test_what_a_dead_worker_had_is_free_again(fresh_db: Database) -> None:
    dead, living = await _worker(fresh_db), await _worker(fresh_db)
    tenant = _tenant()
    ids = await _queue(fresh_db, tenant, 3)
    await FairClaimer(fresh_db).claim(dead, most=10)
    async with fresh_db.worker() as tx:
        assert await free_orphans(tx) == 0
        await tx.connection.execute("DELETE FROM kernel.workers WHERE id = $1", dead)
        assert await free_orphans(tx) == 3
    assert sorted((await FairClaimer(fresh_db).claim(living, most=10)).by_tenant[tenant]) == ids


async def test_a_turn_that_failed_is_given_back_and_counted(fresh_db: Database) -> None:
    worker = await _worker(fresh_db)
    tenant = _tenant()
    (wanted,) = await _queue(fresh_db, tenant, 1)
    for times in (1, 2):
        claimed = await FairClaimer(fresh_db).claim(worker, most=10)
        async with fresh_db.worker() as tx:
            held = [(tenant, id_) for id_ in claimed.by_tenant[tenant]]
            assert await give_back(tx, held, worker=worker) == {(tenant, wanted): times}


@pytest.mark.parametrize("known", ["nothing", "that it was empty", "its length"])
async def test_a_claim_looks_at_no_more_rows_when_the_queue_is_long(server: TestServer, known: str) -> None:
    """By index and no further than needed, whatever was known of the queue when the plan was made."""
    tenants = [_tenant() for _ in range(10)]
    values = {
        "from_rank": 0, "to_rank": 3, "after": "", "seats": 20, "full": [], "most": 20, "worker": "wrk_1",
    }  # fmt: skip
    async with server.clone() as database, database.opened() as db:
        if known == "its length":
            await _queue(db, tenants[0], 20_000)
        if known != "nothing":
            async with database.owner() as owner:
                await owner.execute("VACUUM ANALYZE notification.dispatch_queue")
        async with db.worker(claims=True) as tx:
            await prepare(tx.connection, QUERIES.claim, "claim")
            # From here on its plan is kept.
            await executed(tx.connection, QUERIES.claim, "claim", values)
            for tenant in tenants:
                await _queue(db, tenant, 500)
            told = await executed(
                tx.connection, QUERIES.claim, "claim", values, how="ANALYZE, COSTS OFF, TIMING OFF"
            )
    read = [
        int(rows) * int(loops) for rows, loops in re.findall(r"actual rows=(\d+)[.\d]* loops=(\d+)", told)
    ]
    read += [int(rows) for rows in re.findall(r"Rows Removed by \w+ ?\w*: (\d+)", told)]
    assert max(read) == 20, told
