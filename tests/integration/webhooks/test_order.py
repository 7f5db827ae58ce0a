"""Order for each key, where it is asked for: the next is told when the one before was taken or given up."""

from tests.integration.webhooks.arranging import Subscriber
from tests.support.webhook_receiver import WebhookReceiver


async def test_each_key_keeps_its_order_while_its_first_one_fails(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url("/hook"), ordered=True)
    await subscriber.told("warm")
    receiver.heard.clear()
    receiver.status = 500
    first, second, third = await subscriber.told("a", "a", "a")
    assert set(receiver.ids()) == {first}
    statuses = [one["status"] for one in await subscriber.deliveries(made["id"])]
    assert sorted(statuses) == ["blocked", "blocked", "delivered", "queued"]

    receiver.status = 204
    [other] = await subscriber.told("b")
    await subscriber.later(minutes=5)

    heard = [event_id for event_id in receiver.ids() if event_id != first]
    assert set(receiver.ids()) == {first, second, third, other}
    assert heard.index(second) < heard.index(third)
    assert receiver.ids()[-3:].count(first) <= 1


async def test_without_order_a_failing_one_holds_up_no_other(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url())
    receiver.status = 500
    [first] = await subscriber.told("a")
    receiver.status = 204

    second, third = await subscriber.told("a", "a")
    await subscriber.later(seconds=1)

    assert receiver.ids()[0] == first
    assert set(receiver.ids()[1:]) == {second, third}


async def test_many_events_of_some_keys_are_told_in_order(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url(), ordered=True, max_in_flight=50)
    told: dict[str, list[str]] = {key: [] for key in "abc"}
    for _ in range(12):
        for key, event_id in zip("abc", await subscriber.happens(*"abc"), strict=True):
            told[key].append(event_id)

    await subscriber.told("d")

    for ids in told.values():
        assert [event_id for event_id in receiver.ids() if event_id in ids] == ids


async def test_one_that_is_given_up_lets_the_next_of_its_key_go(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url(), ordered=True, disable_after=1000)
    receiver.status = 500
    first, second = await subscriber.told("a", "a")
    for _ in range(20):
        await subscriber.later(hours=4)
        if second in receiver.ids():
            break
    assert second in receiver.ids()
    receiver.status = 204
    await subscriber.later(hours=4)
    statuses = {one["event_id"]: one["status"] for one in await subscriber.deliveries(made["id"])}
    assert statuses == {first: "dlq", second: "delivered"}


async def test_order_can_be_asked_for_and_given_up_later(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url())
    await subscriber.do(made["id"], "pause")
    await subscriber.told("a", "a", "b")

    await subscriber.change(made["id"], ordered=True)
    ordered = [one["status"] for one in await subscriber.deliveries(made["id"])]
    await subscriber.told("a", "b")
    more = [one["status"] for one in await subscriber.deliveries(made["id"])]
    await subscriber.change(made["id"], ordered=False)
    unordered = [one["status"] for one in await subscriber.deliveries(made["id"])]

    assert sorted(ordered) == ["blocked", "queued", "queued"]
    assert sorted(more) == ["blocked", "blocked", "blocked", "queued", "queued"]
    assert unordered == ["queued"] * 5
