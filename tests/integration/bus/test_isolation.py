"""Who may see and touch what on the bus."""

from datetime import timedelta

import asyncpg
import pytest

from tests.support.bus import BusUnderTest, Effects
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.errors import NotPermittedError
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import PostgresBus

_TABLES = ("bus_events", "dead_letters")


async def test_without_a_tenant_the_runtime_role_sees_nothing(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """With one it sees that tenant's events, and never another's or the platform's."""
    group = Effects("group", refused={1})
    once = RetryPolicy(max_attempts=1, first_delay=timedelta(0))
    for tenant in (tenant_id, other_tenant, None):
        await under_test.publish(tenant, [1])
    await under_test.relay()
    await bus.consumer(under_test.subscription(group, retry=once)).drain()

    async with under_test.database.runtime() as connection:
        for table in _TABLES:
            assert await connection.fetch(f"SELECT * FROM kernel.{table}") == []
            async with connection.transaction():
                await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
                rows = await connection.fetch(f"SELECT tenant_id FROM kernel.{table}")
            assert [row["tenant_id"] for row in rows] == [tenant_id]


@pytest.mark.parametrize("table", ["bus_events", "bus_consumers", "bus_parked", "dead_letters"])
async def test_the_runtime_role_itself_writes_nothing(under_test: BusUnderTest, table: str) -> None:
    """Only the worker role does, and the stream is never changed by anybody."""
    async with under_test.database.runtime() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(f"DELETE FROM kernel.{table}")
        if table == "bus_events":
            async with connection.transaction():
                await connection.execute("SET LOCAL ROLE tidings_worker")
                for statement in (
                    "DELETE FROM kernel.bus_events",
                    "UPDATE kernel.bus_events SET payload = ''",
                ):
                    with pytest.raises(asyncpg.InsufficientPrivilegeError):
                        async with connection.transaction():
                            await connection.execute(statement)


async def test_a_tenant_can_not_speak_for_another(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Nor for the platform: the outbox takes only its own events."""
    for stranger in (other_tenant, None):
        with pytest.raises(NotPermittedError):
            async with under_test.db.tenant(tenant_id) as tx:
                await under_test.outbox.append(tx, [under_test.event(stranger, 1)])


async def test_the_cursor_prunes_the_days_behind_it(under_test: BusUnderTest) -> None:
    """Reading on from now does not open yesterday's partitions, nor those before."""
    async with under_test.database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        plan = await connection.fetch(
            "EXPLAIN SELECT * FROM kernel.bus_events WHERE position > 5 "
            "AND published_at >= now() + INTERVAL '20 days' - INTERVAL '1 hour' ORDER BY position LIMIT 100"
        )
        everything = await connection.fetch(
            "EXPLAIN SELECT * FROM kernel.bus_events ORDER BY position LIMIT 100"
        )
    text, all_text = ("\n".join(row[0] for row in rows) for rows in (plan, everything))
    assert text.count("Scan") < all_text.count("Scan")
    assert "Subplans Removed" in text
