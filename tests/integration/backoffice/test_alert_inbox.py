"""Operators see their alerts, acknowledge them with a note, take that back, resolve them and mute what they know."""

import asyncio
from datetime import timedelta
from typing import Any

from tests.integration.backoffice.test_alerts import an_alert, raised, resolved
from tests.integration.backoffice.test_sessions import audited, events
from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.backoffice.alerts.model import NewAlert
from tidings.notify.tenants.model import Tenant

ALERTS = "/bff/v1/alerts"


async def listed(who: SignedIn, **query: str) -> list[dict[str, Any]]:
    answer = await who.get(ALERTS + "?" + "&".join(f"{key}={value}" for key, value in query.items()))
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


async def counts(who: SignedIn) -> dict[str, int]:
    return dict((await who.get(f"{ALERTS}/counts")).json())


def of_property(property_id: str, key: str = "device_offline:dvc_9") -> NewAlert:
    return NewAlert(
        dedup_key=key, category="device_offline", severity="info", property_id=property_id, source="devices"
    )


async def test_alerts_are_listed_filtered_and_paged(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await raised(world, tenant.id, an_alert(device_id="dvc_1"))
    await raised(world, tenant.id, an_alert("circuit_open:a", "critical"), of_property("herat"))
    await resolved(world, tenant.id, "circuit_open:a")

    assert {one["category"] for one in await listed(admin)} == {"device_offline"}
    assert [one["status"] for one in await listed(admin, status="resolved")] == ["resolved"]
    assert len(await listed(admin, status="all")) == 3
    assert [one["facts"] for one in await listed(admin, severity="warning")] == [{"device_id": "dvc_1"}]
    assert [one["severity"] for one in await listed(admin, property_id="herat")] == ["info"]
    assert await listed(admin, category="circuit_open") == []

    first = (await admin.get(f"{ALERTS}?status=all&limit=2")).json()
    second = (await admin.get(f"{ALERTS}?status=all&limit=2&cursor={first['next_cursor']}")).json()
    assert len({one["id"] for one in first["items"] + second["items"]}) == 3
    assert second["next_cursor"] is None
    assert (await admin.get(f"{ALERTS}?severity=grave")).status_code == 400
    assert (await admin.get(f"{ALERTS}/{first['items'][0]['id']}")).json()["id"] == first["items"][0]["id"]


async def test_several_acknowledge_each_once_and_take_it_back(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    support = await an_operator(world, tenant.id, email="support", role="tenant.support")
    [alert] = await raised(world, tenant.id, an_alert())
    at = f"{ALERTS}/{alert.id}"

    note = "The guest of 12 has unplugged it; reception asks. " + "x" * 300
    first = (await admin.send("POST", f"{at}/acknowledge", {"note": note})).json()
    again = (await admin.send("POST", f"{at}/acknowledge", {"note": "another"})).json()
    other = (await support.send("POST", f"{at}/acknowledge")).json()

    assert (first["status"], len(first["acknowledgements"][0]["note"])) == ("acknowledged", 200)
    assert again["acknowledgements"] == first["acknowledgements"]
    assert [one["is_own"] for one in other["acknowledgements"]] == [False, True]
    assert other["acknowledgements"][0]["operator_name"] == admin.who.name
    assert len(await events(world.db, "backoffice.alert.acknowledged.v1", tenant.id)) == 2
    async with world.db.tenant(tenant.id) as tx:
        stored = await tx.connection.fetch("SELECT * FROM bff_backoffice.notes, bff_backoffice.alert_ack_log")
    assert "unplugged" not in str([dict(row) for row in stored])

    back = (await admin.send("POST", f"{at}/withdraw-acknowledgement")).json()
    assert (back["status"], len(back["acknowledgements"])) == ("acknowledged", 1)
    back = (await support.send("POST", f"{at}/withdraw-acknowledgement")).json()
    assert (back["status"], back["acknowledgements"], back["acknowledged_at"]) == ("raised", [], None)
    assert (await support.send("POST", f"{at}/withdraw-acknowledgement")).json()["status"] == "raised"
    told = await events(world.db, "backoffice.alert.acknowledgement_withdrawn.v1", tenant.id)
    assert ['"is_raised_again":true' in one for one in told] == [False, True]
    assert (await admin.send("POST", f"{at}/acknowledge")).json()["acknowledgements"][0]["note"] is None

    ended = (await support.send("POST", f"{at}/resolve")).json()
    assert (ended["status"], ended["resolved_by"], ended["resolved_by_name"]) == (
        "resolved",
        support.who.id,
        support.who.name,
    )
    late = await admin.send("POST", f"{at}/acknowledge")
    assert (late.status_code, late.json()["code"]) == (409, "alert_resolved")
    actions = [action for action, _ in await audited(world, tenant.id, "alert")]
    assert sorted(actions) == sorted(["acknowledged"] * 3 + ["acknowledgement.withdrawn"] * 2 + ["resolved"])


async def test_two_clicks_at_once_acknowledge_once(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    [alert] = await raised(world, tenant.id, an_alert())

    answers = await asyncio.gather(
        *(admin.send("POST", f"{ALERTS}/{alert.id}/acknowledge", {"note": "mine"}) for _ in range(4))
    )

    assert {answer.status_code for answer in answers} == {200}
    assert len(await events(world.db, "backoffice.alert.acknowledged.v1", tenant.id)) == 1
    async with world.db.tenant(tenant.id) as tx:
        assert await tx.connection.fetchval("SELECT count(*) FROM bff_backoffice.notes") == 1


async def test_badges_count_what_one_may_see_and_never_what_one_just_changed(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    of_kabul = await an_operator(world, tenant.id, email="kabul", properties=("kabul",))
    [alert] = await raised(world, tenant.id, an_alert("circuit_open:a", "critical"))
    await raised(world, tenant.id, of_property("herat"))

    assert (await counts(admin))["open"] == 2
    assert (await counts(of_kabul)) == {
        "open": 1, "unacknowledged": 1, "critical": 1, "warning": 0, "info": 0, "muted": 0,
    }  # fmt: skip
    assert len(await listed(of_kabul)) == 1
    assert (await of_kabul.get(f"{ALERTS}?property_id=herat")).json()["code"] == "property_not_found"
    hidden = (await listed(admin, property_id="herat"))[0]["id"]
    assert (await of_kabul.get(f"{ALERTS}/{hidden}")).json()["code"] == "alert_not_found"
    assert (await of_kabul.send("POST", f"{ALERTS}/{hidden}/resolve")).status_code == 404

    await admin.send("POST", f"{ALERTS}/{alert.id}/acknowledge")
    assert (await counts(admin))["unacknowledged"] == 1
    await admin.send("POST", f"{ALERTS}/{alert.id}/resolve")
    assert (await counts(of_kabul))["open"] == 0


async def test_a_muted_category_is_listed_and_not_counted_until_its_time(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await raised(world, tenant.id, an_alert())
    assert (await counts(admin))["open"] == 1

    muted = await admin.send("PUT", f"{ALERTS}/mutes/device_offline", {"minutes": 60})
    assert muted.status_code == 204, muted.text
    assert (await counts(admin))["open"] == 0
    assert (await counts(admin))["muted"] == 1
    assert (await listed(admin))[0]["muted_until"] is not None
    [mute] = (await admin.get(f"{ALERTS}/mutes")).json()["items"]
    assert (mute["category"], mute["muted_by"]) == ("device_offline", admin.who.id)

    clock = world.clock
    assert isinstance(clock, ManualClock)
    await clock.advance(timedelta(minutes=61))
    assert (await counts(admin))["open"] == 1
    await admin.send("PUT", f"{ALERTS}/mutes/device_offline", {"minutes": 60})
    await admin.send("DELETE", f"{ALERTS}/mutes/device_offline")
    assert (await counts(admin))["open"] == 1
    assert (await admin.send("PUT", f"{ALERTS}/mutes/Device Offline", {"minutes": 60})).status_code == 400
    assert [action for action, _ in await audited(world, tenant.id, "alert_mute")].count("muted") == 2


async def test_viewers_read_and_change_nothing(world: HttpWorld, tenant: Tenant) -> None:
    viewer = await an_operator(world, tenant.id, email="viewer", role="tenant.viewer")
    [alert] = await raised(world, tenant.id, an_alert())

    assert len(await listed(viewer)) == 1
    refused = await viewer.send("POST", f"{ALERTS}/{alert.id}/acknowledge")
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")


async def test_the_platform_has_alerts_of_its_own(world: HttpWorld, tenant: Tenant) -> None:
    platform = await an_operator(world, None, email="of.alerts")
    [alert] = await raised(world, None, an_alert(f"outbox_lag:{tenant.id}", "critical"))
    [theirs] = await raised(world, tenant.id, an_alert())
    at = f"{ALERTS}/{alert.id}"

    assert alert.id in [one["id"] for one in await listed(platform)]
    assert (await platform.get(f"{ALERTS}/{theirs.id}")).status_code == 404
    with_note = await platform.send("POST", f"{at}/acknowledge", {"note": "mine"})
    assert with_note.json()["errors"][0]["field"] == "note"
    done = (await platform.send("POST", f"{at}/acknowledge")).json()
    assert [one["operator_name"] for one in done["acknowledgements"]] == [platform.who.name]
    # For a tenant, they see its alerts.
    seen = await platform.get(ALERTS, **{"X-Tenant-Id": tenant.id})
    assert [one["id"] for one in seen.json()["items"]] == [theirs.id]
    key = {"X-Tenant-Id": tenant.id}
    taken = await platform.send("POST", f"{ALERTS}/{theirs.id}/acknowledge", {"note": "ours"}, **key)
    assert taken.json()["acknowledgements"][0]["operator_name"] is None


async def test_an_api_key_is_no_operator(world: HttpWorld, tenant: Tenant) -> None:
    [alert] = await raised(world, tenant.id, an_alert())

    async with world.as_tenant(tenant.id) as key:
        for answer in (await key.get(ALERTS), await key.post(f"{ALERTS}/{alert.id}/acknowledge")):
            assert (answer.status_code, answer.json()["code"]) == (403, "operators_only")
