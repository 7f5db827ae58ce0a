"""What happens is told to the webhooks that want it: signed, once it is taken, and again where it is not."""

import asyncio
import base64
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from tests.integration.webhooks.arranging import DELIVERED, HOME, Subscriber, settle
from tests.support.pipeline import PipelineWorld
from tests.support.webhook_receiver import HeardCall, WebhookReceiver


def verify(secret: str, call: HeardCall, at: datetime) -> None:
    """What the library does, at the moment of the call: its own clock is not the test's."""
    signed = Webhook(secret)
    expected = signed.sign(call.id, at.replace(tzinfo=UTC), call.body.decode())
    assert call.headers["webhook-timestamp"] == str(int(at.timestamp()))
    assert expected in call.headers["webhook-signature"].split()


async def test_an_event_is_told_and_signed(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    made = await subscriber.webhook(receiver.url("/hook"))

    [event_id] = await subscriber.told("ntf_1", notification_id="ntf_1")

    [call] = receiver.heard
    assert call.id == event_id
    assert call.headers["content-type"] == "application/json"
    told = call.json()
    assert told["type"] == DELIVERED
    assert told["data"]["notification_id"] == "ntf_1"
    assert set(told) == {"type", "timestamp", "data"}
    assert datetime.fromisoformat(told["timestamp"]) == subscriber.world.clock.now()
    verify(made["secret"], call, subscriber.world.clock.now())
    [delivery] = await subscriber.deliveries(made["id"])
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("delivered", 1, 204)
    shown = await subscriber.client.get(f"{HOME}/{made['id']}/deliveries/{delivery['id']}")
    assert shown.json()["body"] == told


@pytest.mark.parametrize(
    "secret",
    [
        "whsec_" + base64.b64encode(b"k" * 24).decode(),
        "whsec_" + base64.b64encode(b"k" * 32).decode().rstrip("="),
        base64.b64encode(b"without the prefix, 32 bytes ok!").decode(),
    ],
)
async def test_every_form_of_a_secret_verifies(
    subscriber: Subscriber, receiver: WebhookReceiver, secret: str
) -> None:
    await subscriber.webhook(receiver.url(), secret=secret)

    await subscriber.told()

    padded = secret + "=" * (-len(secret.removeprefix("whsec_")) % 4)
    verify(padded, receiver.heard[0], subscriber.world.clock.now())


async def test_the_library_itself_verifies_and_refuses(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """By its own clock: so the world's stands at that time."""
    world = subscriber.world
    made = await subscriber.webhook(receiver.url())
    before = world.clock.now()
    await world.clock.advance(datetime.now(UTC) - before)
    try:
        await subscriber.told()
        [call] = receiver.heard
        assert Webhook(made["secret"]).verify(call.body, call.headers) == call.json()
        with pytest.raises(WebhookVerificationError):
            Webhook(made["secret"]).verify(call.body + b" ", call.headers)
        other = "whsec_" + base64.b64encode(b"another").decode()
        with pytest.raises(WebhookVerificationError):
            Webhook(other).verify(call.body, call.headers)
    finally:
        await world.clock.advance(before - world.clock.now())


async def test_a_rotated_secret_signs_beside_the_one_before(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    made = await subscriber.webhook(receiver.url())
    rotated = await subscriber.do(made["id"], "rotate-secret", overlap_seconds=3600)
    await subscriber.told()
    assert rotated["secret"] != made["secret"]
    now = subscriber.world.clock.now()
    verify(made["secret"], receiver.heard[0], now)
    verify(rotated["secret"], receiver.heard[0], now)

    await subscriber.later(hours=1)
    await subscriber.told()

    assert len(receiver.heard[1].headers["webhook-signature"].split()) == 1
    verify(rotated["secret"], receiver.heard[1], subscriber.world.clock.now())
    assert "secret" not in await subscriber.show(made["id"])


async def test_only_what_is_wanted_is_told(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    await subscriber.webhook(receiver.url("/typed"), events=["notification.failed.v1"])
    await subscriber.webhook(receiver.url("/wild"), events=["notification.*.v1"])
    await subscriber.webhook(
        receiver.url("/asking"), events=["notification.>"], condition="data.category = 'billing'"
    )

    await subscriber.told(subject=DELIVERED, category="billing")
    await subscriber.told(subject="notification.failed.v1", category="marketing")

    assert sorted(call.path for call in receiver.heard) == ["/asking", "/typed", "/wild", "/wild"]


async def test_one_tenants_events_are_told_to_no_other(
    world: PipelineWorld, subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    await subscriber.webhook(receiver.url("/mine"))
    async with world.http.as_tenant(await world.tenant()) as client:
        made = await client.post(HOME, json={"url": receiver.url("/theirs"), "events": [DELIVERED]})
        theirs = made.json()["id"]

        await subscriber.told()

        assert [call.path for call in receiver.heard] == ["/mine"]
        assert (await subscriber.client.get(f"{HOME}/{theirs}")).status_code == 404
        assert (await subscriber.client.post(f"{HOME}/{theirs}/pause")).status_code == 404
        assert (await subscriber.client.get(f"{HOME}/{theirs}/deliveries")).status_code == 404


async def test_tests_are_told_to_webhooks_of_tests_alone(
    world: PipelineWorld, subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    live = await subscriber.webhook(receiver.url("/live"))
    async with world.http.as_tenant(subscriber.tenant_id, environment="test") as tester:
        made = await tester.post(HOME, json={"url": receiver.url("/test"), "events": [DELIVERED]})
        assert made.status_code == 201, made.text
        assert made.json()["is_test"] is True
        listed = (await tester.get(HOME)).json()["items"]
        assert [one["id"] for one in listed] == [made.json()["id"]]
        for verb in ("pause", "resume", "rotate-secret", "test", "redeliver"):
            assert (await tester.post(f"{HOME}/{live['id']}/{verb}")).status_code == 404
        assert (await tester.delete(f"{HOME}/{live['id']}")).status_code == 404

    await subscriber.told()
    await subscriber.told(is_test=True)

    assert [call.path for call in receiver.heard] == ["/live", "/test"]


async def test_one_that_is_down_is_called_later_and_later_and_then_given_up(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    receiver.status = 503
    made = await subscriber.webhook(receiver.url(), disable_after=1000)
    [event_id] = await subscriber.told()
    began = subscriber.world.clock.now()
    waits = []
    while True:
        [delivery] = await subscriber.deliveries(made["id"])
        if delivery["status"] != "queued":
            break
        wait = datetime.fromisoformat(delivery["next_attempt_at"]) - subscriber.world.clock.now()
        waits.append(wait.total_seconds())
        await subscriber.later(seconds=max(wait.total_seconds(), 61))

    assert delivery["status"] == "dlq"
    assert delivery["last_reason"] == "answered"
    assert delivery["last_status"] == 503
    assert set(receiver.ids()) == {event_id}
    assert waits[0] < 61 < waits[-1]
    # A day, of which chance may take off a third.
    assert (subscriber.world.clock.now() - began).total_seconds() >= 16 * 3600
    assert len(delivery["calls"]) == len(receiver.heard) == delivery["attempts"]
    [failed] = await subscriber.said("notification.webhook.delivery_failed.v1")
    assert failed.payload()["event_id"] == event_id
    assert failed.payload()["attempts"] == delivery["attempts"]


async def test_retry_after_is_heeded(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    receiver.status, receiver.answer_headers = 429, {"Retry-After": "600"}
    await subscriber.webhook(receiver.url())
    await subscriber.told()
    receiver.status, receiver.answer_headers = 204, {}

    # Neither this event nor the next one is told before.
    await subscriber.later(seconds=599)
    await subscriber.told("another")
    assert len(receiver.heard) == 1
    await subscriber.later(seconds=1)

    assert len(receiver.heard) == 3


async def test_a_redirect_is_not_followed(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    receiver.status, receiver.answer_headers = 307, {"Location": receiver.url("/elsewhere")}
    made = await subscriber.webhook(receiver.url("/hook"))

    await subscriber.told()

    assert [call.path for call in receiver.heard] == ["/hook"]
    [delivery] = await subscriber.deliveries(made["id"])
    assert (delivery["status"], delivery["last_status"]) == ("queued", 307)


async def test_a_trial_is_signed_and_not_kept(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    made = await subscriber.webhook(receiver.url(), headers={"X-Source": "tidings"})
    assert made["header_names"] == ["X-Source"]

    tried = await subscriber.do(made["id"], "test")

    assert tried == {"delivered": True, "status": 204, "reason": None}
    [call] = receiver.heard
    assert call.json()["type"] == "webhook.test"
    assert call.headers["x-source"] == "tidings"
    verify(made["secret"], call, subscriber.world.clock.now())
    assert await subscriber.deliveries(made["id"]) == []


async def test_nothing_secret_is_kept_in_the_open(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    made = await subscriber.webhook(receiver.url(), headers={"Authorization": "Bearer hush-hush"})
    await subscriber.told(notification_id="ntf_secretive")
    assert receiver.heard[0].headers["authorization"] == "Bearer hush-hush"

    found = ""
    for table in (
        "webhook_subscriptions",
        "webhook_deliveries",
        "webhook_endpoints",
        "audit",
        "idempotency_keys",
    ):
        found += str([dict(row) for row in await subscriber.rows(f"SELECT * FROM notification.{table}")])

    assert made["id"] in found
    for word in (made["secret"], "hush-hush", "ntf_secretive"):
        assert word not in found


async def test_a_set_of_several_tenants_is_told_to_each_as_if_it_were_alone(
    world: PipelineWorld, receiver: WebhookReceiver
) -> None:
    """Their events are consumed, claimed, called and written together."""
    told: dict[str, list[str]] = {}
    secrets: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        tenants = [await world.tenant() for _ in range(3)]
        subscribers = [
            Subscriber(
                world=world,
                tenant_id=tenant_id,
                client=await stack.enter_async_context(world.http.as_tenant(tenant_id)),
            )
            for tenant_id in tenants
        ]
        made = {
            one.tenant_id: await one.webhook(receiver.url(f"/{one.tenant_id}"), ordered=True)
            for one in subscribers
        }
        for _ in range(3):
            for one in subscribers:
                told.setdefault(one.tenant_id, []).extend(await one.happens("same key"))
        secrets = {tenant_id: webhook["secret"] for tenant_id, webhook in made.items()}

        await settle(world)

        for one in subscribers:
            calls = [call for call in receiver.heard if call.path == f"/{one.tenant_id}"]
            assert [call.id for call in calls] == told[one.tenant_id]
            verify(secrets[one.tenant_id], calls[-1], world.clock.now())
            statuses = [delivery["status"] for delivery in await one.deliveries(made[one.tenant_id]["id"])]
            assert statuses == ["delivered"] * 3


async def test_answers_are_kept_while_the_rows_of_one_tenant_are_locked(
    world: PipelineWorld, receiver: WebhookReceiver
) -> None:
    """Whoever adds many deliveries locks endpoints for longer than a set of several tenants waits: nobody is called again for it."""
    tenants = [await world.tenant() for _ in range(2)]
    async with AsyncExitStack() as stack:
        subscribers = []
        for tenant_id in tenants:
            client = await stack.enter_async_context(world.http.as_tenant(tenant_id))
            subscribers.append(Subscriber(world=world, tenant_id=tenant_id, client=client))
        hooks = [await one.webhook(receiver.url(f"/{n}")) for n, one in enumerate(subscribers)]
        for one in subscribers:
            await one.happens("k")
        for relay in world.relays:
            await relay.drain()
        await world.system.webhooks.consumer.drain()
        receiver.held = asyncio.Event()
        calling = asyncio.create_task(world.system.webhooks.deliveries.drain())
        while len(receiver.heard) < 2:
            await asyncio.sleep(0.01)
        async with world.db.tenant(tenants[0]) as tx:
            await tx.connection.execute("SELECT FROM notification.webhook_endpoints FOR NO KEY UPDATE")
            receiver.held.set()
            await asyncio.sleep(0.5)
        await calling
        await settle(world)

        assert len(receiver.heard) == 2
        for one, hook in zip(subscribers, hooks, strict=True):
            [delivery] = await one.deliveries(hook["id"])
            assert (delivery["status"], delivery["attempts"]) == ("delivered", 1)
