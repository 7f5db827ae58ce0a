"""The in-app inbox as a channel: what is sent is stored, found by its reader, and known to the ladder when it is read."""

from datetime import timedelta

from tests.support.inbox import feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld


async def test_a_message_is_delivered_when_it_is_in_the_inbox(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila}, priority="high")

        await settle(world)

        assert await sender.status(sent) == "delivered"
        told = await sender.explain(sent)
        assert told["notification"]["evidence"] == "delivered"
        async with visitor(sender, laila) as her:
            page = await feed(her)
    assert (page["unread"], page["unseen"], page["next_cursor"]) == (1, 1, None)
    [item] = page["items"]
    assert item["notification_id"] == sent
    assert (item["title"], item["category"], item["priority"]) == ("A-1001", "transactional", "high")
    assert item["body_html"] == "<p>Hello Laila, <strong>A-1001</strong> is on its way.</p>\n"
    assert item["link"] == "https://shop.example/orders/A-1001"
    assert [action["name"] for action in item["actions"]] == ["accept", "look"]
    assert item["tags"] == ["orders", "parcels"]
    assert item["data"] == {"kind": "parcel"}
    assert item["read_at"] is None


async def test_a_ladder_that_waits_for_read_sends_no_sms_to_who_has_read(world: PipelineWorld) -> None:
    async with world.sender(channels=("sms",)) as sender:
        await publish(sender.client)
        await publish(sender.client, channel="sms", source={"format": "text", "body": "{{title}}"})
        ladder = [
            {"channel": "inapp", "success": "read", "deadline_seconds": 600},
            {"channel": "sms", "deadline_seconds": 600},
        ]
        policy = {"use_case": "txn", "ladder": ladder}
        made = await sender.client.post("/api/v1/router/policies", json=policy)
        assert made.status_code == 201, made.text
        reader_phone, other_phone = "+4915123400001", "+4915123400002"
        reader, other = await somebody(sender, reader_phone), await somebody(sender, other_phone)
        first = await send(sender, {"id": reader}, channel="auto")
        second = await send(sender, {"id": other}, channel="auto")
        await settle(world)
        assert [await sender.status(one) for one in (first, second)] == ["dispatched"] * 2

        async with visitor(sender, reader) as her:
            [item] = (await feed(her))["items"]
            done = await her.post(f"/api/v1/inbox/{item['id']}/read")
            assert done.status_code == 200, done.text
            assert (done.json()["unread"], done.json()["unseen"]) == (0, 0)
        await settle(world)
        told = await sender.explain(first)
        await world.clock.advance(timedelta(seconds=601))
        await settle(world)
        profile = (await sender.client.get(f"/api/v1/router/profiles/{reader}")).json()

        assert await sender.status(first) == "delivered"
        assert told["notification"]["evidence"] == "read"
        assert told["notification"]["read_at"] is not None
        assert world.received(reader_phone) == []
        assert await sender.status(second) == "delivered"
        assert len(world.received(other_phone)) == 1
        scores = {one["channel"]: one["score"] for one in profile["channels"]}
        assert scores["inapp"] > 0.5


async def test_a_policy_that_begins_in_the_inbox_can_be_tried_out(world: PipelineWorld) -> None:
    async with world.sender(channels=("sms",)) as sender:
        await publish(sender.client)
        await publish(sender.client, channel="sms", source={"format": "text", "body": "{{title}}"})
        ladder = [
            {"channel": "inapp", "success": "read", "deadline_seconds": 600},
            {"channel": "sms", "deadline_seconds": 600},
        ]
        made = await sender.client.post("/api/v1/router/policies", json={"use_case": "txn", "ladder": ladder})
        assert made.status_code == 201, made.text
        laila = await somebody(sender, "+4915123400003")
        wanted = {
            "recipient": {"id": laila},
            "template": "parcel",
            "variables": {"title": "A-1"},
            "use_case": "txn",
        }
        tried = await sender.client.post("/api/v1/router/policies/simulate", json=wanted)

    assert made.json()["warnings"] == []
    assert tried.status_code == 200, tried.text
    steps = [(step["channel"], step["vendor"], step["would"]) for step in tried.json()["steps"]]
    assert steps == [("inapp", "inapp", "call"), ("sms", "http", "call")]
