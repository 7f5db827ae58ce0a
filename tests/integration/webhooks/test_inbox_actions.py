"""Signed callbacks of actions: who chooses an action of an item has the tenant's service called, as docs/inbox.md shows it."""

from datetime import UTC, datetime, timedelta

from standardwebhooks import Webhook

from tests.integration.webhooks.arranging import HOME as WEBHOOKS
from tests.integration.webhooks.arranging import settle
from tests.support import inbox
from tests.support.inbox import feed, publish, send, somebody, visitor
from tests.support.pipeline import PipelineWorld
from tests.support.webhook_receiver import WebhookReceiver

ACTED = "inbox.item.acted.v1"
APPROVAL = {
    "title": "{{title}} wants to be approved",
    "actions": [{"name": "approve", "label": "Approve"}, {"name": "refuse", "label": "Refuse"}],
}


async def test_a_choice_is_told_by_a_signed_callback_and_the_answer_says_so(
    world: PipelineWorld, receiver: WebhookReceiver
) -> None:
    before = world.clock.now()
    # By the library's own clock: the world's stands at that time.
    await world.clock.advance(datetime.now(UTC) - before)
    try:
        async with world.sender(channels=()) as sender:
            await publish(sender.client, document=APPROVAL)
            laila = await somebody(sender)
            wish = {"url": receiver.url("/actions"), "events": [ACTED], "ordered": True}
            made = await sender.client.post(WEBHOOKS, json=wish)
            assert made.status_code == 201, made.text
            other = {"url": receiver.url("/mail"), "events": ["notification.bounced.v1"]}
            assert (await sender.client.post(WEBHOOKS, json=other)).status_code == 201
            sent = await send(sender, {"id": laila}, correlation_id="request-12")
            await inbox.settle(world)
            async with visitor(sender, laila) as her:
                [item] = (await feed(her))["items"]
                path = f"{inbox.HOME}/{item['id']}/actions/approve"
                receiver.status = 503
                first = await her.post(path)
                await settle(world)
                again = await her.post(path)
            receiver.status = 204
            await world.clock.advance(timedelta(seconds=30))
            await settle(world)
    finally:
        await world.clock.advance(before - world.clock.now())

    assert (first.status_code, first.json()["webhooks"], again.json()["webhooks"]) == (200, 1, None)
    assert first.json()["item"]["acted"] == "approve"
    # At least once: the same id each time it is told.
    assert {call.path for call in receiver.heard} == {"/actions"}
    assert len(receiver.heard) == 2
    assert len(set(receiver.ids())) == 1
    told = Webhook(made.json()["secret"]).verify(receiver.heard[-1].body, receiver.heard[-1].headers)
    assert told["type"] == ACTED
    data = told["data"]
    assert (data["action"], data["item_id"], data["notification_id"]) == ("approve", item["id"], sent)
    assert (data["recipient_id"], data["correlation_id"]) == (laila, "request-12")
    assert data.get("by", "recipient") == "recipient"


async def test_an_action_that_nobody_hears_says_so(world: PipelineWorld, receiver: WebhookReceiver) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client, document=APPROVAL)
        laila = await somebody(sender)
        for wish in (
            {"events": [ACTED], "condition": "data.category = 'billing'"},
            {"events": ["notification.>"]},
        ):
            made = await sender.client.post(WEBHOOKS, json={"url": receiver.url(), **wish})
            assert made.status_code == 201, made.text
        await send(sender, {"id": laila})
        await inbox.settle(world)
        async with visitor(sender, laila) as her:
            [item] = (await feed(her))["items"]
            answer = await her.post(f"{inbox.HOME}/{item['id']}/actions/refuse")
        await settle(world)

    assert (answer.status_code, answer.json()["webhooks"]) == (200, 0)
    # The same endpoint is told of other things.
    assert ACTED not in {call.json()["type"] for call in receiver.heard}
