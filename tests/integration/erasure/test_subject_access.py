"""The archive holds everything about a person, opens with any tool, and takes no more memory for more messages."""

import io
import json
import zipfile
from typing import Any

import httpx2
import pytest

from tests.integration.erasure.somebody import Somebody, erase
from tests.support.pipeline import PipelineWorld, Sender

pytestmark = pytest.mark.xdist_group("erasing")


async def _export(sender: Sender, recipient_id: str) -> zipfile.ZipFile:
    answer = await sender.client.post(f"/api/v1/recipients/{recipient_id}/export")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["cache-control"] == "no-store"
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    return archive


def _lines(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(name).decode().splitlines()]


async def test_everything_is_in_it(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        sent = await sender.send(**them.message(recipient_id))
        await world.settle()

        archive = await _export(sender, recipient_id)

        profile = json.loads(archive.read("profile.json"))
        assert {a["address"] for a in profile["addresses"]} == {them.mail, them.phone}
        assert profile["display_name"] == f"Name {them.word}"
        assert profile["identity"] == {"type": "user", "id": f"id-{them.word}"}
        assert profile["tags"] == [f"tag-{them.word}", "vip"]
        choices = json.loads(archive.read("preferences.json"))["choices"]
        assert choices["marketing_consent"]["evidence"] == f"evidence-{them.word}"
        [held] = json.loads(archive.read("suppressions.json"))
        assert (held["channel"], held["notes"]) == ("sms", f"notes-{them.word}")
        [consent] = _lines(archive, "consents.jsonl")
        assert (consent["kind"], consent["evidence"]) == ("consent_granted", f"evidence-{them.word}")
        [message] = _lines(archive, "notifications.jsonl")
        assert (message["id"], message["status"]) == (sent["id"], "delivered")
        assert message["variables"]["items"][0]["name"] == f"Tea {them.word}"
        assert f"Tea {them.word}" in message["body"]["html"]
        assert message["body"]["exact"] is True
        assert message["metadata"] == {"ref": f"metadata-{them.word}"}
        assert [said["vendor"] for said in message["what_vendors_said"]] == ["smtp"]
        [file] = [name for name in archive.namelist() if name.startswith("attachments/")]
        assert file == f"attachments/{sent['id']}/0-{them.word}.txt"
        assert archive.read(file) == f"file {them.word}".encode()
        actions = [line["action"] for line in _lines(archive, "audit.jsonl")]
        assert actions.count("exported") == 1
        assert "README.txt" in archive.namelist()
        # Somebody else of the same tenant is in no line of it.
        other = await sender.send()
        again = await _export(sender, recipient_id)
        assert all(other["id"] not in again.read(name).decode() for name in again.namelist())


async def test_many_messages_come_in_pages(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        item = {"template": "order_confirmation", "channel": "email"} | them.message(recipient_id)
        item.pop("attachments")
        bulk = await sender.client.post("/api/v1/notifications/bulk", json={"notifications": [item] * 120})
        assert bulk.status_code in (200, 202), bulk.text
        archive = await _export(sender, recipient_id)
        ids = [line["id"] for line in _lines(archive, "notifications.jsonl")]
        assert len(ids) == len(set(ids)) == 120
        assert ids == sorted(ids, reverse=True)


async def test_after_an_erasure_there_is_nothing_to_export(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        await erase(sender, recipient_id)
        answer = await sender.client.post(f"/api/v1/recipients/{recipient_id}/export")
        assert (answer.status_code, answer.json()["code"]) == (409, "recipient_erased")


async def test_a_stranger_gets_nothing(world: PipelineWorld) -> None:
    async with world.sender() as here, world.sender() as there:
        recipient_id = await Somebody().known_to(here)
        path = f"/api/v1/recipients/{recipient_id}/export"
        assert (await there.client.post(path)).status_code == 404
        async with world.http.as_tenant(here.tenant_id, scopes=["recipients:read"]) as reader:
            refused: httpx2.Response = await reader.post(path)
        assert refused.status_code == 403


async def test_it_says_who_read_the_words_and_since_when_an_address_is_held_back(
    world: PipelineWorld,
) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        sent = await sender.send(**them.message(recipient_id))
        other = await sender.send()
        await world.settle()
        for one in (sent, other):
            answer = await sender.client.get(f"/api/v1/notifications/{one['id']}/body")
            assert answer.status_code == 200, answer.text
        lines = f"channel,address,reason,date\nemail,{them.mail},complaint,2020-02-03\n"
        brought = await sender.client.post(
            "/api/v1/suppressions/import", content=lines, headers={"Content-Type": "text/csv"}
        )
        assert brought.json()["added"] == 1, brought.text

        archive = await _export(sender, recipient_id)

        looks = [line for line in _lines(archive, "audit.jsonl") if line["about"] == "notification"]
        assert [(line["action"], line["notification_id"]) for line in looks] == [
            ("body_revealed", sent["id"])
        ]
        assert looks[0]["actor"]
        held = json.loads(archive.read("suppressions.json"))
        since = {one["channel"]: one["occurred_at"] for one in held}
        assert since["email"].startswith("2020-02-03")
        assert since["sms"] is None
