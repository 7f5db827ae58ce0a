"""A bounce and its outcome at the same moment: one waits for the other, and both count."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.integration.receipts.world import ReceiptsWorld
from tests.support.people import rows
from tidings.kernel.ids import TenantId


@asynccontextmanager
async def _held(
    world: ReceiptsWorld, tenant_id: TenantId, waits: Callable[[], asyncio.Future[None]]
) -> AsyncIterator[None]:
    """What happens inside is not committed until the other side waits for it."""
    yield
    other = waits()
    async with asyncio.timeout(30):
        while not other.done() and not await _somebody_waits(world, tenant_id):
            await asyncio.sleep(0.01)
    assert not other.done(), "it was to wait"


async def _somebody_waits(world: ReceiptsWorld, tenant_id: TenantId) -> bool:
    query = "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool((await rows(world.db, tenant_id, query))[0]["n"])


@pytest.mark.parametrize("first", ["bounce", "outcome"])
async def test_both_count_whoever_comes_first(world: ReceiptsWorld, first: str) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    events = {"bounce": world.receipt(sent, "bounced", "hard_bounce"), "outcome": world.outcome(sent)}
    second = events.pop("outcome" if first == "bounce" else "bounce")
    tasks: list[asyncio.Future[None]] = []

    def waits() -> asyncio.Future[None]:
        tasks.append(asyncio.ensure_future(world.hear(tenant.id, [second])))
        return tasks[0]

    async with world.db.tenant(tenant.id, by_index=True) as tx, _held(world, tenant.id, waits):
        await world.handler_of(events[first])(tx, [events[first]])
    await tasks[0]

    assert await world.status(sent) == "bounced"
    assert await rows(world.db, tenant.id, "SELECT * FROM notification.early_bounces") == []
    counted = await rows(world.db, tenant.id, "SELECT name, n FROM notification.counters ORDER BY name")
    assert [tuple(row.values()) for row in counted] == [("bounced", 1), ("delivered", 1)]
