"""What a person may ask of us: to have what we hold, and to be forgotten."""

import io
import json
import zipfile

from tests.support.inbox import HOME, feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld


async def test_an_erasure_removes_the_items_and_voids_the_tokens(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila, omar = await somebody(sender), await somebody(sender)
        for whom in (laila, laila, omar):
            await send(sender, {"id": whom})
        await settle(world)
        async with visitor(sender, laila) as her, visitor(sender, omar) as him:
            assert (await feed(her))["unread"] == 2
            erased = await sender.client.post(f"/api/v1/recipients/{laila}/erase", json={})
            assert erased.status_code in (200, 201), erased.text
            gone = await her.get(HOME)
            assert (await feed(him))["unread"] == 1
        left = await sender.rows("SELECT recipient_id FROM notification.inbox_items")
        counts = await sender.rows("SELECT unread FROM notification.inboxes WHERE recipient_id = $1", laila)
        token = await sender.client.post(f"/api/v1/recipients/{laila}/inbox-tokens")

    assert erased.json()["statement"]["destroyed"]["inbox_items"] == 2
    assert gone.status_code == 401
    assert left == [{"recipient_id": omar}]
    assert {row["unread"] for row in counts} == {0}
    assert (token.status_code, token.json()["code"]) == (409, "recipient_erased")


async def test_the_archive_of_a_person_has_their_inbox(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        for title in ("one", "two"):
            await send(sender, {"id": laila}, title)
            await settle(world)
        archive = await sender.client.post(f"/api/v1/recipients/{laila}/export")
        assert archive.status_code == 200, archive.text
        with zipfile.ZipFile(io.BytesIO(archive.content)) as files:
            lines = files.read("inbox.jsonl").decode().splitlines()
            assert "inbox.jsonl" in files.read("README.txt").decode()

    found = [json.loads(line) for line in lines]
    assert [item["title"] for item in found] == ["one", "two"]
    assert {item["is_test"] for item in found} == {False}
