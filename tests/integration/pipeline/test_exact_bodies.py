"""The exact words of regulated messages: there before the vendor is called, readable by those who may, gone with the person."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.integration.erasure.somebody import erase
from tests.support.clock import ManualClock
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender
from tidings.notify.dispatch.exact_bodies import contents_of
from tidings.notify.dispatch.exact_bodies_sweep import BODIES_KEPT, BodySweeper

pytestmark = pytest.mark.xdist_group("pipeline-sent")

_ROW = "SELECT recipient_id, body_ref FROM notification.notifications WHERE id = $1"


async def _body(sender: Sender, notification_id: str, **query: Any) -> dict[str, Any]:
    answer = await sender.client.get(f"{HOME}/{notification_id}/body", params=query)
    found: dict[str, Any] = answer.json()
    return found


async def _rename(sender: Sender, recipient_id: str, name: str) -> None:
    answer = await sender.client.patch(
        f"/api/v1/recipients/{recipient_id}", json={"display_name": name}, headers={"If-Match": "*"}
    )
    assert answer.status_code == 200, answer.text


def _folder(world: PipelineWorld) -> Path:
    return world.folder / "blobs" / "_platform" / "rendered"


def _objects(world: PipelineWorld, *senders: Sender) -> list[str]:
    """Those named after a message of one of these."""
    tenants = {sender.tenant_id[4:].lower() for sender in senders}
    return sorted(path.name for path in _folder(world).rglob("*.bin") if path.name.split(".")[3] in tenants)


async def test_regulated_words_stay_what_they_were_when_the_name_changes(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        # A confirmation is regulated; the same text as a reminder is not.
        kept, plain = await sender.send(to), await sender.send(to, category="reminder")
        await world.settle()
        [row], [other] = [await sender.rows(_ROW, one["id"]) for one in (kept, plain)]
        sent = world.received(to)[0]
        await _rename(sender, row["recipient_id"], "Somebody else")
        await _rename(sender, other["recipient_id"], "Somebody else")
        shown, again = await _body(sender, kept["id"]), await _body(sender, plain["id"])
        told = [(await sender.explain(one["id"]))["template"]["words_kept"] for one in (kept, plain)]
        by_channel = await _body(sender, kept["id"], channel="email")
        for path in _folder(world).rglob("*.bin"):
            assert b"Laila" not in path.read_bytes(), "sealed where it lies"
    assert list(json.loads(row["body_ref"])) == ["email"]
    assert other["body_ref"] is None
    assert told == [True, False]
    assert (shown["exact"], shown["subject"]) == (True, sent.subject)
    assert "Laila" in (shown["html"] or "")
    assert "Somebody else" not in json.dumps(shown)
    assert by_channel == shown
    assert again["exact"] is False, "it can't be rendered as it was, and says so"


async def test_an_erased_person_takes_their_words_along(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        sent = await sender.send(f"{unused()}@example.test")
        await world.settle()
        [row] = await sender.rows(_ROW, sent["id"])
        await erase(sender, row["recipient_id"])
        gone = await _body(sender, sent["id"])
    assert gone["code"] == "recipient_erased"


async def test_a_set_shares_an_object_and_test_messages_have_none(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        for _ in range(3):
            await sender.send(f"{unused()}@example.test")
        await world.settle()
        assert len(_objects(world, sender)) == 1
    async with world.sender(environment="test") as tester:
        await tester.send(f"{unused()}@example.test")
        await world.settle()
        assert _objects(world, tester) == []


async def test_a_set_of_several_tenants_shares_an_object_too(world: PipelineWorld) -> None:
    async with world.sender() as one, world.sender() as other:
        sent = [(sender, await sender.send(f"{unused()}@example.test")) for sender in (one, other)]
        await world.settle()
        assert len(_objects(world, one, other)) == 1
        shown = [await _body(sender, message["id"]) for sender, message in sent]
        rows = [await sender.rows(_ROW, message["id"]) for sender, message in sent]
        # Each opens at its own place and at no other.
        refs = [json.loads(row["body_ref"])["email"] for [row] in rows]
    assert [body["exact"] for body in shown] == [True, True]
    assert len({ref.rpartition("#")[0] for ref in refs}) == 1
    assert len(set(refs)) == 2


async def test_a_blob_store_that_is_away_keeps_no_message_back(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        folder = _folder(world)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            folder.rename(folder.with_name("away"))
        folder.write_text("no folder")
        sent = await sender.send(to)
        await world.settle()
        status, shown = await sender.status(sent["id"]), await _body(sender, sent["id"])
        folder.unlink()
        if folder.with_name("away").exists():
            folder.with_name("away").rename(folder)
    assert status == "delivered"
    assert len(world.received(to)) == 1
    assert shown["exact"] is True, "rendered again, and proven by its digest"


async def test_words_go_after_seven_years_and_objects_that_nobody_names_after_two_days(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        await sender.send(f"{unused()}@example.test")
        await world.settle()
        [named] = _objects(world, sender)
        folder = next(_folder(world).rglob(named)).parent
        # A set whose hand-over was rolled back: the same words at another place, which no row names.
        orphan = folder / named.replace(".1.", ".2.")
        blobs, now = world.system.kernel.blobs, world.clock.now()
        whole = await blobs.get(f"_platform/rendered/{now:%Y/%m/%d}/{named}")  # type: ignore[arg-type]
        await blobs.put(
            f"_platform/rendered/{now:%Y/%m/%d}/{orphan.name}",  # type: ignore[arg-type]
            whole.content,
            owner_id=whole.owner_id,
        )
        soon = BodySweeper(world.db, lambda: blobs, ManualClock(now + timedelta(days=2)))
        await soon.sweep_orphans(1000)
        assert _objects(world, sender) == [named]
        assert (
            await BodySweeper(world.db, lambda: blobs, ManualClock(now + timedelta(days=900))).sweep(9) == 0
        )
        late = BodySweeper(world.db, lambda: blobs, ManualClock(now + BODIES_KEPT + timedelta(days=2)))
        assert await late.sweep(1000) >= 1
        assert _objects(world, sender) == []


def test_an_object_of_one_tenant_as_it_was_before_is_still_read() -> None:
    assert contents_of(msgspec.msgpack.encode([("ntf_1", b"sealed")])) == [("ntf_1", b"sealed", None)]
