"""Endpoints that fail are called less and less often, warned of, and disabled; what happens meanwhile waits for them."""

from tests.integration.webhooks.arranging import HOME, Subscriber, settle
from tests.support.webhook_receiver import WebhookReceiver


async def test_warnings_come_on_the_way_to_being_disabled(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url())
    receiver.status = 500
    warned: dict[int, int] = {}
    for failures in range(1, 21):
        await subscriber.happens(f"k{failures}")
        await subscriber.later(minutes=2)
        shown = await subscriber.show(made["id"])
        for event in await subscriber.said("webhook.endpoint.warned.v1"):
            warned.setdefault(event.payload()["percent"], shown["consecutive_failures"])
        if shown["status"] == "disabled":
            break

    assert warned == {50: 10, 70: 14, 90: 18}
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "failures")
    assert shown["consecutive_failures"] == 20
    [told] = await subscriber.said("webhook.endpoint.disabled.v1")
    assert told.payload() == {"subscription_id": made["id"], "reason": "failures", "consecutive_failures": 20}
    audit = await subscriber.client.get("/api/v1/audit", params={"entity_id": made["id"]})
    assert "webhook.disabled" in {line["action"] for line in audit.json()["items"]}
    calls = len(receiver.heard)
    await subscriber.told("later")
    await subscriber.later(hours=5)
    assert len(receiver.heard) == calls


async def test_one_that_is_taken_ends_the_row(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    made = await subscriber.webhook(receiver.url(), disable_after=3)
    for _ in range(3):
        receiver.status = 500
        await subscriber.told("a")
        await subscriber.later(seconds=1)
        receiver.status = 204
        await subscriber.later(minutes=2)
    shown = await subscriber.show(made["id"])
    assert (shown["status"], shown["consecutive_failures"]) == ("active", 0)
    assert shown["last_failure_at"] < shown["last_success_at"]


async def test_calls_that_fail_together_are_one_failure(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """An outage of a moment does not disable an endpoint with much to be told."""
    made = await subscriber.webhook(receiver.url(), max_in_flight=10)
    await subscriber.told("warm")
    receiver.status = 500

    for key in range(30):
        await subscriber.happens(f"k{key}")
    await settle(subscriber.world)

    assert len(receiver.heard) > 10
    assert (await subscriber.show(made["id"]))["consecutive_failures"] <= 2


async def test_410_disables_at_once(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    made = await subscriber.webhook(receiver.url())
    receiver.status = 410

    await subscriber.told()

    shown = await subscriber.show(made["id"])
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "gone")
    [delivery] = await subscriber.deliveries(made["id"])
    assert (delivery["status"], delivery["last_reason"]) == ("dlq", "gone")
    [told] = await subscriber.said("webhook.endpoint.disabled.v1")
    assert told.payload()["reason"] == "gone"


async def test_another_webhook_is_told_that_one_is_disabled(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """By its type, and never about itself: a wildcard does not make two that fail talk about each other."""
    receiver.statuses = {"/gone": 410, "/about": 204}
    gone = await subscriber.webhook(
        receiver.url("/gone"), events=["notification.delivered.v1", "webhook.endpoint.disabled.v1"]
    )
    await subscriber.webhook(receiver.url("/about"), events=["webhook.endpoint.disabled.v1"])
    await subscriber.webhook(receiver.url("/wild"), events=["webhook.>", "notification.failed.v1"])

    await subscriber.told()

    assert [call.path for call in receiver.heard] == ["/gone", "/about"]
    assert receiver.heard[1].json()["data"]["subscription_id"] == gone["id"]
    assert len(await subscriber.deliveries(gone["id"])) == 1


async def test_an_endpoint_that_fails_is_left_alone_for_a_while(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url())
    receiver.status = 503
    for key in range(8):
        await subscriber.happens(f"k{key}")
        await subscriber.later(seconds=70)
    calls = len(receiver.heard)

    await subscriber.told("one more")

    assert len(receiver.heard) == calls


async def test_a_paused_webhook_is_told_what_happened_meanwhile(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url())
    assert (await subscriber.do(made["id"], "pause"))["status"] == "paused"
    ids = await subscriber.told("a", "b")
    await subscriber.later(hours=30)
    assert receiver.heard == []
    refused = await subscriber.client.post(f"{HOME}/{made['id']}/redeliver")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_paused")

    assert (await subscriber.do(made["id"], "resume"))["status"] == "active"
    await settle(subscriber.world)

    assert sorted(receiver.ids()) == sorted(ids)


async def test_what_has_waited_can_be_discarded_and_is_told_later_all_the_same(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url())
    await subscriber.do(made["id"], "pause")
    ids = await subscriber.told("a", "b")
    await subscriber.do(made["id"], "resume", discard_waiting=True)
    await settle(subscriber.world)
    assert receiver.heard == []
    assert {one["last_reason"] for one in await subscriber.deliveries(made["id"], status="dlq")} == {
        "discarded"
    }

    assert (await subscriber.do(made["id"], "redeliver"))["redelivered"] == 2
    await settle(subscriber.world)

    assert sorted(receiver.ids()) == sorted(ids)


async def test_a_deleted_webhook_is_told_nothing(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    made = await subscriber.webhook(receiver.url())
    await subscriber.happens("a")
    assert (await subscriber.client.delete(f"{HOME}/{made['id']}")).status_code == 204

    await settle(subscriber.world)

    assert receiver.heard == []
    assert (await subscriber.client.get(f"{HOME}/{made['id']}")).status_code == 404
