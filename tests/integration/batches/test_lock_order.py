"""A batch that is wound up takes locks in the order in which everybody else takes them."""

import asyncio

from tests.integration.batches.arranging import crowd, write
from tests.integration.batches.test_controlling import claimed_turn, small_chunks
from tests.support.pipeline import PipelineWorld
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.notify.batches.store import cancel_waiting

_BLOCKED = (
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
)


async def until_one_waits(tx: TenantTx) -> None:
    """Until another connection waits for a lock of this one."""
    async with asyncio.timeout(20):
        while not await tx.connection.fetchval(_BLOCKED):
            await asyncio.sleep(0.01)


async def lock(tx: TenantTx, table: str, column: str, id_: str) -> None:
    """One row, as a set that goes by the order of ids comes to it."""
    query = f"SELECT FROM {table} WHERE tenant_id = $1 AND {column} = $2 FOR UPDATE"
    await tx.connection.execute(query, tx.tenant_id, id_)


async def test_winding_up_and_another_set_over_the_same_notifications_never_wait_crosswise(
    world: PipelineWorld,
) -> None:
    small_chunks(world.system)
    for table, column in (
        ("notification.notifications", "id"),
        ("notification.dispatch_queue", "notification_id"),
    ):
        async with world.sender() as sender:
            await crowd(world, sender.tenant_id, 5, tags=["vip"])
            batch = await write(sender)
            await batch.do("start")
            await claimed_turn(world.system)
            ids = sorted(line["notification_id"] for line in await batch.people())
            backwards = [NotificationId(id_) for id_ in reversed(ids)]

            async def wind_up(ids: list[NotificationId]) -> list[NotificationId]:
                async with world.db.tenant(sender.tenant_id) as tx:
                    return await cancel_waiting(tx, ids, now=world.clock.now(), stripe=0)

            async with world.db.tenant(sender.tenant_id) as other:
                await lock(other, table, column, ids[0])
                winding_up = asyncio.create_task(wind_up(backwards))
                await until_one_waits(other)
                for id_ in ids[1:]:
                    await lock(other, table, column, id_)
            cancelled = await winding_up

            assert sorted(cancelled) == ids
            await batch.do("cancel")
            await world.settle()
    small_chunks(world.system)
