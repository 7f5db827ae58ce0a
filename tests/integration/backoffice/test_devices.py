"""Devices say that they are there; who falls silent is noticed once, and places never go back."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.integration.backoffice.test_sessions import events
from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.backoffice.devices.model import HINTS_KEPT, OFFLINE_AFTER
from tidings.backoffice.devices.presence import DevicePresence, DeviceSweepJob
from tidings.backoffice.devices.store import sweep_hints
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


async def say(who: SignedIn, verb: str = "heartbeat", **says: Any) -> httpx2.Response:
    return await who.post(f"/bff/v1/devices/{who.device_id}/{verb}", says)


async def sweep(world: HttpWorld, minutes: float = 0) -> None:
    """Some minutes later the job has a look."""
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(minutes=minutes))
    await DeviceSweepJob(world.db, world.system.backoffice.parts.get(DevicePresence)).run_once()


async def alerts(world: HttpWorld, tenant: Tenant) -> list[tuple[str, str, str | None]]:
    async with world.db.tenant(tenant.id) as tx:
        rows = await tx.connection.fetch(
            "SELECT category, status, property_id FROM bff_backoffice.alerts ORDER BY id"
        )
    return [(row["category"], row["status"], row["property_id"]) for row in rows]


async def shown(who: SignedIn) -> dict[str, Any]:
    answer = await who.get(f"/bff/v1/devices/{who.device_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_device_says_what_it_is_and_what_it_leaves_out_stays(
    admin: SignedIn, tenant: Tenant, world: HttpWorld
) -> None:
    first = await say(
        admin,
        "handshake",
        app_version="4.2.0",
        app_platform="Android 15",
        installer_channel="beta",
        network_profile="wifi",
        property_id="hotel-1",
    )
    assert first.status_code == 200, first.text
    assert first.json()["heartbeat_seconds"] == 60
    assert (first.json()["needs_proof"], first.json()["pull_cursor"]) == (False, None)

    assert (await say(admin, app_version="4.2.1")).status_code == 200
    device = await shown(admin)
    assert (device["app_version"], device["app_platform"], device["installer_channel"]) == (
        "4.2.1",
        "Android 15",
        "beta",
    )
    assert (device["status"], device["operator_name"], device["is_signed_in"]) == (
        "online",
        "Laila Noor",
        True,
    )
    # A device that was never heard of is a stable one.
    other = await an_operator(world, tenant.id, email="other")
    assert (await say(other)).json()["installer_channel"] == "stable"


async def test_an_outage_is_one_alert_and_ends_with_the_next_heartbeat(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    await say(admin, "handshake", property_id="hotel-1")
    await sweep(world, 4.9)
    assert await alerts(world, tenant) == []

    await sweep(world, 0.2)
    await sweep(world, 5)
    assert await alerts(world, tenant) == [("device_offline", "raised", "hotel-1")]
    assert (await shown(admin))["status"] == "offline"
    assert len(await events(db, "backoffice.device.offline.v1", tenant.id)) == 1

    await say(admin)
    await say(admin)
    assert await alerts(world, tenant) == [("device_offline", "resolved", "hotel-1")]
    assert len(await events(db, "backoffice.device.online.v1", tenant.id)) == 1
    device = await shown(admin)
    assert (device["status"], device["offline_since"]) == ("online", None)

    # The next outage is another one.
    await sweep(world, 6)
    assert [status for _, status, _ in await alerts(world, tenant)] == ["resolved", "raised"]


async def test_a_device_that_was_put_away_is_no_outage(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    clerk = await an_operator(world, tenant.id, email="clerk")
    await say(clerk)
    await clerk.post(f"/bff/v1/sessions/{clerk.session_id}/revoke")
    await sweep(world, 6)

    assert await alerts(world, tenant) == []
    listed = (await admin.get("/bff/v1/devices?status=signed_out")).json()["items"]
    assert [one["device_id"] for one in listed] == [clerk.device_id]

    # One that was out when its operator was signed out is put away too.
    other = await an_operator(world, tenant.id, email="other")
    await say(other)
    await sweep(world, 6)
    await admin.post(
        "/bff/v1/force-logout", {"scope": "device", "target": other.device_id}, attested="session.force_out"
    )
    await sweep(world)
    assert [status for _, status, _ in await alerts(world, tenant)] == ["resolved"]


async def test_two_looks_at_once_notice_an_outage_once(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    await say(admin)
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(OFFLINE_AFTER)

    await asyncio.gather(*(sweep(world) for _ in range(5)))

    assert len(await events(db, "backoffice.device.offline.v1", tenant.id)) == 1


async def test_a_place_moves_from_the_version_that_is_known_and_never_back(admin: SignedIn) -> None:
    path = f"/bff/v1/devices/{admin.device_id}/cursor"
    assert (await admin.get(path)).json()["code"] == "device_not_found"
    await say(admin)
    at_first = await admin.get(path)
    assert (at_first.headers["etag"], at_first.json()["pull_cursor"]) == ('"v0"', None)

    assert (await admin.send("PUT", path, {"pull_cursor": "a"})).status_code == 428
    moved = await admin.send("PUT", path, {"pull_cursor": "a"}, **{"If-Match": '"v0"'})
    assert (moved.headers["etag"], moved.json()) == ('"v1"', {"pull_cursor": "a", "cursor_version": 1})
    late = await admin.send("PUT", path, {"pull_cursor": "before"}, **{"If-Match": '"v0"'})
    assert late.status_code == 412

    at_once = await asyncio.gather(
        *(
            admin.send("PUT", path, {"pull_cursor": f"b{number}"}, **{"If-Match": '"v1"'})
            for number in range(6)
        )
    )
    assert sorted(one.status_code for one in at_once) == [200] + [412] * 5
    assert (await admin.get(path)).json()["cursor_version"] == 2
    assert (await say(admin, "handshake")).json()["pull_cursor"].startswith("b")


async def test_an_acknowledgement_never_goes_back(admin: SignedIn) -> None:
    await say(admin)
    assert (await say(admin, "push-ack", last_event_id=12)).json()["last_push_ack"] == "12"
    assert (await say(admin, "push-ack", last_event_id=9)).json()["last_push_ack"] == "12"


async def test_what_was_queued_offline_is_open_until_the_device_is_through(
    world: HttpWorld, admin: SignedIn, db: Database
) -> None:
    await say(admin)
    hints = [{"kind": "housekeeping.room_done", "count": 3, "resource_ids": ["room-101", "room-102"]}]
    reported = await say(admin, "offline-hints", hints=hints, app_version="4.2.0")
    assert reported.json()["pending_hints"] == hints
    await sweep(world, 1)
    assert (await say(admin, "offline-hints", hints=[], app_version="4.2.0")).json()["pending_hints"] == []

    path = f"/bff/v1/devices/{admin.device_id}/offline-hints"
    kept = (await admin.get(path)).json()["items"]
    assert [one["hints"] for one in kept] == [[], hints]
    async with db.worker() as tx:
        assert await sweep_hints(tx, before=world.clock.now() - HINTS_KEPT, limit=10_000) >= 0
        await sweep_hints(tx, before=world.clock.now() + timedelta(seconds=1), limit=10_000)
    assert (await admin.get(path)).json()["items"] == []


async def test_a_report_that_is_repeated_is_kept_once(admin: SignedIn) -> None:
    await say(admin)
    path = f"/bff/v1/devices/{admin.device_id}/offline-hints"
    report = {"hints": [{"kind": "note", "count": 1}], "app_version": "4.2.0"}
    answers = [await admin.post(path, report, **{"Idempotency-Key": "r1"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200], answers[0].text
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert len((await admin.get(path)).json()["items"]) == 1


@pytest.mark.parametrize(
    "hint",
    [
        {"kind": "note", "count": 1, "text": "Mrs. Noor in 101 wants towels"},
        {"kind": "Mrs. Noor", "count": 1},
        {"kind": "note", "count": 1, "resource_ids": ["Mrs. Noor, room 101"]},
    ],
)
async def test_a_hint_holds_ids_and_counts_alone(admin: SignedIn, hint: dict[str, Any]) -> None:
    await say(admin)
    assert (await say(admin, "offline-hints", hints=[hint], app_version="1")).status_code == 400


async def test_a_device_speaks_for_itself_and_is_seen_by_who_sees_its_property(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    clerk = await an_operator(world, tenant.id, email="clerk", role="tenant.viewer", properties=("hotel-1",))
    assert (await say(clerk, property_id="hotel-2")).json()["code"] == "property_not_found"
    assert (await say(clerk, property_id="hotel-1")).status_code == 200
    assert (await say(admin, property_id="hotel-2")).status_code == 200

    forged = await clerk.post(f"/bff/v1/devices/{admin.device_id}/heartbeat", {})
    assert (forged.status_code, forged.json()["code"]) == (403, "other_device")
    assert (await clerk.get(f"/bff/v1/devices/{admin.device_id}")).json()["code"] == "device_not_found"
    [own] = (await clerk.get("/bff/v1/devices")).json()["items"]
    assert (own["device_id"], own["operator_name"]) == (clerk.device_id, None)
    assert len((await admin.get("/bff/v1/devices")).json()["items"]) == 2
    platform = await an_operator(world, None)
    assert (await say(platform)).json()["code"] == "platform_device"
    other = await an_operator(world, (await world.tenant()).id)
    assert (await other.get(f"/bff/v1/devices/{admin.device_id}")).status_code == 404
