"""Tenant events that another service publishes travel over the real bus and close or open the API."""

from datetime import timedelta
from typing import Any

import httpx2

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase
from tidings.contracts.tenants import (
    TenantActivated,
    TenantCreated,
    TenantDeleting,
    TenantFrozen,
    TenantSuspended,
    TenantUnfrozen,
)
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.events import new_event
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.postgres_bus.consumer import Consumer
from tidings.kernel.postgres_bus.relay import Relay
from tidings.notify.tenants import store


class Elsewhere:
    """Another service of the house, which tells of tenants through the outbox."""

    def __init__(self, world: HttpWorld, clock: ManualClock) -> None:
        self._world = world
        self._clock = clock
        jobs = world.system.jobs()
        relay, *consumers = (jobs[name] for name in ("relay_notification", "tenants", "tenant_keys"))
        assert isinstance(relay, Relay)
        self._relay = relay
        self._consumers = [consumer for consumer in consumers if isinstance(consumer, Consumer)]
        assert len(self._consumers) == 2

    async def tells(self, subject: str, payload: Any) -> None:
        """Publish, carry over, apply, and let a second pass."""
        tenant_id = TENANT.parse(payload.tenant_id)
        event = new_event(
            subject,
            payload,
            tenant_id=tenant_id,
            ordering_key=tenant_id,
            source="/elsewhere",
            clock=self._clock,
        )
        async with self._world.db.tenant(tenant_id) as tx:
            await self._world.system.kernel.outbox.append(tx, [event])
        await self.everything_arrives()
        await self._clock.advance(timedelta(seconds=1))

    async def everything_arrives(self) -> None:
        await self._relay.drain()
        for consumer in self._consumers:
            await consumer.drain()


async def write(client: httpx2.AsyncClient) -> tuple[int, str | None]:
    answer = await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})
    return answer.status_code, answer.json().get("code")


async def test_events_on_the_bus_close_and_open_the_api(fresh_db: Database) -> None:
    clock = ManualClock(SystemClock().now())
    world = http_world(fresh_db, clock=clock)
    elsewhere = Elsewhere(world, clock)
    await elsewhere.everything_arrives()
    tenant = (await world.tenant()).id
    seen: list[tuple[int, str | None]] = []

    async with world.as_tenant(tenant) as client:
        for subject, payload in (
            ("tenant.suspended.v1", TenantSuspended(tenant_id=tenant, version=2, reason="unpaid")),
            ("tenant.frozen.v1", TenantFrozen(tenant_id=tenant, version=3)),
            ("tenant.activated.v1", TenantActivated(tenant_id=tenant, version=4)),
            # Told late: it is older than what is known.
            ("tenant.suspended.v1", TenantSuspended(tenant_id=tenant, version=2)),
            ("tenant.unfrozen.v1", TenantUnfrozen(tenant_id=tenant, version=5)),
            ("tenant.deleting.v1", TenantDeleting(tenant_id=tenant, version=6)),
        ):
            await elsewhere.tells(subject, payload)
            seen.append(await write(client))

    assert seen == [
        (403, "tenant_suspended"),
        (403, "tenant_suspended"),
        (423, "tenant_frozen"),
        (423, "tenant_frozen"),
        (201, None),
        (403, "tenant_deleting"),
    ]
    assert not await world.system.kernel.bus.dead_letters.list()


async def test_a_tenant_that_was_made_elsewhere_is_known_here_with_keys_of_its_own(
    fresh_db: Database, fresh_database: TestDatabase
) -> None:
    clock = ManualClock(SystemClock().now())
    world = http_world(fresh_db, clock=clock)
    elsewhere = Elsewhere(world, clock)
    await elsewhere.everything_arrives()
    tenant_id: TenantId = TENANT.new(clock.now())

    await elsewhere.tells(
        "tenant.created.v1", TenantCreated(tenant_id=tenant_id, version=1, name="Elsewhere", region="eu")
    )

    async with fresh_db.platform() as tx:
        known = await store.find_tenant(tx, tenant_id=tenant_id)
    async with fresh_database.owner() as owner:
        await owner.execute("SET ROLE tidings_breakglass")
        keys = await owner.fetchval("SELECT count(*) FROM kernel.tenant_keys WHERE tenant_id = $1", tenant_id)
    async with world.as_tenant(tenant_id) as client:
        answer = await client.get("/api/v1/tenant")
    assert known is not None
    assert (known.name, known.region) == ("Elsewhere", "eu")
    assert keys > 0
    assert answer.status_code == 200
