"""Operators change settings, make keys, read and verify the audit, and see what was spent."""

import re

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

FORM = {"default_locale": "fa-AF", "default_timezone": "Asia/Kabul"}


def etag(html: str) -> str:
    found = re.search(r'name="etag" value="([^"]*)"', html)
    assert found is not None
    return found[1].replace("&quot;", '"')


async def test_settings_are_saved_from_the_version_on_the_page(admin: SignedIn) -> None:
    at = admin.browser
    shown = etag((await at.open("/console/settings")).text)
    quiet = {"q0.mon": "on", "q0.start": "22:00", "q0.end": "07:00"}
    more = {"allowed_link_domains": "hotel.example *.hotel.example", "double_opt_in": "on"}
    limits = {"per_recipient_per_channel_per_day": "sms 2"}
    await at.post("/console/settings", True, etag=shown, **FORM, **quiet, **more, **limits)
    assert "The settings are saved" in at.html, at.html
    kept = (await admin.get("/api/v1/settings")).json()
    assert kept["quiet_hours"] == [{"days": ["mon"], "start": "22:00", "end": "07:00"}]
    assert kept["limits"] == {"per_recipient_per_channel_per_day": {"sms": 2}}
    assert kept["default_locale"] == "fa-AF"

    stale = await at.post("/console/settings", True, etag=shown, **FORM)
    assert stale.status_code in (409, 412)
    assert (await admin.get("/api/v1/settings")).json()["double_opt_in"] is True
    now = etag((await at.open("/console/settings")).text)
    wrong = await at.post("/console/settings", True, etag=now, **{**FORM, "default_timezone": "<b>Mars"})
    assert wrong.status_code == 400
    assert "&lt;b&gt;Mars" in at.html
    assert 'id="default_timezone-error"' in at.html


async def test_a_key_is_made_with_a_code_shown_once_rotated_and_revoked(
    world: HttpWorld, admin: SignedIn
) -> None:
    at = admin.browser
    await at.open("/console/api-keys")
    refused = await at.post("/console/api-keys", name="PMS", role="tenant.support", code="000000")
    assert refused.status_code == 403
    await at.post("/console/api-keys", name="<PMS>", role="tenant.support", code=await admin.who.code())
    [secret] = re.findall(r"tdk_[A-Za-z0-9_]+", at.html)
    async with world.client(secret) as program:
        assert (await program.get("/api/v1/tenant")).status_code == 200
    assert secret not in (await at.open("/console/api-keys")).text
    assert "&lt;PMS&gt;" in at.html

    [key] = (await admin.get("/api/v1/api-keys")).json()["items"]
    await at.post(f"/console/api-keys/{key['id']}/rotate", overlap="0", code=await admin.who.code())
    [successor] = re.findall(r"tdk_[A-Za-z0-9_]+", at.html)
    assert successor != secret
    newest = (await admin.get("/api/v1/api-keys")).json()["items"][0]
    await at.open("/console/api-keys")
    await at.post(f"/console/api-keys/{newest['id']}/revoke")
    assert "The key is revoked." in at.html
    async with world.client(successor) as program:
        assert (await program.get("/api/v1/tenant")).status_code == 401


async def test_all_three_logs_are_read_filtered_and_verified(admin: SignedIn) -> None:
    at = admin.browser
    await admin.send("PUT", "/api/v1/channels/inapp", {"vendor": "inapp"})
    await at.open("/console/audit?entity_type=channel")
    assert "created" in at.html
    for log in ("notify", "router", "backoffice"):
        assert (await at.open(f"/console/audit?log={log}")).status_code == 200
        await at.post("/console/audit/verify", log=log)
        assert "The audit is as it was written." in at.html
    assert (await at.open("/console/audit?log=router&entity_type=<x>")).status_code == 200
    operators = (await admin.get("/bff/v1/audit")).json()["items"]
    assert any(row["entity_type"] == "operator" for row in operators)


async def test_the_page_of_spend_says_what_to_do_where_nothing_was_spent(admin: SignedIn) -> None:
    at = admin.browser
    assert "Nothing was spent" in (await at.open("/console/spend")).text
    assert (await at.open("/console/spend?since=2026-02-30")).status_code == 400


async def test_roles_that_may_not_are_refused(world: HttpWorld, tenant: Tenant) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer")
    at = viewer.browser
    for page in ("/console/audit", "/console/api-keys"):
        assert (await at.open(page)).status_code == 403, page
    assert "<button>Save</button>" not in (await at.open("/console/settings")).text
    assert (await at.post("/console/settings", True, csrf=viewer.csrf, **FORM)).status_code == 403
    assert (await viewer.get("/bff/v1/audit")).status_code == 403


async def test_the_platform_reads_its_own_audit_and_keys(world: HttpWorld) -> None:
    boss = await an_operator(world, None)
    for page in ("/console/audit", "/console/audit?log=backoffice", "/console/api-keys"):
        assert (await boss.browser.open(page)).status_code == 200, page
