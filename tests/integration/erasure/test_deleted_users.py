"""A user who is deleted in the identity service is erased here, in the tenant that the event names and nowhere else."""

import pytest

from tests.integration.erasure.somebody import Somebody
from tests.support.pipeline import PipelineWorld
from tidings.contracts.erasure import USER_DELETED_SUBJECT, UserDeleted
from tidings.kernel.events import new_event
from tidings.kernel.ids import TenantId

pytestmark = pytest.mark.xdist_group("erasing")


async def _deleted(world: PipelineWorld, tenant_id: TenantId, user_id: str) -> None:
    system = world.system
    event = new_event(
        USER_DELETED_SUBJECT,
        UserDeleted(user_id=user_id),
        tenant_id=tenant_id,
        ordering_key=user_id,
        source="/iam",
        clock=system.clock,
    )
    async with system.db.tenant(tenant_id) as tx:
        await system.kernel.outbox.append(tx, [event])
    await world.settle()
    consumer = system.jobs()["erasure"]
    while await consumer.drain():  # type: ignore[attr-defined]
        pass


async def test_the_user_is_erased(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as here, world.sender() as there:
        gone, stays = await them.known_to(here), await them.known_to(there)
        await _deleted(world, here.tenant_id, f"id-{them.word}")
        receipt = await here.client.get(f"/api/v1/recipients/{gone}/erasure")
        assert receipt.status_code == 200, receipt.text
        statement = receipt.json()["statement"]
        assert (statement["cause"], statement["requested_by"]) == (USER_DELETED_SUBJECT, "system")
        assert (await there.client.get(f"/api/v1/recipients/{stays}")).json()["erased_at"] is None


async def test_told_twice_or_of_a_stranger_changes_nothing(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        await _deleted(world, sender.tenant_id, "nobody-here")
        assert (await sender.client.get(f"/api/v1/recipients/{recipient_id}")).json()["erased_at"] is None
        for _ in range(2):
            await _deleted(world, sender.tenant_id, f"id-{them.word}")
        count = await sender.rows("SELECT count(*) AS n FROM notification.erasures")
        assert count[0]["n"] == 1
