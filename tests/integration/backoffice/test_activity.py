"""Every request of an operator has its row in the ledger before its answer arrives."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.activity import a_request, an_activity
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.backoffice.activity.record import ActivityRecorder
from tidings.backoffice.activity.store import insert_activity
from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.kernel.db import Database
from tidings.kernel.journal.journal import Journal
from tidings.notify.tenants.model import Tenant


async def ledger(who: SignedIn, **query: str) -> list[dict[str, Any]]:
    """What the ledger says, but for reading the ledger and what the test's sign-in did."""
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    answer = await who.get(f"/bff/v1/activity?limit=200&{asked}")
    assert answer.status_code == 200, answer.text
    return [row for row in answer.json()["items"] if row["action"] != "list_activity"]


async def test_requests_and_refusals_are_recorded(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="v", properties=("kabul",))
    me = viewer.who.id
    assert (await viewer.get("/bff/v1/operators")).status_code == 403
    missing = f"/bff/v1/operators/oper_{'0' * 26}"
    assert (await admin.get(missing)).status_code == 404
    bad = await admin.post("/bff/v1/operators", {"name": "x"})
    assert (await admin.post(f"/bff/v1/operators/{me}/disable")).status_code == 403
    assert (
        await admin.post(f"/bff/v1/operators/{me}/disable", attested="operator.status")
    ).status_code == 200
    assert (await viewer.get("/bff/v1/session")).status_code == 401

    rows = await ledger(admin)

    seen = {(row["action"], row["outcome"], row["status"], row["error_code"]) for row in rows}
    assert seen >= {
        ("show_own_session", "refused", 401, "session_ended"),
        ("disable_operator", "success", 200, None),
        ("make_attestation", "success", 201, None),
        ("disable_operator", "refused", 403, "attestation_required"),
        ("invite_operator", "refused", 400, bad.json()["code"]),
        ("show_operator", "refused", 404, "operator_not_found"),
        ("list_operators", "refused", 403, "missing_scope"),
    }, seen
    (newest,) = [row for row in rows if row["status"] == 401]
    assert (newest["operator_id"], newest["session_id"]) == (me, viewer.session_id)
    assert (newest["device_id"], newest["category"]) == (viewer.device_id, "sessions")
    (disabled,) = [row for row in rows if row["action"] == "disable_operator" and row["outcome"] == "success"]
    assert (disabled["resource_kind"], disabled["resource_id"]) == ("operators", me)
    assert all(row["latency_ms"] >= 0 and len(row["context_hash"]) > 40 for row in rows)
    assert {row["context_hash"] for row in rows} == {newest["context_hash"]}
    by_viewer = await ledger(admin, operator_id=me, outcome="refused")
    assert {row["action"] for row in by_viewer} == {"show_own_session", "list_operators"}


async def test_a_wrong_token_is_nobodys_request(admin: SignedIn, world: HttpWorld, db: Database) -> None:
    before = len(await ledger(admin))
    stranger = admin.browser.copy()
    assert (await stranger.client.get("/bff/v1/session")).status_code == 401

    assert len(await ledger(admin)) == before


async def test_a_page_has_one_row_and_its_changes_have_theirs(admin: SignedIn) -> None:
    await admin.browser.open("/console/operators")
    await admin.browser.post(
        "/console/operators",
        name="Zia",
        email="zia@example.com",
        role="tenant.viewer",
        code=await admin.who.code(),
    )

    rows = await ledger(admin)

    actions = [(row["category"], row["action"], row["outcome"]) for row in rows]
    assert actions.count(("console", "show_operators", "success")) == 1
    assert actions.count(("console", "invite", "success")) == 1
    assert not {action for category, action, _ in actions if category == "operators"}


async def test_an_open_page_that_asks_itself_anew_is_recorded_once(admin: SignedIn) -> None:
    for _ in range(3):
        await admin.browser.client.get("/console/operators", headers={"x-live": "1"})

    rows = [row for row in await ledger(admin, category="console") if row["action"] == "show_operators"]

    assert len(rows) == 1


