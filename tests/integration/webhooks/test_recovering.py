"""Whoever was away gets what they have missed: some deliveries, all that fit, or all since a moment."""

from collections import Counter
from datetime import timedelta

from tests.integration.webhooks.arranging import HOME, Subscriber, settle
from tests.support.webhook_receiver import WebhookReceiver


async def test_a_receiver_that_was_down_for_two_days_gets_everything_once_and_in_order(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """Some of it was given up, some was never told because the webhook was disabled, and some is still to be tried."""
    world = subscriber.world
    made = await subscriber.webhook(receiver.url(), ordered=True, disable_after=20)
    await subscriber.told("a")
    taken = set(receiver.ids())
    went_down = world.clock.now()
    receiver.status = 503
    missed: dict[str, list[str]] = {key: [] for key in "abc"}
    for _ in range(48):
        for key, event_id in zip("abc", await subscriber.happens(*"abc"), strict=True):
            missed[key].append(event_id)
        await subscriber.later(hours=1)
    assert (await subscriber.show(made["id"]))["status"] == "disabled"
    receiver.status = 204
    receiver.heard.clear()

    counted = await subscriber.do(made["id"], "recover", since=went_down.isoformat(), dry_run=True)
    done = await subscriber.do(made["id"], "recover", since=went_down.isoformat())
    await settle(world)
    await subscriber.later(hours=5)

    assert counted == done
    assert done["redelivered"] + done["waiting"] == 3 * 48
    assert done["more"] is False
    heard = Counter(receiver.ids())
    assert set(heard) == {event_id for ids in missed.values() for event_id in ids}
    assert set(heard.values()) == {1}
    assert not taken & set(heard)
    for ids in missed.values():
        assert [event_id for event_id in receiver.ids() if event_id in ids] == ids
    assert (await subscriber.show(made["id"]))["status"] == "active"


async def test_what_was_given_up_goes_before_what_came_later(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url(), ordered=True, disable_after=1000)
    began = subscriber.world.clock.now()
    receiver.status = 500
    first, second = await subscriber.told("a", "a")
    for _ in range(40):
        await subscriber.later(hours=4)
        if {one["status"] for one in await subscriber.deliveries(made["id"])} == {"dlq"}:
            break
    await subscriber.do(made["id"], "pause")
    [third, fourth] = await subscriber.told("a", "a")
    receiver.status = 204
    receiver.heard.clear()
    refused = await subscriber.client.post(f"{HOME}/{made['id']}/recover", json={"since": began.isoformat()})
    assert refused.json()["code"] == "webhook_paused"

    await subscriber.do(made["id"], "resume")
    assert (await subscriber.do(made["id"], "recover", since=began.isoformat()))["redelivered"] == 2
    await settle(subscriber.world)

    # The third one was next in line when they were ordered; all that waited behind it stands in its place.
    assert receiver.ids() == [third, first, second, fourth]


async def test_one_delivery_is_told_once_more_with_the_same_id(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url())
    event_id, other = await subscriber.told("a", "b")
    delivery_id = next(
        one["id"] for one in await subscriber.deliveries(made["id"]) if one["event_id"] == event_id
    )

    done = await subscriber.do(made["id"], "redeliver", delivery_ids=[delivery_id])
    await settle(subscriber.world)

    assert done["redelivered"] == 1
    assert Counter(receiver.ids()) == {event_id: 2, other: 1}
    shown = (await subscriber.client.get(f"{HOME}/{made['id']}/deliveries/{delivery_id}")).json()
    assert (shown["status"], shown["attempts"], len(shown["calls"])) == ("delivered", 1, 2)


async def test_some_are_chosen_by_type_time_and_status(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url(), events=["notification.>"])
    await subscriber.told("a", subject="notification.failed.v1")
    await subscriber.world.clock.advance(timedelta(minutes=10))
    since = subscriber.world.clock.now().isoformat()
    [wanted] = await subscriber.told("a", subject="notification.failed.v1")
    await subscriber.told("a")
    receiver.heard.clear()
    assert (await subscriber.do(made["id"], "redeliver"))["redelivered"] == 0
    wish = {"status": "delivered", "since": since, "event_types": ["notification.failed.v1"]}
    assert (await subscriber.do(made["id"], "redeliver", dry_run=True, **wish))["redelivered"] == 1
    await settle(subscriber.world)
    assert receiver.heard == []

    await subscriber.do(made["id"], "redeliver", **wish)
    await settle(subscriber.world)

    assert receiver.ids() == [wanted]


async def test_deliveries_of_another_webhook_are_not_found(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url("/one"))
    other = await subscriber.webhook(receiver.url("/other"))
    await subscriber.told()
    [delivery] = await subscriber.deliveries(made["id"])

    answer = await subscriber.client.get(f"{HOME}/{other['id']}/deliveries/{delivery['id']}")
    done = await subscriber.do(other["id"], "redeliver", delivery_ids=[delivery["id"]])

    assert (answer.status_code, answer.json()["code"]) == (404, "webhook_delivery_not_found")
    assert done["redelivered"] == 0
