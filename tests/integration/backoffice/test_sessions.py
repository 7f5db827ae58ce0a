"""A session is bound to its device, ends everywhere within a second, and proves what changes something."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_over
from tests.support.operators import AtBrowser, SignedIn, an_operator, quick_passwords, signed_in
from tests.support.postgres import TestDatabase
from tests.support.system import now_clock, system_over
from tidings.backoffice.sessions import store
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.model import Tenant

BOTH = ("tidings_session", "tidings_device")


async def events(db: Database, subject: str, tenant_id: TenantId | None) -> list[str]:
    """The payloads of such events in the outbox."""
    async with db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT payload FROM bff_backoffice.outbox WHERE subject = $1 AND tenant_id IS NOT DISTINCT FROM $2 ORDER BY seq",
            subject,
            tenant_id,
        )
    return [row["payload"] for row in rows]


async def audited(
    world: HttpWorld, tenant_id: TenantId | None, entity_type: str
) -> list[tuple[str, str | None]]:
    async with world.db.scoped(tenant_id) as tx:
        rows = await world.system.kernel.backoffice_audit.read_recent(tx, entity_type=entity_type)
    return [(row.action, row.after) for row in rows]


@pytest.mark.parametrize("theirs", ["none", "made up", "of another device"])
async def test_a_session_on_another_device_is_refused_and_ended(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database, theirs: str
) -> None:
    thief = admin.browser.copy("tidings_session")
    if theirs == "made up":
        thief.plant("tidings_device", f"{admin.device_id}.{'A' * 43}")
    elif theirs == "of another device":
        other = await an_operator(world, tenant.id, email="other")
        thief.plant("tidings_device", other.browser.cookie("tidings_device") or "")

    refused = await thief.client.get("/bff/v1/session")

    assert refused.status_code == 401
    assert refused.json()["code"] == "session_of_another_device"
    # The rightful owner is signed out too: nobody can tell which of the two they are.
    assert (await admin.get("/bff/v1/session")).json()["code"] == "session_ended"
    assert (
        "came from another device"
        in (await admin.browser.copy("tidings_session").open("/console/sign-in?device")).text
    )
    told = await events(db, "backoffice.session.revoked.v1", tenant.id)
    assert '"reason":"other_device"' in told[-1]
    assert any("other_device" in (after or "") for _, after in await audited(world, tenant.id, "session"))


async def test_a_token_that_was_guessed_ends_nothing(world: HttpWorld, admin: SignedIn) -> None:
    guess = admin.browser.copy("tidings_device")
    guess.plant("tidings_session", f"{admin.session_id}.{'A' * 43}")

    assert (await guess.client.get("/bff/v1/session")).status_code == 401
    assert (await admin.get("/bff/v1/session")).status_code == 200


async def test_a_new_sign_in_on_the_device_ends_the_one_before(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    before = admin.browser.copy(*BOTH)

    again = await admin.who.sign_in(admin.browser)

    assert again.device_id == admin.device_id
    assert (await before.client.get("/bff/v1/session")).status_code == 401
    assert '"reason":"replaced"' in (await events(db, "backoffice.session.revoked.v1", tenant.id))[-1]


async def test_who_only_says_to_be_a_device_is_a_new_one(world: HttpWorld, admin: SignedIn) -> None:
    """Else a stranger who signs in could end the sessions of others."""
    at = AtBrowser(world)
    at.plant("tidings_device", f"{admin.device_id}.{'A' * 43}")

    again = await admin.who.sign_in(at)

    assert again.device_id != admin.device_id
    assert (await admin.get("/bff/v1/session")).status_code == 200


async def test_another_tenant_on_the_same_browser_ends_the_session_there(
    world: HttpWorld, admin: SignedIn
) -> None:
    other = await an_operator(world, (await world.tenant()).id)
    before = admin.browser.copy(*BOTH)

    again = await other.who.sign_in(admin.browser)

    assert again.device_id != admin.device_id
    assert (await before.client.get("/bff/v1/session")).status_code == 401


async def test_a_session_ends_after_twelve_hours_however_busy(admin: SignedIn) -> None:
    clock = admin.who.world.clock
    assert isinstance(clock, ManualClock)
    for _ in range(11):
        await clock.advance(timedelta(hours=1))
        assert (await admin.get("/bff/v1/session")).status_code == 200
    await clock.advance(timedelta(hours=1))

    ended = await admin.get("/bff/v1/session")

    assert (ended.status_code, ended.json()["code"]) == (401, "session_ended")


async def test_own_sessions_are_listed_and_ended(world: HttpWorld, admin: SignedIn) -> None:
    second = await admin.who.sign_in()

    shown = (await admin.get("/bff/v1/sessions")).json()["items"]
    assert [(one["id"], one["is_own"]) for one in shown] == [
        (second.session_id, False),
        (admin.session_id, True),
    ]
    assert (await admin.post(f"/bff/v1/sessions/{second.session_id}/revoke")).status_code == 204

    assert (await second.get("/bff/v1/session")).status_code == 401
    assert (await admin.get("/bff/v1/session")).status_code == 200
    gone = await admin.post(f"/bff/v1/sessions/{second.session_id}/revoke", attested="session.force_out")
    assert gone.json()["code"] == "session_not_found"


async def test_others_sessions_need_the_scope_and_an_attestation(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="v")

    path = f"/bff/v1/sessions/{viewer.session_id}/revoke"
    assert (await admin.post(path)).json()["code"] == "attestation_required"
    backwards = await viewer.post(f"/bff/v1/sessions/{admin.session_id}/revoke", attested="session.force_out")
    assert backwards.json()["code"] == "missing_scope"
    assert (await viewer.get("/bff/v1/sessions?operator_id=all")).json()["code"] == "missing_scope"
    shown = (await admin.get("/bff/v1/sessions?operator_id=all")).json()["items"]
    assert {one["operator_id"] for one in shown} == {viewer.who.id, admin.who.id}

    assert (await admin.post(path, attested="session.force_out")).status_code == 204
    assert (await viewer.get("/bff/v1/session")).status_code == 401


async def test_force_logout_of_an_operator_a_device_and_the_tenant(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    other = await an_operator(world, tenant.id, role="tenant.viewer", email="v")
    for scope, target in (("operator", other.who.id), ("device", None), ("tenant", None)):
        again = await other.who.sign_in()
        body = {"scope": scope}
        if scope != "tenant":
            body["target"] = target or again.device_id
        answer = await admin.post("/bff/v1/force-logout", body, attested="session.force_out")
        assert answer.status_code == 200, answer.text
        assert answer.json()["sessions"] >= 1
        assert (await again.get("/bff/v1/session")).status_code == 401
    assert (await admin.get("/bff/v1/session")).status_code == 200, "whoever asks stays"
    told = await events(db, "backoffice.force_logout.v1", tenant.id)
    assert [one.partition('"scope":"')[2].partition('"')[0] for one in told] == [
        "operator",
        "device",
        "tenant",
    ]
    assert len(await audited(world, tenant.id, "force_logout")) == 3


async def test_own_other_sessions_end_without_an_attestation(admin: SignedIn) -> None:
    second = await admin.who.sign_in()

    answer = await admin.post("/bff/v1/force-logout", {"scope": "operator", "target": admin.who.id})

    assert answer.json() == {"sessions": 1}
    assert (await second.get("/bff/v1/session")).status_code == 401
    assert (await admin.get("/bff/v1/session")).status_code == 200


async def test_everybody_is_the_platforms_to_force_out(world: HttpWorld, admin: SignedIn) -> None:
    refused = await admin.post("/bff/v1/force-logout", {"scope": "all"}, attested="session.force_out")
    assert refused.status_code == 403
    mail = f"platform.{admin.who.id[-8:].lower()}@example.com"
    platform = await an_operator(world, None, email=mail)

    done = await platform.post("/bff/v1/force-logout", {"scope": "all"}, attested="session.force_out")

    assert done.json()["sessions"] >= 1
    assert (await admin.get("/bff/v1/session")).status_code == 401
    assert (await platform.get("/bff/v1/session")).status_code == 200


@pytest.mark.parametrize("proof", ["no token", "token of another session", "another site", "another origin"])
async def test_what_changes_something_proves_that_our_page_sent_it(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, proof: str
) -> None:
    headers = {"X-CSRF-Token": admin.csrf}
    if proof == "no token":
        headers = {}
    elif proof == "token of another session":
        headers = {"X-CSRF-Token": (await an_operator(world, tenant.id, email="o")).csrf}
    elif proof == "another site":
        headers["Sec-Fetch-Site"] = "cross-site"
    else:
        headers["Origin"] = "https://evil.example"
    body = {"name": "A key", "role": "tenant.viewer"}

    refused = await admin.browser.client.post("/api/v1/api-keys", json=body, headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_refused")
    page = await admin.browser.client.post(
        "/console/sign-out", data={"csrf": headers.get("X-CSRF-Token", "")}, headers=headers
    )
    assert page.status_code == 403
    assert (await admin.get("/bff/v1/session")).status_code == 200


async def test_a_session_does_at_the_api_what_a_key_of_the_role_does(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    own = await admin.get("/api/v1/tenant")
    assert own.json()["tenant"]["id"] == tenant.id
    body = {"name": "By hand", "role": "tenant.viewer"}
    made = await admin.post("/api/v1/api-keys", body, attested="api_key.make")
    assert made.status_code == 201, made.text
    assert made.json()["key"]["created_by"] == admin.who.id
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="v")
    assert (await viewer.get("/api/v1/templates")).status_code == 200
    assert (await viewer.post("/api/v1/api-keys", body)).json()["code"] == "missing_scope"
    assert (await admin.get("/internal/v1/tenants")).status_code == 403


async def test_a_key_counts_before_a_cookie(world: HttpWorld, admin: SignedIn) -> None:
    other = await world.tenant()
    _, carried = await world.key(other.id)

    own = await admin.get("/api/v1/tenant", Authorization=f"Bearer {carried}")

    assert own.json()["tenant"]["id"] == other.id


async def test_a_platform_operator_acts_for_a_tenant_and_it_is_audited(
    world: HttpWorld, tenant: Tenant
) -> None:
    platform = await an_operator(world, None, email=f"p.{tenant.id[-8:].lower()}@example.com")

    assert (await platform.get("/internal/v1/tenants")).status_code == 200
    named = await platform.get("/api/v1/tenant", **{"X-Tenant-Id": tenant.id})

    assert named.json()["tenant"]["id"] == tenant.id
    async with world.db.tenant(tenant.id) as tx:
        rows = await world.system.kernel.audit.read_recent(tx, entity_type="platform_access")
    assert [(row.action, row.actor) for row in rows] == [("platform.acted", platform.who.id)]


async def test_the_answer_to_an_operators_key_is_no_answer_for_another(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    other = await an_operator(world, tenant.id, email="o")
    body = {"name": "Twice", "role": "tenant.viewer"}
    first = await admin.post("/api/v1/api-keys", body, attested="api_key.make", **{"Idempotency-Key": "same"})

    second = await other.post(
        "/api/v1/api-keys", body, attested="api_key.make", **{"Idempotency-Key": "same"}
    )

    assert second.status_code == 201
    assert second.json()["key"]["id"] != first.json()["key"]["id"]


async def test_what_is_long_over_is_swept(world: HttpWorld, admin: SignedIn, db: Database) -> None:
    await admin.attest("operator.invite")
    clock = world.clock
    assert isinstance(clock, ManualClock)
    sweeps = world.system.backoffice.sweeps()
    await clock.advance(timedelta(days=29))
    await sweeps["operator_sessions"](10_000)
    assert await _is_there(db, admin)
    await clock.advance(timedelta(days=2))

    for name in ("operator_attestations", "operator_sessions"):
        assert await sweeps[name](10_000) >= 1
    assert not await _is_there(db, admin)
    await clock.advance(timedelta(days=400))
    assert await sweeps["operator_devices"](10_000) >= 1


async def _is_there(db: Database, admin: SignedIn) -> bool:
    async with db.platform() as tx:
        return bool(await store.find_any_sessions(tx, [admin.session_id]))  # type: ignore[list-item]


async def test_an_end_reaches_another_process_though_its_cache_is_warm(fresh_database: TestDatabase) -> None:
    """The clocks of both stand: nothing but the announcement can have told the other process."""
    clock = now_clock()
    async with (
        system_over(fresh_database, clock=clock) as here,
        system_over(fresh_database, clock=clock) as there,
    ):
        first, second = http_over(here), http_over(there)
        quick_passwords(first)
        tenant = await first.tenant("acme")
        admin = await an_operator(first, tenant.id)
        stop = asyncio.Event()
        jobs = [asyncio.create_task(one.kernel.bus.wakeups.run(stop)) for one in (here, there)]
        try:
            async with asyncio.timeout(10):
                while not (here.kernel.changes.live and there.kernel.changes.live):
                    await asyncio.sleep(0.01)
            elsewhere = AtBrowser(second)
            for name in BOTH:
                elsewhere.plant(name, admin.browser.cookie(name) or "")
            assert (await signed_in(admin.who, elsewhere)).session_id == admin.session_id
            await admin.post(f"/bff/v1/sessions/{admin.session_id}/revoke")
            async with asyncio.timeout(1):
                while (await elsewhere.client.get("/bff/v1/session")).status_code != 401:
                    await asyncio.sleep(0.01)
        finally:
            stop.set()
            await asyncio.gather(*jobs)


async def test_a_page_over_another_scheme_is_another_site(admin: SignedIn) -> None:
    sent = {"X-CSRF-Token": admin.csrf}
    own = await admin.browser.client.post(
        "/bff/v1/force-logout",
        json={"scope": "operator", "target": admin.who.id},
        headers={**sent, "Origin": "http://localhost"},
    )
    other = await admin.browser.client.post(
        "/bff/v1/force-logout",
        json={"scope": "operator", "target": admin.who.id},
        headers={**sent, "Origin": "https://localhost"},
    )

    assert own.status_code == 200
    assert other.json()["code"] == "csrf_refused"


async def test_an_id_that_is_none_is_told_on_a_page(admin: SignedIn) -> None:
    for path in ("/console/operators/not-an-id", "/console/account/sessions/not-an-id/revoke"):
        await admin.browser.open("/console/operators")
        answer = await admin.browser.post(path, do="disable", role="tenant.viewer")
        assert (answer.status_code, answer.headers["content-type"]) == (400, "text/html; charset=utf-8")


async def test_the_cookie_of_a_device_lasts_anew_with_each_sign_in(admin: SignedIn) -> None:
    at, before = admin.browser, admin.browser.cookie("tidings_device")
    again = await admin.who.sign_in(at)

    assert again.device_id == admin.device_id
    assert at.cookie("tidings_device") == before
    assert at.last is not None
    renewed = [line for line in at.last.headers.get_list("set-cookie") if line.startswith("tidings_device=")]
    assert len(renewed) == 1
    assert f"Max-Age={400 * 24 * 3600}" in renewed[0]


async def test_a_session_that_was_over_is_not_told_to_be_replaced(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    clock = world.clock
    assert isinstance(clock, ManualClock)
    told = await events(db, "backoffice.session.revoked.v1", tenant.id)
    await clock.advance(timedelta(hours=13))
    again = await admin.who.sign_in(admin.browser)
    assert again.device_id == admin.device_id
    assert await events(db, "backoffice.session.revoked.v1", tenant.id) == told

    await admin.who.sign_in(admin.browser)
    [replaced] = (await events(db, "backoffice.session.revoked.v1", tenant.id))[len(told) :]
    assert again.session_id in str(replaced)
