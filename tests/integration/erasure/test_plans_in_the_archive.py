"""The archive holds what is to come too: what triggers have planned, what waits in digests, and batches that the person is in."""

import json
from datetime import timedelta

import pytest

from tests.integration.batches.arranging import crowd, write
from tests.integration.erasure.somebody import erase
from tests.integration.erasure.test_subject_access import _export, _lines
from tests.support.hotel import REMINDER, make_trigger, reservation, somebody, tell
from tests.support.pipeline import PipelineWorld, Sender

pytestmark = pytest.mark.xdist_group("erasing")


async def guest_of(sender: Sender, to: str) -> str:
    """Who has this address."""
    found = await sender.client.post("/api/v1/recipients/lookup", json={"channel": "email", "address": to})
    assert found.status_code == 200, found.text
    [guest] = found.json()["items"]
    return str(guest["id"])


async def test_what_triggers_have_planned_is_in_it(world: PipelineWorld) -> None:
    to, other = somebody(), somebody()
    arrival = world.clock.now() + timedelta(days=10)
    async with world.sender() as sender:
        trigger = await make_trigger(sender, **REMINDER)
        [event_id, _] = await tell(sender, reservation(arrival, to=to), reservation(arrival, to=other))
        laila = await guest_of(sender, to)

        archive = await _export(sender, laila)

        [planned] = _lines(archive, "planned.jsonl")
        assert (planned["template"], planned["channel"]) == ("reservation_reminder", "email")
        assert planned["why"] | {"event_time": None} == {
            "trigger_id": trigger["id"],
            "event_type": "reservation.confirmed",
            "event_id": event_id,
            "about": f"res-{to}",
            "event_time": None,
        }
        assert planned["variables"]["place"] == "Hotel Kabul"
        assert planned["reckoned_from"]["zone"] == "Asia/Kabul"
        assert planned["due_at"] is not None
        assert other not in archive.read("planned.jsonl").decode()
        assert "planned.jsonl" in archive.read("README.txt").decode()

        await erase(sender, await guest_of(sender, other))
        assert len(_lines(await _export(sender, laila), "planned.jsonl")) == 1


async def test_what_waits_in_digests_is_in_it(world: PipelineWorld) -> None:
    """With their own messages: what a guardian's digest has of a child is the child's."""
    evening = {"academic": {"every": "day", "at": "18:00"}}
    async with world.sender() as sender:
        [child, guardian] = await crowd(world, sender.tenant_id, 2)
        await sender.choose(guardian, digest_schedule=evening)
        await sender.choose(child, guardian_routing={"guardian_id": guardian, "mode": "instead"})
        sent = [
            await sender.send(recipient=who, category="academic", digest_key="homework")
            for who in (child, guardian)
        ]
        await world.settle()

        archive = await _export(sender, guardian)

        [digest] = _lines(archive, "digests.jsonl")
        assert digest["notification_ids"] == [sent[1]["id"]]
        told = [digest[name] for name in ("category", "channel", "digest_key", "state", "flushed_at")]
        assert told == ["academic", "email", "homework", "open", None]
        assert digest["due_at"].endswith("T18:00:00Z")
        choices = json.loads(archive.read("preferences.json"))["choices"]
        assert choices["digest_schedule"] == evening
        assert _lines(await _export(sender, child), "digests.jsonl") == []

        await sender.choose(guardian, digest_schedule={})
        await world.settle()
        [flushed] = _lines(await _export(sender, guardian), "digests.jsonl")
        assert (flushed["state"], flushed["result"]) == ("flushed", "digest")
        assert flushed["digest_notification_id"].startswith("ntf_")


async def test_batches_are_in_it_also_those_that_only_name_them(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        [laila] = await crowd(world, sender.tenant_id, 1, tags=["vip"])
        [omar] = await crowd(world, sender.tenant_id, 1)
        gone = await write(sender, name="Spring")
        await gone.do("start")
        await world.settle()
        await world.advance(seconds=1)
        listed = await write(sender, name="Autumn", filter=None)
        named = await sender.client.post(
            f"/api/v1/batches/{listed.id}/recipients",
            content=f"id\n{laila}\n",
            headers={"Content-Type": "text/csv"},
        )
        assert named.status_code == 200, named.text
        await write(sender, name="For nobody here", filter="tag = 'nobody'")

        lines = _lines(await _export(sender, laila), "batches.jsonl")

        assert [(line["name"], line["state"], line["named_in_list"]) for line in lines] == [
            ("Spring", "delivered", False),
            ("Autumn", None, True),
        ]
        assert [line["template"] for line in lines] == ["order_confirmation"] * 2
        assert lines[0]["notification_id"].startswith("ntf_")
        assert _lines(await _export(sender, omar), "batches.jsonl") == []


async def test_more_than_a_page_of_batches(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        [laila] = await crowd(world, sender.tenant_id, 1)
        for n in range(210):
            await write(sender, name=f"No. {n}", filter=None)
        await sender.rows(
            "INSERT INTO notification.batch_list (tenant_id, batch_id, recipient_id) "
            "SELECT tenant_id, id, $1 FROM notification.dispatch_batches",
            laila,
        )

        lines = _lines(await _export(sender, laila), "batches.jsonl")

        assert len({line["batch_id"] for line in lines}) == len(lines) == 210
