"""What webhooks want is remembered, and a change of another process counts within a second."""

from datetime import timedelta

from tests.integration.webhooks.arranging import DELIVERED, Subscriber
from tests.support.webhook_receiver import WebhookReceiver
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.kernel.events import new_event
from tidings.notify.webhooks.registry import WebhookRegistry


async def test_a_change_of_another_process_counts_within_a_second(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    world, tenant_id = subscriber.world, subscriber.tenant_id
    elsewhere = WebhookRegistry(world.db, clock=world.clock)
    assert (await elsewhere.of_all([tenant_id]))[tenant_id] == []

    made = await subscriber.webhook(receiver.url())
    remembered = (await elsewhere.of_all([tenant_id]))[tenant_id]
    await world.clock.advance(timedelta(seconds=1))
    known = (await elsewhere.of_all([tenant_id]))[tenant_id]

    assert remembered == []
    assert [one.id for one in known] == [made["id"]]


async def test_this_process_counts_it_at_once(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    await subscriber.told("before")
    await subscriber.webhook(receiver.url())

    [event_id] = await subscriber.told("after")

    assert receiver.ids() == [event_id]


async def test_one_that_is_not_called_now_is_not_counted(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    world = subscriber.world
    registry = WebhookRegistry(world.db, clock=world.clock)
    paused, _ = [await subscriber.webhook(receiver.url(place)) for place in ("/a", "/b")]
    event = new_event(
        DELIVERED,
        {"is_test": False},
        tenant_id=subscriber.tenant_id,
        ordering_key="k",
        source=NOTIFY_SOURCE,
        clock=world.clock,
    )
    both = await registry.count_wanting(event)
    await subscriber.do(paused["id"], "pause")
    registry.invalidate()

    assert (both, await registry.count_wanting(event)) == (2, 1)
    # It waits for both.
    await subscriber.told("x")
    assert len(await subscriber.deliveries(paused["id"])) == 1
