"""What a test key does keeps nothing from being sent, changes nobody and shows nothing that is live."""

import pytest

from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, order, person
from tidings.contracts.tenants import NotificationPolicy, SendingLimits

pytestmark = pytest.mark.xdist_group("pipeline-sent")


async def test_a_test_request_swallows_no_live_one(world: PipelineWorld) -> None:
    """A staging system replays production's events with a test key, before production sends them."""
    address = f"{unused()}@example.test"
    wish = order(address)
    async with (
        world.sender(channels=("email",)) as live,
        world.http.as_tenant(live.tenant_id, environment="test") as test,
    ):
        ways = {
            "key": ({"Idempotency-Key": f"k-{unused()}"}, {}),
            "event": ({}, {"source_event_id": f"e-{unused()}"}),
        }
        found = {}
        for way, (headers, more) in ways.items():
            tried = [
                await client.post(HOME, json=wish | more, headers=headers)
                for client in (test, test, live.client, live.client)
            ]
            assert [one.status_code for one in tried] == [202] * 4, tried[0].text
            found[way] = [one.json()["id"] for one in tried]
        bulks = [
            await client.post(
                f"{HOME}/bulk", json={"notifications": [wish]}, headers={"Idempotency-Key": "b-1"}
            )
            for client in (test, live.client)
        ]
        await world.settle()

    for ids in found.values():
        assert ids[0] == ids[1] != ids[2] == ids[3]
    assert bulks[0].json()["results"] != bulks[1].json()["results"]
    # One by its key, one by its event, one in bulk.
    assert len(world.received(address)) == 3


async def test_tests_take_no_room_from_what_is_sent(world: PipelineWorld) -> None:
    limits = SendingLimits(per_day=1, per_recipient_per_day=1)
    address = f"{unused()}@example.test"
    async with (
        world.sender(NotificationPolicy(limits=limits), channels=("email",)) as live,
        world.http.as_tenant(live.tenant_id, environment="test") as test,
    ):
        for _ in range(2):
            assert (await test.post(HOME, json=order(address))).status_code == 202
        await world.settle()
        sent = await live.send(address)
        await world.settle()
        status = await live.status(sent["id"])

    assert status == "delivered"
    assert len(world.received(address)) == 1


async def test_a_test_changes_nobody_who_is_known(world: PipelineWorld) -> None:
    """The recipient stands in the order: for a live key it is brought up to date, for a test key it stays."""
    address, other = f"{unused()}@example.test", f"{unused()}@example.test"
    known = person(address)
    changed = known | {
        "display_name": "Mallory",
        "addresses": [{"channel": "email", "address": other, "primary": True}],
    }
    async with (
        world.sender(channels=("email",)) as live,
        world.http.as_tenant(live.tenant_id, environment="test") as test,
    ):
        sent = await live.send(recipient=known)
        path = f"/api/v1/recipients/{sent['recipient_id']}"
        before = [(await live.client.get(one)).json() for one in (path, f"{path}/addresses")]
        tried = await test.post(HOME, json=order(None, recipient=changed))
        after = [(await live.client.get(one)).json() for one in (path, f"{path}/addresses")]
        stranger = await test.post(HOME, json=order(None, recipient=person(other)))

    assert (tried.status_code, stranger.status_code) == (202, 202)
    assert tried.json()["recipient_id"] == sent["recipient_id"]
    assert before == after


async def test_a_test_key_finds_tests_alone(world: PipelineWorld) -> None:
    correlation = f"c-{unused()}"
    async with (
        world.sender(channels=("email",)) as live,
        world.http.as_tenant(live.tenant_id, environment="test") as test,
    ):
        sent = await live.send(f"{unused()}@example.test", correlation_id=correlation)
        tried = await test.post(HOME, json=order(f"{unused()}@example.test", correlation_id=correlation))
        await world.settle()
        lists = [
            await test.get(HOME),
            await test.get(HOME, params={"correlation_id": correlation}),
            await test.get(HOME, params={"recipient": sent["recipient_id"]}),
            await test.post(f"{HOME}/lookup", json={"correlation_id": correlation}),
        ]
        nobody = await test.get(f"{HOME}/ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G")
        one = f"{HOME}/{sent['id']}"
        lives = [await test.get(f"{one}{part}") for part in ("", "/attempts", "/explain", "/body")]
        lives += [await test.post(f"{one}/{part}") for part in ("cancel", "release", "resend")]
        mine = await test.get(f"{HOME}/{tried.json()['id']}/explain")

    own = [tried.json()["id"]]
    assert [[item["id"] for item in found.json()["items"]] for found in lists] == [own, own, [], own]
    assert {(answer.status_code, answer.json()["code"]) for answer in lives} == {(404, nobody.json()["code"])}
    assert mine.status_code == 200
