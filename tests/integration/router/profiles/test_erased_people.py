"""What was learned about somebody goes when they are erased, and does not come back."""

from datetime import timedelta
from typing import Any

from tests.support.people import PeopleWorld
from tidings.contracts.ids import RecipientId
from tidings.kernel.ids import TenantId
from tidings.router.profiles.model import Observation
from tidings.router.profiles.store import learn, load

HOME = "/api/v1/router/profiles"


async def teach(world: PeopleWorld, tenant_id: TenantId, who: RecipientId, **fields: Any) -> None:
    now = world.system.clock.now()
    async with world.db.tenant(tenant_id) as tx:
        await learn(
            tx,
            [Observation(recipient_id=who, channel="sms", delivered=True, at=now, fields=fields)],  # type: ignore[arg-type]
            now=now,
        )


async def test_erased_is_erased_also_for_what_arrives_later(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    await teach(world, tenant.id, who, email_verified=True)
    async with world.http.as_tenant(tenant.id) as client:
        receipt = await client.post(f"/api/v1/recipients/{who}/erase", json={})
        await world.system.clock.advance(timedelta(minutes=1))  # type: ignore[attr-defined]
        # A receipt that was under way.
        await teach(world, tenant.id, who)
        shown = await client.get(f"{HOME}/{who}")
        changed = await client.patch(f"{HOME}/{who}", json={"email_verified": True})
        listed = await client.get(HOME)

    assert receipt.json()["statement"]["destroyed"]["profiles"] == 1
    assert (shown.status_code, changed.status_code) == (404, 404)
    assert listed.json()["items"] == []
    async with world.db.tenant(tenant.id) as tx:
        assert await load(tx, [who]) == {}
