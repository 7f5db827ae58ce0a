"""Triggers as a resource: made, changed, versioned, switched; the platform's and a tenant's; rehearsed."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.cloud_events import STRUCTURED
from tests.support.hotel import (
    CONFIRMATION,
    FIRINGS,
    REMINDER,
    TRIGGERS,
    fired,
    make_trigger,
    reservation,
    scheduled,
    somebody,
    tell,
)
from tests.support.pipeline import PipelineWorld, Sender, person

pytestmark = pytest.mark.xdist_group("triggers-resource")


async def _test(sender: Sender, event: dict[str, Any]) -> dict[str, Any]:
    answer = await sender.client.post(f"{TRIGGERS}/test", json=event, headers=STRUCTURED)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_a_trigger_is_made_changed_and_deleted_and_every_version_is_kept(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as stranger:
        made = await sender.client.post(TRIGGERS, json=REMINDER)
        path, tag = made.headers["location"], made.headers["etag"]
        stale = await sender.client.patch(path, json={"offset": "-P3D"}, headers={"If-Match": '"v9"'})
        bare = await sender.client.patch(path, json={"offset": "-P3D"})
        changed = await sender.client.patch(
            path, json={"offset": "-P3D", "local_time": None}, headers={"If-Match": tag}
        )
        same = await sender.client.put(
            path,
            json=REMINDER | {"offset": "-P3D", "local_time": None},
            headers={"If-Match": changed.headers["etag"]},
        )
        versions = (await sender.client.get(f"{path}/versions")).json()["items"]
        foreign = [await stranger.client.get(path), await stranger.client.delete(path)]
        listed = (await sender.client.get(TRIGGERS, params={"event_type": "reservation.confirmed"})).json()
        gone = await sender.client.delete(path)
        after = await sender.client.get(path)
        audit = await sender.rows(
            "SELECT action FROM notification.audit WHERE entity_type = 'trigger' ORDER BY seq"
        )

    assert made.status_code == 201
    assert made.json() | REMINDER == made.json(), "it is shown as it was written"
    assert (stale.status_code, bare.status_code) == (412, 428)
    assert (changed.json()["version"], changed.json()["offset"], changed.json()["local_time"]) == (
        2,
        "-P3D",
        None,
    )
    assert same.json()["version"] == 2, "the same again is no new version"
    assert [(one["version"], one["trigger"]["offset"]) for one in versions] == [(2, "-P3D"), (1, "-P2D")]
    assert [one.status_code for one in foreign] == [404, 404]
    assert made.json()["id"] in [one["id"] for one in listed["items"]]
    assert (gone.status_code, after.status_code) == (204, 404)
    assert [row["action"] for row in audit] == ["trigger.created", "trigger.changed", "trigger.deleted"]


async def test_bad_input_names_every_field_and_writes_nothing(world: PipelineWorld) -> None:
    wrong = {
        "event_type": "notification.delivered.v1",
        "template": "order_confirmation",
        "recipient": "everybody",
        "offset": "2 days",
        "local_time": "25:00",
        "category": "nonsense",
        "condition": "data.nights >= ",
        "variables": {"place": "$.data["},
    }
    async with world.sender() as sender:
        answer = await sender.client.post(TRIGGERS, json=wrong)
        unknown = await sender.client.post(TRIGGERS, json=REMINDER | {"send_at": "noon"})
        listed = (await sender.client.get(TRIGGERS)).json()["items"]

    problem = answer.json()
    assert (answer.status_code, unknown.status_code) == (400, 400)
    assert {one["field"] for one in problem["errors"]} == {
        "event_type",
        "recipient",
        "offset",
        "local_time",
        "category",
        "condition",
        "variables.place",
    }
    assert not [one for one in listed if one["owner"] == "tenant"]


async def test_a_template_that_is_not_there_is_a_warning(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        made = await make_trigger(sender, **(CONFIRMATION | {"template": "not_yet"}))
        wrong_channel = await make_trigger(sender, **(CONFIRMATION | {"channel": "voice"}))

    assert "no template not_yet is published" in made["warnings"][0]
    assert "not for voice" in wrong_channel["warnings"][0]


async def test_what_is_switched_off_fires_no_more(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        made = await make_trigger(sender, **CONFIRMATION)
        off = await sender.client.post(f"{TRIGGERS}/{made['id']}/disable")
        await tell(sender, reservation(world.clock.now() + timedelta(days=9), to=to))
        quiet = len(world.received(to))
        on = await sender.client.post(f"{TRIGGERS}/{made['id']}/enable")
        await tell(sender, reservation(world.clock.now() + timedelta(days=9), to=to))

    assert (off.json()["enabled"], on.json()["enabled"], on.json()["version"]) == (False, True, 3)
    assert (quiet, len(world.received(to))) == (0, 1)


async def test_a_change_counts_in_another_process(world: PipelineWorld) -> None:
    """Its cache is right within a second, or at once where the change is announced."""
    to = somebody()
    async with world.sender() as sender, world.another_worker() as other:
        before = await other.triggers.registry.of_all([sender.tenant_id])
        await make_trigger(sender, **CONFIRMATION)
        await world.clock.advance(timedelta(seconds=1))
        after = await other.triggers.registry.of_all([sender.tenant_id])

    assert before[sender.tenant_id].hearing("reservation.confirmed") == []
    assert len(after[sender.tenant_id].hearing("reservation.confirmed")) == 1
    assert to


async def test_a_shipped_set_fires_when_it_is_adopted(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        sets = (await sender.client.get(f"{TRIGGERS}/sets")).json()["items"]
        event = reservation(world.clock.now() + timedelta(days=30), to=to)
        [quiet] = await tell(sender, event)
        unheard = await fired(sender, quiet)
        adopted = await sender.client.post(f"{TRIGGERS}/sets/hotel/adopt")
        missing = await sender.client.post(f"{TRIGGERS}/sets/nonsense/adopt")
        [heard] = await tell(sender, event | {"id": "another"})
        lines = await fired(sender, heard)
        after = (await sender.client.get(f"{TRIGGERS}/sets")).json()["items"]

    assert {one["name"]: (one["triggers"], one["enabled"]) for one in sets} == {
        "hotel": (3, 0),
        "school": (2, 0),
    }
    assert unheard == []
    assert adopted.status_code == 200
    assert all(one["warnings"] == [] for one in adopted.json()["triggers"]), adopted.text
    assert (missing.status_code, missing.json()["code"]) == (404, "trigger_set_not_found")
    assert sorted((one["template"], one["result"]) for one in lines) == [
        ("reservation_confirmation", "sent"),
        ("reservation_reminder", "planned"),
        ("stay_thank_you", "planned"),
    ]
    assert {one["name"]: one["enabled"] for one in after} == {"hotel": 3, "school": 0}
    assert len(world.received(to)) == 1


async def test_a_tenant_switches_the_platforms_trigger_and_makes_it_its_own(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as other, world.http.as_platform() as platform:
        made = await platform.post(
            "/internal/v1/triggers", json=CONFIRMATION | {"event_type": "booking.made", "enabled": True}
        )
        path = f"{TRIGGERS}/{made.json()['id']}"
        refused = await sender.client.patch(path, json={"offset": "P1D"}, headers={"If-Match": '"v1"'})
        off = await sender.client.post(f"{path}/disable")
        own = await sender.client.post(f"{path}/customise")
        shown = [await one.client.get(path) for one in (sender, other)]
        deleted = await platform.delete(f"/internal/v1/triggers/{made.json()['id']}")

    assert made.status_code == 201, made.text
    assert (refused.status_code, refused.json()["code"]) == (409, "platform_trigger")
    assert off.json()["enabled"] is False
    assert (own.json()["owner"], own.json()["customises"]) == ("tenant", made.json()["id"])
    assert own.json()["enabled"] is False, "as it was"
    assert [one.json()["enabled"] for one in shown] == [False, True]
    assert deleted.status_code == 204


async def test_an_event_is_rehearsed_and_nothing_is_written(world: PipelineWorld) -> None:
    to, arrival = somebody(), (world.clock.now() + timedelta(days=10)).replace(hour=10, minute=0, second=0)
    async with world.sender() as sender:
        now = await make_trigger(sender, **CONFIRMATION)
        later = await make_trigger(sender, **REMINDER)
        picky = await make_trigger(
            sender, **(CONFIRMATION | {"channel": "auto", "condition": "data.nights > 5"})
        )
        await sender.client.post(f"{TRIGGERS}/{picky['id']}/enable")
        told = await _test(sender, reservation(arrival, to=to, nights=2))
        broken = await _test(sender, reservation(arrival, to=to, guest={"name": "Laila"}))
        over = await _test(sender, reservation(arrival - timedelta(days=20), to=to))
        rows = await sender.rows(
            "SELECT (SELECT count(*) FROM notification.recipients) + (SELECT count(*) FROM notification.trigger_firings)"
            " + (SELECT count(*) FROM notification.notification_scheduled) AS n"
        )

    planned = {one["trigger"]: one for one in told["planned"]}
    assert set(planned) == {now["id"], later["id"]}
    nine = datetime.fromisoformat(planned[later["id"]]["send_at"])
    assert nine == (arrival - timedelta(days=2)).replace(hour=4, minute=30)
    assert planned[later["id"]]["recipient"]["timezone"] == "Asia/Kabul"
    assert to not in str(told), "addresses are hints"
    assert planned[now["id"]]["recipient"]["addresses"][0]["channel"] == "email"
    assert {(one["trigger"], one["reason"]) for one in told["not_planned"]} >= {
        (picky["id"], "condition_not_met")
    }
    assert not broken["planned"]
    assert {one["reason"] for one in over["not_planned"]} >= {"too_late"}
    assert rows == [{"n": 0}]
    assert not world.received(to)


async def test_a_rehearsal_knows_what_was_heard_and_said_before(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        for _ in range(2):
            await make_trigger(sender, **REMINDER)
        twice = await _test(sender, reservation(now + timedelta(days=10), to=to))
        await tell(sender, reservation(now + timedelta(days=1), to=to, time=now.isoformat()))
        again = await _test(sender, reservation(now + timedelta(days=1), to=to, kind="moved"))
        earlier = reservation(now, to=to, kind="moved", time=(now - timedelta(days=1)).isoformat())
        late = await _test(sender, earlier)
        await tell(sender, reservation(now + timedelta(days=1), to=to, kind="cancelled"))
        after = await _test(sender, reservation(now + timedelta(days=9), to=to, kind="moved"))

    assert [len(twice["planned"]), *_reasons(twice)] == [1, "duplicate"]
    assert _reasons(again) == ["already_sent"] * 2
    assert _reasons(late) == ["out_of_order"] * 2
    assert _reasons(after) == ["cancelled_before"] * 2
    assert again["planned"] == late["planned"] == after["planned"] == []


def _reasons(rehearsal: dict[str, Any]) -> list[str]:
    return [one["reason"] for one in rehearsal["not_planned"] if one["reason"] != "disabled"]


async def test_the_rehearsal_tells_what_would_be_cleared(world: PipelineWorld) -> None:
    to, arrival = somebody(), world.clock.now() + timedelta(days=10)
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(arrival, to=to))
        [planned] = await scheduled(sender)
        cancelled = await _test(sender, reservation(arrival, to=to, kind="cancelled"))
        moved = await _test(sender, reservation(arrival + timedelta(days=5), to=to, kind="moved"))
        [still] = await scheduled(sender)

    assert [one["scheduled_id"] for one in cancelled["clears"]] == [planned["id"]]
    assert [one["scheduled_id"] for one in moved["clears"]] == [planned["id"]]
    assert len(moved["planned"]) == 1
    assert still["status"] == "planned"


async def test_admins_hear_of_tidings_own_events(world: PipelineWorld) -> None:
    """A suppression is told to the recipients that are tagged as the tenant's admins."""
    to = somebody()
    async with world.sender() as sender:
        made = await sender.client.post("/api/v1/recipients", json=person(to, tags=["tenant_admin"]))
        await make_trigger(
            sender,
            event_type="suppression.added.v1",
            template="order_confirmation",
            channel="email",
            recipient="tenant_admins",
            variables={
                "order_number": "$.data.suppression_id",
                "total": {"amount_micros": 1_000_000, "currency": "USD"},
                "items": [{"name": "$.type", "quantity": 1}],
            },
        )
        wish = {"channel": "email", "address": somebody(), "reason": "manual"}
        answer = await sender.client.post("/api/v1/suppressions", json=wish)
        await world.settle()
        lines = (await sender.client.get(FIRINGS)).json()["items"]

    assert (made.status_code, answer.status_code) == (201, 201), made.text
    assert [(one["result"], one["reason"]) for one in lines] == [("sent", None)]
    assert len(world.received(to)) == 1


