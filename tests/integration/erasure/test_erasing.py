"""After an erasure nothing of a person can be read, nothing more is sent, and what must be kept still holds."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.erasure.scanning import decryptable, in_the_clear
from tests.integration.erasure.somebody import Somebody, erase
from tests.support.people import unused
from tests.support.pipeline import HOME, NOON, PipelineWorld, person
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("erasing")


async def test_nothing_of_them_is_left_to_read(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        sent = await sender.send(**them.message(recipient_id))
        await world.settle()
        assert await sender.status(sent["id"]) == "delivered"
        # The scan is worth something: before, it finds everything.
        assert set(await decryptable(world, them.sealed)) == set(them.sealed)
        assert set(await in_the_clear(world, them.plain)) == set(them.plain)

        receipt = await erase(sender, recipient_id)
        await world.settle()

        everything = [*them.sealed, *them.plain, them.word]
        assert await decryptable(world, everything) == {}
        assert await in_the_clear(world, everything) == {}
        shown = (await sender.client.get(f"/api/v1/recipients/{recipient_id}")).json()
        assert (shown["identity"], shown["display_name"], shown["tags"], shown["attributes"]) == (
            None,
            None,
            [],
            {},
        )
        assert (shown["addresses"], shown["locale"], shown["timezone"]) == ([], "en-US", "UTC")
        assert shown["erased_at"] is not None
        body = await sender.client.get(f"{HOME}/{sent['id']}/body")
        assert (body.status_code, body.json()["code"]) == (409, "recipient_erased")
        destroyed = receipt["statement"]["destroyed"]
        assert destroyed == {
            "data_keys": 1,
            "addresses": 2,
            "display_name": True,
            "identity": True,
            "tags": 2,
            "attributes": 2,
            "preferences": True,
            "consent_evidence": 1,
            "suppressed_addresses": 1,
            "profiles": 0,
            "notifications_unreadable": 1,
            "metadata_cleared": 1,
            "raw_callbacks": 0,
            "inbox_items": 0,
        }
        assert receipt["statement"]["kept"] == {"suppressions": 1, "notifications": 1}
        assert receipt["statement"]["vendors"] == ["smtp"]


async def test_a_suppression_outlives_them(world: PipelineWorld) -> None:
    """Whoever comes back with the address that must not be written to is not written to."""
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        await erase(sender, recipient_id)
        again = await sender.send(
            recipient=person(them.phone), template="otp", channel="sms", variables={"code": "123456"}
        )
        await world.settle()
        assert again["recipient_id"] != recipient_id
        told = await sender.explain(again["id"])
        assert told["notification"]["status"] == "suppressed"
        assert told["notification"]["reason"] == "suppressed_by_tenant"
    assert world.received(them.phone) == []


async def test_an_address_that_they_had_once_can_t_be_read_either(world: PipelineWorld) -> None:
    """Suppressed, then taken from the profile: nobody could tell whose it was when they are erased."""
    async with world.sender() as sender:
        old = f"{unused()}@example.test"
        sent = await sender.send(old)
        held = {"channel": "email", "address": old, "reason": "hard_bounce", "notes": "asked by phone"}
        assert (await sender.client.post("/api/v1/suppressions", json=held)).status_code in (200, 201)
        home = f"/api/v1/recipients/{sent['recipient_id']}/addresses"
        listed = (await sender.client.get(f"/api/v1/recipients/{sent['recipient_id']}")).json()["addresses"]
        gone = await sender.client.delete(f"{home}/{listed[0]['id']}", headers={"If-Match": "*"})
        assert gone.status_code in (200, 204), gone.text
        kept = await sender.rows(
            "SELECT address_ciphertext, notes, released_at FROM notification.suppressions"
        )

    assert kept == [{"address_ciphertext": None, "notes": None, "released_at": None}]


async def test_what_waits_is_stopped_and_explained(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        queued = await sender.send(**them.message(recipient_id))
        later = await sender.send(
            **them.message(recipient_id, scheduled_for=(NOON + timedelta(hours=2)).isoformat())
        )
        receipt = await erase(sender, recipient_id)
        assert (receipt["statement"]["stopped"], receipt["statement"]["under_way"]) == (2, 0)
        for one in (queued, later):
            told = await sender.explain(one["id"])
            assert told["notification"]["status"] == "suppressed"
            assert told["notification"]["reason"] == "recipient_erased"
            assert told["decision"][-1]["reason"] == "recipient_erased"
            assert told["next"] is None
        await world.advance(hours=3)
        assert await sender.status(later["id"]) == "suppressed"
        counts = (await sender.client.get(f"{HOME}/counters")).json()["totals"]
        assert counts["suppressed"] == 2
    assert world.received(them.mail) == []


async def test_a_later_try_of_what_was_handed_over_is_not_made(world: PipelineWorld) -> None:
    """The vendor is busy: the ladder waits for its next try, and after the erasure there is none."""
    them = Somebody()
    world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        sent = await sender.send(**them.message(recipient_id))
        await world.settle()
        assert await sender.status(sent["id"]) == "dispatched"

        statement = (await erase(sender, recipient_id))["statement"]

        assert (statement["stopped"], statement["under_way"], statement["in_flight"]) == (0, 1, [])
        assert statement["vendors"] == ["smtp"], "it was offered the message, and refused it for now"
        await world.advance(hours=1)
        told = await sender.explain(sent["id"])
        assert told["notification"]["status"] == "suppressed"
        assert told["notification"]["reason"] == "recipient_erased"
    assert world.received(them.mail) == []


async def test_the_receipt_tells_what_a_vendor_has_in_hand(world: PipelineWorld) -> None:
    """A call that is under way can't be called back: the message arrives, and the receipt said that it may."""
    them = Somebody()
    world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="slow", count=1, seconds=2))
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        sent = await sender.send(**them.message(recipient_id))
        sending = asyncio.ensure_future(world.settle())
        while not await sender.rows(
            "SELECT FROM chan.executions_live WHERE notification_id = $1 AND state LIKE '%\"calling\"%'",
            sent["id"],
        ):
            await asyncio.sleep(0.01)

        statement = (await erase(sender, recipient_id))["statement"]

        [under_way] = statement["in_flight"]
        assert (under_way["notification_id"], under_way["channel"], under_way["vendor"]) == (
            sent["id"],
            "email",
            "smtp",
        )
        while not sending.done():
            await world.clock.advance(timedelta(seconds=1))
            await asyncio.sleep(0.01)
        await sending
        assert await sender.status(sent["id"]) == "delivered"


