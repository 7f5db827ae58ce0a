"""What stays known of a message that went out: where to, from whom, what was said of it; and what an erasure leaves."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.erasure.somebody import erase
from tests.integration.pipeline.test_dead_devices import fcm, push, somebody_with_devices
from tests.support.clock import ManualClock
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, person
from tidings.notify.dispatch.sent import ADDRESSES_PURPOSE
from tidings.router.executions.answers import AnswerSweeper
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("pipeline-sent")

EXECUTIONS = "/api/v1/router/executions"
_ATTEMPTS = """
    SELECT a.* FROM chan.delivery_attempts AS a JOIN chan.fallback_executions AS e
        ON e.tenant_id = a.tenant_id AND e.id = a.execution_id
    WHERE e.notification_id = $1 ORDER BY a.started_at, a.id
"""
_CALLING = "SELECT state FROM chan.executions_live WHERE notification_id = $1 AND state LIKE '%calling%'"
_ROW = "SELECT * FROM notification.notifications WHERE id = $1"


async def _opened(sender: Sender, recipient_id: str, box: bytes) -> list[str]:
    system = sender.world.system
    async with system.db.tenant(sender.tenant_id) as tx:
        key = await system.kernel.keyring.data_key(tx, recipient_id)
        found: list[str] = json.loads(key.unseal(box, ADDRESSES_PURPOSE))
        return found


async def _shown(sender: Sender, notification_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    one = await sender.client.get(f"{HOME}/{notification_id}")
    attempts = await sender.client.get(f"{HOME}/{notification_id}/attempts")
    assert one.status_code == attempts.status_code == 200, attempts.text
    return one.json(), attempts.json()["items"]


async def test_where_it_went_and_who_it_came_from_outlive_the_address(world: PipelineWorld) -> None:
    to = f"laila-{unused()}@example.test"
    async with world.sender() as sender:
        sent = await sender.send(to)
        await world.settle()
        [attempt] = await sender.rows(_ATTEMPTS, sent["id"])
        [row] = await sender.rows(_ROW, sent["id"])
        recipient_id = row["recipient_id"]
        system = world.system
        async with system.db.tenant(sender.tenant_id) as tx:
            pepper = await system.kernel.keyring.pepper(tx)
        for kept in (attempt, row):
            assert kept["address_hash"] == pepper.hash(to)
            assert await _opened(sender, recipient_id, kept["address_ciphertext"]) == [to]
            assert json.loads(kept["sender"]) == {"value": "hello@acme.test", "name": "Acme"}
        assert attempt["content_digest"] == json.loads(row["render_snapshot"])["digest"]
        assert attempt["adapter_config_id"].startswith("adcfg_")

        # The address goes; where the message went stays known, as a hint.
        known = await sender.client.get(f"/api/v1/recipients/{recipient_id}/addresses")
        [address] = known.json()["items"]
        gone = await sender.client.delete(f"/api/v1/recipients/{recipient_id}/addresses/{address['id']}")
        assert gone.status_code == 204, gone.text
        one, [shown] = await _shown(sender, sent["id"])
        told = await sender.explain(sent["id"])
    hint = ["l…@e….test"]
    assert one["to"] == shown["to"] == told["notification"]["to"] == told["attempts"][0]["to"] == hint
    assert one["sender"] == shown["sender"] == {"value": "hello@acme.test", "name": "Acme"}
    assert shown["account_id"] == attempt["adapter_config_id"]
    assert to not in json.dumps([one, shown, told])


async def test_an_erased_person_takes_along_where_it_went(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        sent = await sender.send(f"laila-{unused()}@example.test")
        await world.settle()
        [row] = await sender.rows(_ROW, sent["id"])
        await erase(sender, row["recipient_id"])
        one, [shown] = await _shown(sender, sent["id"])
    assert one["to"] == shown["to"] == []
    assert shown["sender"] == {"value": "hello@acme.test", "name": "Acme"}, (
        "the tenant's own, nobody's secret"
    )


async def test_a_guardian_who_is_written_to_instead_has_their_own_key(world: PipelineWorld) -> None:
    guardian = f"guardian-{unused()}@example.test"
    async with world.sender() as sender:
        made = [
            (await sender.client.post("/api/v1/recipients", json=person(a))).json()["id"]
            for a in (f"child-{unused()}@example.test", guardian)
        ]
        await sender.choose(made[0], guardian_routing={"guardian_id": made[1], "mode": "instead"})
        sent = await sender.send(recipient=made[0])
        await world.settle()
        [row] = await sender.rows(_ROW, sent["id"])
        one, [shown] = await _shown(sender, sent["id"])
        assert await _opened(sender, made[1], row["address_ciphertext"]) == [guardian]
    assert one["to"] == shown["to"] == ["g…@e….test"]


async def test_every_device_of_a_push_is_kept(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender, fcm(world):
        devices = [f"device-{unused()}", f"device-{unused()}"]
        recipient_id = await somebody_with_devices(sender, *devices)
        sent = await push(sender, recipient_id)
        [attempt] = await sender.rows(_ATTEMPTS, sent)
        assert sorted(await _opened(sender, recipient_id, attempt["address_ciphertext"])) == sorted(devices)
    assert len(attempt["address_hash"].split(" ")) == 2
    assert attempt["http_status"] == 200


async def test_what_the_vendor_answered_is_kept_with_each_attempt(world: PipelineWorld) -> None:
    phone = "+4915198000431"
    async with world.sender() as sender:
        world.sandbox.faults.set(FaultSpec(adapter="http", mode="throttle", count=1))
        sent = await sender.send(
            recipient=person(phone), template="otp", variables={"code": "482915"}, channel="sms"
        )
        await world.settle()
        await world.advance(minutes=2)
        later, taken = await sender.rows(_ATTEMPTS, sent["id"])
        _, shown = await _shown(sender, sent["id"])
        execution = await sender.client.get(f"/api/v1/router/executions/{later['execution_id']}")
    assert (later["http_status"], taken["http_status"]) == (429, 202)
    assert later["retry_after_ms"] >= 1000
    assert taken["retry_after_ms"] is None
    assert later["error_message"]
    assert taken["error_message"] is None
    for seen in (shown, execution.json()["attempts"]):
        assert [one["http_status"] for one in seen] == [429, 202]
        assert [one["retry_after_ms"] for one in seen] == [later["retry_after_ms"], None]
    assert shown[0]["error"] == later["error_message"]
    assert [one["sender"] for one in execution.json()["attempts"]] == [{"value": "ACME", "name": None}] * 2


async def test_where_it_goes_is_noted_before_the_vendor_is_called(world: PipelineWorld) -> None:
    """So that a worker which dies in the middle of the call takes nothing along."""
    to = f"laila-{unused()}@example.test"
    world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="hang", count=1))
    async with world.sender() as sender:
        sent = await sender.send(to)
        running = asyncio.ensure_future(world.system.dispatch.job.drain())
        while not (noted := await sender.rows(_CALLING, sent["id"])):
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait({running})
    # Who hangs is let go, or the next test's mail waits for it.
    for session in [*world.sandbox._smtp.sessions]:
        session.drop()
    record = json.loads(noted[0]["state"])["legs"][0]["calling"]["record"]
    assert record["address_hash"].startswith("sha256:")
    assert record["sender"] == {"value": "hello@acme.test", "name": "Acme"}
    assert to not in noted[0]["state"]


async def test_what_a_vendor_answered_can_be_read_until_its_time_is_over(world: PipelineWorld) -> None:
    to = f"laila-{unused()}@example.test"
    async with world.sender() as sender, world.sender() as stranger:
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
        sent = await sender.send(to)
        await world.settle()
        await world.advance(minutes=10)
        refused, taken = await sender.rows(_ATTEMPTS, sent["id"])
        places = [
            f"{EXECUTIONS}/{one['execution_id']}/attempts/{one['id']}/answer" for one in (refused, taken)
        ]
        said, ok = [await sender.client.get(place) for place in places]
        foreign = await stranger.client.get(places[0])
        async with world.http.as_tenant(sender.tenant_id, scopes=["router:read"]) as reader:
            unable = await reader.get(places[0])
        seen = await sender.rows("SELECT action FROM chan.audit WHERE entity_id = $1", refused["id"])
        for path in (world.folder / "blobs" / "_platform" / "answers").rglob("*"):
            assert not path.is_file() or b"250 " not in path.read_bytes(), "sealed where it lies"

        kept = timedelta(days=30)
        sweeper = AnswerSweeper(lambda: world.system.kernel.blobs, world.clock, kept=kept)
        assert await sweeper.sweep(1000) == 0, "its time is not over"
        later = ManualClock(world.clock.now() + kept + timedelta(days=2))
        assert await AnswerSweeper(lambda: world.system.kernel.blobs, later, kept=kept).sweep(1000) >= 2
        gone = await sender.client.get(places[1])
    assert said.status_code == 200, said.text
    assert said.content.startswith(b"4"), "as SMTP says it"
    assert ok.content.startswith(b"250 ")
    assert (foreign.status_code, foreign.json()["code"]) == (404, "execution_not_found")
    assert (unable.status_code, unable.json()["code"]) == (403, "missing_scope")
    assert [one["action"] for one in seen] == ["answer_revealed"]
    assert (gone.status_code, gone.json()["code"]) == (404, "answer_gone")


async def test_an_erased_person_takes_along_what_vendors_answered(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        sent = await sender.send(f"laila-{unused()}@example.test")
        await world.settle()
        [row] = await sender.rows(_ROW, sent["id"])
        [attempt] = await sender.rows(_ATTEMPTS, sent["id"])
        place = f"{EXECUTIONS}/{attempt['execution_id']}/attempts/{attempt['id']}/answer"
        before = await sender.client.get(place)
        await erase(sender, row["recipient_id"])
        after = await sender.client.get(place)
    assert before.status_code == 200
    assert (after.status_code, after.json()["code"]) == (404, "answer_gone")


async def test_answers_that_cant_be_stored_keep_no_outcome_back(world: PipelineWorld) -> None:
    folder = world.folder / "blobs" / "_platform" / "answers"
    moved = folder.with_name("answers-moved")
    folder.rename(moved)
    folder.write_text("in the way")
    async with world.sender() as sender:
        try:
            sent = await sender.send(f"laila-{unused()}@example.test")
            await world.settle()
        finally:
            folder.unlink()
            moved.rename(folder)
        status = await sender.status(sent["id"])
        [attempt] = await sender.rows(_ATTEMPTS, sent["id"])
        place = f"{EXECUTIONS}/{attempt['execution_id']}/attempts/{attempt['id']}/answer"
        gone = await sender.client.get(place)
    assert status == "delivered"
    assert gone.json()["code"] == "answer_gone"