async def test_test_events_and_live_events_do_not_meet(world: PipelineWorld) -> None:
    to, arrival = somebody(), world.clock.now() + timedelta(days=10)
    async with world.sender() as sender, world.http.as_tenant(sender.tenant_id, environment="test") as tester:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(arrival, to=to))
        test = Sender(world=world, tenant_id=sender.tenant_id, client=tester)
        await tell(test, reservation(arrival, to=to, kind="cancelled"))
        [live] = await scheduled(sender)
        hidden = await tester.get(f"/api/v1/scheduled/{live['id']}")
        await tell(test, reservation(arrival, to=to, subject="a test"))
        [planned] = await scheduled(test)

    assert live["status"] == "planned"
    assert hidden.status_code == 404
    assert planned["is_test"] is True


async def test_a_word_inside_an_event_means_no_circle_of_people(world: PipelineWorld) -> None:
    """The admins are meant where the trigger says so, not where an event does."""
    admin = somebody()
    async with world.sender() as sender:
        await sender.client.post("/api/v1/recipients", json=person(admin, tags=["tenant_admin"]))
        await make_trigger(sender, **CONFIRMATION)
        arrival = world.clock.now() + timedelta(days=10)
        [event_id] = await tell(sender, reservation(arrival, to=admin, guest="tenant_admins"))
        [line] = await fired(sender, event_id)

    assert line["result"] == "failed"
    assert not world.received(admin)


async def test_a_live_source_that_is_called_test_is_not_met_by_tests(world: PipelineWorld) -> None:
    to, arrival = somebody(), world.clock.now() + timedelta(days=10)
    async with world.sender() as sender, world.http.as_tenant(sender.tenant_id, environment="test") as tester:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(arrival, to=to, source="test:/pms"))
        test = Sender(world=world, tenant_id=sender.tenant_id, client=tester)
        await tell(test, reservation(arrival, to=to, source="/pms", kind="cancelled"))
        [live] = await scheduled(sender)

    assert live["status"] == "planned"
