"""Items are stored once, in sets of whatever tenants, sealed under their readers' keys; who is gone gets none."""

import asyncio
from typing import Any

import msgspec
import pytest

from tests.support.apart import apart
from tests.support.inbox import feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.inbox import DELIVER_ITEMS, InboxDelivery, ItemRefused, ItemStored


def delivery(sender: Sender, notification_id: str, recipient_id: str, title: str = "Again") -> InboxDelivery:
    return InboxDelivery(
        tenant_id=sender.tenant_id,
        notification_id=NotificationId(notification_id),
        recipient_id=RecipientId(recipient_id),
        content=msgspec.json.encode({"title": title}).decode(),
    )


async def items(sender: Sender) -> list[dict[str, Any]]:
    return await sender.rows("SELECT * FROM notification.inbox_items ORDER BY place")


async def test_what_is_delivered_again_is_stored_once(world: PipelineWorld) -> None:
    deliver = world.system.inbox.deliverer.deliver
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila})
        await settle(world)
        again = delivery(sender, sent, laila)

        results = await asyncio.gather(*(deliver([again, again]) for _ in range(10)))

        [item] = await items(sender)
        assert {type(one) for some in results for one in some} == {ItemStored}
        async with visitor(sender, laila) as her:
            page = await feed(her)
            assert [one["title"] for one in page["items"]] == ["A-1001"]
            assert (page["unread"], page["unseen"]) == (1, 1)
            await her.delete(f"/api/v1/inbox/{item['id']}")
            await deliver([again])
            assert (await feed(her))["items"] == []


async def test_a_set_of_several_tenants_comes_to_what_each_comes_to_alone(world: PipelineWorld) -> None:
    deliver = world.system.inbox.deliverer.deliver
    async with world.sender(channels=()) as one, world.sender(channels=()) as other:
        wanted = []
        for sender in (one, other):
            await publish(sender.client)
            laila, omar = await somebody(sender), await somebody(sender)
            for whom in (laila, omar, laila):
                # Accepted, and not dispatched.
                wanted.append(delivery(sender, await send(sender, {"id": whom}), whom))
        foreign = delivery(one, wanted[-1].notification_id, wanted[0].recipient_id)

        results = await deliver([*wanted, foreign])

        assert [type(result) for result in results] == [ItemStored] * 6 + [ItemRefused]
        for sender in (one, other):
            stored = await items(sender)
            assert sorted(item["place"] for item in stored) == [1, 1, 2]
            [counted] = await sender.rows("SELECT sum(unread) AS unread FROM notification.inboxes")
            assert counted["unread"] == 3


async def test_the_words_are_under_the_readers_key(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        await send(sender, {"id": laila}, "Under-seal")
        await settle(world)
        [item] = await items(sender)
        async with world.unguarded("notification.outbox", "chan.executions_live") as owner:
            told = await owner.fetch("SELECT row_to_json(o)::text AS t FROM notification.outbox AS o")
        assert b"seal" not in item["content"]
        assert not any("Under-seal" in row["t"] for row in told)


@pytest.mark.parametrize("first", ["erased", "unknown"])
async def test_who_is_gone_gets_nothing(world: PipelineWorld, first: str) -> None:
    deliver = world.system.inbox.deliverer.deliver
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila})
        if first == "erased":
            assert (await sender.client.post(f"/api/v1/recipients/{laila}/erase", json={})).status_code < 300
        else:
            sent = "ntf_01M7FH87G06QQE67ATFGNQ1BJ2"

        [result] = await deliver([delivery(sender, sent, laila)])

        assert isinstance(result, ItemRefused)
        assert await items(sender) == []


async def test_notify_stores_for_a_router_in_another_process(world: PipelineWorld) -> None:
    async with world.database.owner() as owner:
        await owner.execute("TRUNCATE notification.dispatch_requests")
    async with apart(world) as split, world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila})
        await split.settle()

        assert await sender.status(sent) == "delivered"
        assert split.requests.asked.count(DELIVER_ITEMS) == 1
        async with visitor(sender, laila) as her:
            assert (await feed(her))["unread"] == 1


async def test_an_item_waits_while_no_process_of_notify_answers(world: PipelineWorld) -> None:
    async with world.database.owner() as owner:
        await owner.execute("TRUNCATE notification.dispatch_requests")
    async with apart(world) as split, world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila})
        split.requests.unheard = lambda subject: subject == DELIVER_ITEMS
        await split.settle()
        assert await sender.status(sent) == "dispatched"
        split.requests.unheard = lambda _: False

        await split.advance(seconds=120)

        assert await sender.status(sent) == "delivered"


async def test_what_is_no_item_is_said(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client, document={"title": "x", "link": "https://shop.example/{{title}}"})
        laila = await somebody(sender)
        good = await send(sender, {"id": laila}, "fine")
        bad = await send(sender, {"id": laila}, "with a blank")
        await settle(world)
        told = await sender.explain(bad)

        assert [await sender.status(one) for one in (good, bad)] == ["delivered", "failed"]
        assert told["notification"]["reason"] == "render_bad_inbox_item"
        assert "with a blank" not in msgspec.json.encode(told).decode()


async def test_the_channel_can_be_set_up_and_switched_off(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        await sender.channel("inapp", vendor="inapp", sender={})
        on = await send(sender, {"id": laila})
        await settle(world)
        await sender.channel("inapp", vendor="inapp", sender={}, status="disabled")
        off = await send(sender, {"id": laila})
        await settle(world)
        tried = await sender.client.post("/api/v1/channels/inapp/test", json={"to": laila})
        with_account = await sender.client.put(
            "/api/v1/channels/inapp",
            json={"vendor": "inapp", "accounts": {"inapp": {"secret_ref": "file://x.json"}}},
            headers={"If-Match": (await sender.client.get("/api/v1/channels/inapp")).headers["etag"]},
        )

        assert [await sender.status(one) for one in (on, off)] == ["delivered", "failed"]
        assert with_account.status_code == 400, with_account.text
        assert (tried.status_code, tried.json()["errors"][0]["field"]) == (400, "channel")


async def test_who_declines_the_channel_is_left_alone(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client, category="marketing")
        await publish(sender.client, "news", category="social")
        laila = await somebody(sender)
        await sender.choose(laila, channels={"inapp": {"categories": {"social": False}}})
        sent = await send(sender, {"id": laila}, template="news")
        await settle(world)

        assert await sender.status(sent) == "suppressed"


async def test_items_of_a_category_are_gathered_into_one(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client, category="operational")
        laila = await somebody(sender)
        await sender.choose(laila, digest_schedule={"operational": {"every": "hour"}})
        for title in ("first", "second"):
            await send(sender, {"id": laila}, title, category="operational")
            # Which is the newest is a matter of moments.
            await world.advance(seconds=1)
        await settle(world)
        async with visitor(sender, laila, expires_in=86_400) as her:
            before = await feed(her)
            await world.advance(hours=1, minutes=1)
            await settle(world)
            [item] = (await feed(her))["items"]

    assert before["items"] == []
    assert item["title"] == "2 updates for you from Acme"
    assert "second" in item["body"]
    assert "{" not in item["body"]