async def test_erasing_again_gives_the_same_receipt(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        path = f"/api/v1/recipients/{recipient_id}/erasure"
        before = await sender.client.get(path)
        assert (before.status_code, before.json()["code"]) == (404, "not_erased")
        first = await erase(sender, recipient_id)
        assert await erase(sender, recipient_id) == first
        assert (await sender.client.get(path)).json() == first
        audited = (await sender.client.get("/api/v1/audit", params={"entity_id": recipient_id})).json()
        assert [line["action"] for line in audited["items"]].count("erased") == 1


async def test_the_same_address_elsewhere_is_not_touched(world: PipelineWorld) -> None:
    """Two tenants know one address by two hashes; an erasure at the one is nothing to the other."""
    them = Somebody()
    hashes = "SELECT address_hash FROM notification.recipient_addresses WHERE recipient_id = $1"
    async with world.sender() as here, world.sender() as there:
        gone, stays = await them.known_to(here), await them.known_to(there)
        mine, theirs = await here.rows(hashes, gone), await there.rows(hashes, stays)
        assert len(mine) == len(theirs) == 2
        assert not {row["address_hash"] for row in mine} & {row["address_hash"] for row in theirs}

        await erase(here, gone)

        sent = await there.send(**them.message(stays))
        await world.settle()
        assert await there.status(sent["id"]) == "delivered"
        assert await there.rows(hashes, stays) == theirs
        shown = await there.client.get(f"/api/v1/recipients/{stays}", params={"reveal": "true"})
        assert {a["address"] for a in shown.json()["addresses"]} == {them.mail, them.phone}
        stranger = await there.client.post(f"/api/v1/recipients/{gone}/erase")
        assert stranger.status_code == 404
    assert len(world.received(them.mail)) == 1


async def test_an_erased_person_is_not_written_to_again(world: PipelineWorld) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        await erase(sender, recipient_id)
        refused = await sender.client.post(
            HOME, json={"template": "order_confirmation", "channel": "email"} | them.message(recipient_id)
        )
        assert (refused.status_code, refused.json()["code"]) == (409, "recipient_erased")
        # Somebody who comes back is somebody new.
        back = await sender.send(them.mail)
        assert back["recipient_id"] != recipient_id
        await world.settle()
        assert await sender.status(back["id"]) == "delivered"


@pytest.mark.parametrize("role", ["tenant.viewer", "tenant.support"])
async def test_who_may_erase(world: PipelineWorld, role: Any) -> None:
    them = Somebody()
    async with world.sender() as sender:
        recipient_id = await them.known_to(sender)
        async with world.http.as_tenant(sender.tenant_id, role=role) as client:
            answer = await client.post(f"/api/v1/recipients/{recipient_id}/erase")
        assert answer.status_code == (403 if role == "tenant.viewer" else 200)
