"""How many calls an endpoint gets at once and in a minute, and that one which hangs is in nobody's way."""

import asyncio

from tests.integration.webhooks.arranging import Subscriber, settle
from tests.support.webhook_receiver import WebhookReceiver
from tidings.kernel.durable.jobs import Job


async def _until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def _running(job: Job, stop: asyncio.Event) -> "asyncio.Task[None]":
    return asyncio.create_task(job.run(stop))


async def test_calls_side_by_side_are_counted_for_each_endpoint(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url("/three"), max_in_flight=3)
    await subscriber.told("warm")
    await subscriber.happens(*(f"k{number}" for number in range(12)))
    receiver.held = asyncio.Event()
    telling = asyncio.create_task(settle(subscriber.world))
    await _until(lambda: receiver.under_way.get("/three") == 3)
    # Whatever else may come has had the time to.
    await asyncio.sleep(0.2)
    receiver.held.set()
    await telling

    assert receiver.most_at_once["/three"] == 3
    assert len(receiver.heard) == 13


async def test_one_that_is_new_gets_one_call_at_a_time(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url("/new"), max_in_flight=10)
    await subscriber.happens(*(f"k{number}" for number in range(5)))
    receiver.held = asyncio.Event()
    telling = asyncio.create_task(settle(subscriber.world))
    await _until(lambda: receiver.heard)
    await asyncio.sleep(0.2)
    assert len(receiver.heard) == 1
    receiver.held.set()
    await telling

    assert len(receiver.heard) == 5


async def test_calls_in_a_minute_are_counted_for_each_endpoint(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url("/slow"), max_per_minute=6)
    await subscriber.webhook(receiver.url("/quick"))

    await subscriber.told(*(f"k{number}" for number in range(10)))

    def count(path: str) -> int:
        return sum(call.path == path for call in receiver.heard)

    assert (count("/slow"), count("/quick")) == (1, 10)
    await subscriber.later(seconds=9)
    assert count("/slow") == 1
    await subscriber.later(seconds=1)
    assert count("/slow") == 2
    for _ in range(8):
        await subscriber.later(seconds=10)
    assert count("/slow") == 10


async def test_one_that_hangs_holds_up_no_other_endpoint(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """Of the same tenant: while its call is under way, others are told everything that happens."""
    world = subscriber.world
    receiver.hanging = {"/hangs"}
    await subscriber.webhook(receiver.url("/hangs"), timeout_seconds=30)
    await subscriber.webhook(receiver.url("/works"))
    stop = asyncio.Event()
    await subscriber.happens("k0")
    for relay in world.relays:
        await relay.drain()
    await world.system.webhooks.consumer.drain()
    job = await _running(world.system.webhooks.deliveries, stop)
    try:
        await _until(lambda: receiver.under_way.get("/hangs") == 1)
        for number in range(1, 6):
            await subscriber.happens(f"k{number}")
            for relay in world.relays:
                await relay.drain()
            await world.system.webhooks.consumer.drain()
            world.system.webhooks.wake.set()
            await _until(lambda: sum(c.path == "/works" for c in receiver.heard) >= number + 1)  # noqa: B023
        assert receiver.under_way["/hangs"] == 1
    finally:
        stop.set()
        await receiver.stop()
        await job
