"""Snoozes end and items expire by themselves, on a clock that the test moves."""

from datetime import timedelta

from tests.support.inbox import HOME, feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld


async def test_a_snoozed_item_comes_back_on_top_and_unread(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        for title in ("old", "new"):
            await send(sender, {"id": laila}, title)
            await settle(world)
        async with visitor(sender, laila, expires_in=86_400) as her:
            _, old = (await feed(her))["items"]
            await her.post(f"{HOME}/{old['id']}/read")
            until = world.clock.now() + timedelta(hours=2)
            await her.post(f"{HOME}/{old['id']}/snooze", json={"until": until.isoformat()})
            await world.clock.advance(timedelta(hours=1))
            await world.system.inbox.due.drain()
            before = await feed(her)
            await world.clock.advance(timedelta(hours=1))
            done = await world.system.inbox.due.drain()
            again = await world.system.inbox.due.drain()
            after = await feed(her)

    assert [item["title"] for item in before["items"]] == ["new"]
    assert before["unread"] == 1
    assert (done, again) == (1, 0)
    assert [item["title"] for item in after["items"]] == ["old", "new"]
    assert (after["unread"], after["items"][0]["read_at"]) == (2, None)


async def test_an_item_expires_when_its_content_says_so(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        until = (world.clock.now() + timedelta(hours=1)).isoformat()
        await publish(sender.client, document={"title": "{{title}}", "expires_at": until})
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila})
        await settle(world)
        async with visitor(sender, laila, expires_in=86_400) as her:
            assert (await feed(her))["unread"] == 1
            await world.clock.advance(timedelta(hours=1))
            hidden = await feed(her)
            await world.system.inbox.due.drain()
            gone = await feed(her)
        [row] = await sender.rows("SELECT content, removed_at, due_at FROM notification.inbox_items")
        told = [step["kind"] for step in (await sender.explain(sent))["timeline"]]

    assert hidden["items"] == gone["items"] == []
    assert (gone["unread"], gone["unseen"]) == (0, 0)
    assert (row["content"], row["due_at"]) == (None, None)
    assert row["removed_at"] is not None
    assert told[-1] == "removed"


async def test_an_item_is_kept_as_long_as_its_category_says(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        await send(sender, {"id": laila})
        await settle(world)
        [row] = await sender.rows(
            "SELECT i.expires_at - i.arrived_at AS kept, n.retention_class FROM notification.inbox_items AS i "
            "JOIN notification.notifications AS n USING (tenant_id, created_at)"
        )

    kept = {"regulated": 365, "standard": 180, "marketing": 90}
    assert row["kept"] == timedelta(days=kept[row["retention_class"]])