async def test_of_other_properties_only_own_rows_are_shown(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    clerk = await an_operator(world, tenant.id, role="tenant.support", email="c", properties=("kabul",))
    assert (await admin.get("/bff/v1/activity?property_id=herat")).status_code == 200
    assert (await admin.get("/bff/v1/activity?property_id=kabul")).status_code == 200
    refused = await clerk.get("/bff/v1/activity?property_id=herat")
    assert (refused.status_code, refused.json()["code"]) == (404, "property_not_found")

    rows = (await clerk.get("/bff/v1/activity?action=list_activity")).json()["items"]

    assert {(row["operator_id"], row["property_id"]) for row in rows} == {
        (clerk.who.id, "herat"),
        (admin.who.id, "kabul"),
        *({(admin.who.id, None)} if any(row["property_id"] is None for row in rows) else set()),
    }
    assert (
        len((await clerk.get("/bff/v1/activity?property_id=kabul&action=list_activity")).json()["items"]) == 1
    )


async def test_a_rare_row_is_found_page_by_page(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    """A request looks at some thousands of rows, however many there are: the reader is told where to go on."""
    now = world.clock.now()
    rows = [an_activity(tenant.id, now - timedelta(milliseconds=10 * n)) for n in range(21_000)]
    rows[-1] = replace(rows[-1], property_id="herat")
    for first in range(0, len(rows), 3_000):
        async with db.tenants({tenant.id}) as tx:
            await insert_activity(tx, rows[first : first + 3_000])

    first_page = (await admin.get("/bff/v1/activity?property_id=herat&outcome=success")).json()
    assert first_page["next_cursor"] is not None
    assert rows[-1].id not in {row["id"] for row in first_page["items"]}
    assert (
        "older ones may fit"
        in (await admin.browser.open("/console/activity?property_id=herat&action=list_operators")).text
    )
    cursor = first_page["next_cursor"]
    second = (await admin.get(f"/bff/v1/activity?property_id=herat&outcome=success&cursor={cursor}")).json()
    assert [row["id"] for row in second["items"]] == [rows[-1].id]
    assert second["next_cursor"] is None
    of_one = (await admin.get("/bff/v1/activity?operator_id=oper_" + "0" * 26)).json()
    assert of_one == {"items": [], "next_cursor": None}


async def test_no_tenant_reads_anothers_ledger(world: HttpWorld, admin: SignedIn) -> None:
    other = await an_operator(world, (await world.tenant()).id)

    assert {row["operator_id"] for row in await ledger(other)} == {other.who.id}
    assert {row["operator_id"] for row in await ledger(admin)} == {admin.who.id}


@pytest.mark.parametrize(
    "path", ["?since=2026-11-20T00:00:00Z&until=2026-11-19T00:00:00Z", "?operator_id=laila"]
)
async def test_what_is_asked_for_wrongly_is_refused_by_its_name(admin: SignedIn, path: str) -> None:
    answer = await admin.get(f"/bff/v1/activity{path}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] in path


async def test_the_platforms_own_requests_are_recorded_apart(world: HttpWorld, tenant: Tenant) -> None:
    support = await an_operator(world, None, role="platform.support", email="reads.activity@example.com")
    assert (await support.get("/internal/v1/tenants")).status_code == 200
    assert (await support.get("/bff/v1/operators", **{"X-Tenant-Id": tenant.id})).status_code == 200

    own = await ledger(support)
    theirs = (await support.get("/bff/v1/activity", **{"X-Tenant-Id": tenant.id})).json()["items"]

    assert "list_tenants" in [row["action"] for row in own]
    assert "list_operators" not in [row["action"] for row in own]
    assert [row["action"] for row in theirs] == ["list_operators"]


async def test_rows_of_an_outage_and_of_a_killed_process_are_written_later(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, tmp_path: Path
) -> None:
    """While the database is away the disk takes them; what a kill leaves there is written by whoever comes next, once."""
    away = Database("postgresql://nobody@127.0.0.1:1/none")
    pepper, kms = world.system.backoffice.parts.get(OperatorPepper), world.system.kernel.kms

    def recorder(db: Database, name: str) -> ActivityRecorder:
        journal = Journal(tmp_path, kms, name=lambda: name, monotonic=lambda: 0.0)
        return ActivityRecorder(db, pepper, journal, clock=world.clock, metrics=world.system.kernel.metrics)

    killed, living = recorder(away, "killed"), recorder(world.db, "living")
    for _ in range(3):
        await killed.note(a_request(tenant.id, admin.who.id))
    assert await killed.write_left() == 0
    assert await living.write_left() == 0, "a living process writes its own"
    # As a kill does: the lock goes, and nothing is settled.
    assert killed._journal._file is not None
    killed._journal._file.close()

    assert await living.write_left() == 3
    assert await living.write_left() == 0

    rows = await ledger(admin, outcome="failure")
    assert [(row["status"], row["error_code"], row["latency_ms"]) for row in rows] == [
        (503, "database_unavailable", 250)
    ] * 3
    assert list(tmp_path.iterdir()) == []
