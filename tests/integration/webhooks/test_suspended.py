"""Webhooks of a tenant that is suspended or on its way out are not called; nothing is lost."""

from tests.integration.webhooks.arranging import Subscriber
from tests.support.webhook_receiver import WebhookReceiver
from tidings.contracts.tenants import TenantDeleting


async def test_they_wait_and_go_on_when_it_is_active_again(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """In their order, and without a failure: also a retry that was due meanwhile."""
    made = await subscriber.webhook(receiver.url(), ordered=True)
    receiver.status = 500
    [failed] = await subscriber.told("k")
    receiver.status = 204
    path = f"/internal/v1/tenants/{subscriber.tenant_id}"
    async with subscriber.world.http.as_platform() as platform:
        assert (await platform.post(f"{path}/suspend")).status_code == 200
        [waiting] = await subscriber.told("k")
        for _ in range(3):
            await subscriber.later(hours=13)
        heard = receiver.ids()
        assert (await platform.post(f"{path}/resume")).status_code == 200
    await subscriber.later(minutes=1)

    assert heard == [failed]
    assert receiver.ids() == [failed, failed, waiting]
    attempts = {
        one["event_id"]: (one["status"], one["attempts"]) for one in await subscriber.deliveries(made["id"])
    }
    assert attempts == {failed: ("delivered", 2), waiting: ("delivered", 1)}
    assert (await subscriber.show(made["id"]))["consecutive_failures"] == 0


async def test_one_that_is_being_deleted_is_told_nothing(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url())
    system = subscriber.world.system
    async with system.db.platform() as tx:
        await system.access.tenants.change(
            tx,
            subscriber.tenant_id,
            lambda known: TenantDeleting(tenant_id=known.id, version=known.version + 1),
            actor="test",
        )
    await subscriber.told("k")
    await subscriber.later(hours=1)

    assert receiver.ids() == []
