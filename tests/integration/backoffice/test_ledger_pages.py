"""Pages of what operators left behind: the activity ledger, exports, notes, locks."""

from collections.abc import AsyncIterator

import pytest

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.upstreams import HOTEL, fault, running_simulator
from tidings.backoffice.notes.model import NewNote
from tidings.backoffice.notes.notes import Notes
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator


@pytest.fixture
async def simulator(world: HttpWorld) -> AsyncIterator[PropertySimulator]:
    async with running_simulator(world.clock, world.system) as running:
        yield running


async def test_the_ledger_is_shown_with_filters_in_the_address(admin: SignedIn) -> None:
    at = admin.browser
    await admin.get("/bff/v1/operators")
    await admin.get("/bff/v1/locks/actions?property_id=a%20b")
    all_ = (await at.open("/console/activity")).text
    assert "list_operators" in all_
    assert "list_lock_actions" in all_
    assert "Laila Noor" in all_
    refused = (await at.open("/console/activity?outcome=refused")).text.split("<table")[1]
    assert "list_lock_actions" in refused
    assert "list_operators" not in refused
    assert "No request fits these filters" in (await at.open("/console/activity?action=nothing")).text
    wrong = await at.open("/console/activity?since=2026-11-20&until=2026-11-19")
    assert wrong.status_code == 400
    assert 'id="since-error"' in wrong.text
    assert "Nothing is exported yet" in (await at.open("/console/activity/exports")).text


async def test_a_viewer_is_led_to_no_ledger(world: HttpWorld, tenant: Tenant) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="v")
    for path in ("/console/activity", "/console/notes", "/console/locks"):
        assert (await viewer.browser.open(path)).status_code == 403
    home = (await viewer.browser.open("/console/account")).text
    assert "/console/activity" not in home
    assert "/console/notes" not in home


async def test_a_note_is_redacted_by_a_code(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    at = admin.browser
    assert "Nobody has written a note" in (await at.open("/console/notes")).text
    note = NewNote(
        kind="alert_ack", about_id="ali_1", property_id=None, written_by=admin.who.id, text="Mrs <Karimi>"
    )
    async with world.db.tenant(tenant.id) as tx:
        [note_id] = await world.system.backoffice.parts.get(Notes).write(tx, [note])
    assert "Mrs &lt;Karimi&gt;" in (await at.open("/console/notes")).text

    wrong = await at.post(f"/console/notes/{note_id}/redact", code="000000")
    assert wrong.status_code == 403
    assert "Mrs &lt;Karimi&gt;" in wrong.text
    await at.post(f"/console/notes/{note_id}/redact", code=await admin.who.code())

    assert "The note is redacted." in at.html
    assert "Karimi" not in at.html


async def test_a_key_is_issued_and_revoked_on_the_page(admin: SignedIn, simulator: PropertySimulator) -> None:
    at = admin.browser
    found = (await admin.get(f"/bff/v1/properties/{HOTEL}/workbench/in-house")).json()
    reservation = found["stays"][0]["reservation_id"]
    assert "Kabul Garden Hotel" in (await at.open("/console/locks")).text
    await at.open(f"/console/locks/find?property={HOTEL}&reservation={reservation}")
    page = f"/console/locks/{HOTEL}/{reservation}"
    assert f"Keys of {reservation}" in at.html

    wrong = await at.post(f"{page}/issue", credential="pin", code="000000")
    assert wrong.status_code == 403
    assert "open" in wrong.text.partition('action="' + page + '/issue"')[0].rpartition("<details")[2]
    await at.open(page)
    await at.post(f"{page}/issue", credential="pin", code=await admin.who.code())
    assert "The key is issued." in at.html, at.html
    await at.post(f"{page}/rebind", room="nowhere", code=await admin.who.code())
    assert "room_not_found" in at.html
    await at.post(f"{page}/revoke", code=await admin.who.code())
    assert "All keys are revoked." in at.html
    listed = (await at.open(f"/console/locks?reservation_id={reservation}&outcome=failure")).text
    assert "room_not_found" in listed.split("<table")[1]
    assert (await at.open("/console/locks?property_id=a%20b")).status_code == 400


async def test_without_the_lock_service_the_page_says_so(
    admin: SignedIn, simulator: PropertySimulator
) -> None:
    fault(simulator, "close", "locks")
    shown = await admin.browser.open(f"/console/locks/{HOTEL}/r-1")

    assert shown.status_code == 200
    assert "The lock service does not answer right now" in shown.text
    assert "Nothing was done yet" in shown.text
