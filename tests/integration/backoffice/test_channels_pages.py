"""Operators set channels up in the console; secrets go in and never come out."""

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

SECRET = "s3cret-of-the-vendor"


async def test_a_channel_is_set_up_changed_and_refused_where_it_is_wrong(admin: SignedIn) -> None:
    at = admin.browser
    assert "No channel is set up yet" in (await at.open("/console/channels")).text
    await at.open("/console/channels/inapp")
    await at.post("/console/channels/inapp", vendor="inapp", active="on", per_minute="5")
    assert "The channel is saved." in at.html
    assert "5 a minute" in at.html

    refused = await at.post("/console/channels/inapp", vendor="inapp", per_minute="many<b>")
    assert refused.status_code == 400
    assert 'id="per_minute-error"' in at.html
    assert "many&lt;b&gt;" in at.html
    stale = await at.post("/console/channels/inapp", vendor="inapp", etag='"77"')
    assert stale.status_code in (409, 412), at.html
    assert (await admin.get("/api/v1/channels/inapp")).json()["rate_limit"] == {"per_minute": 5}
    assert (await at.open("/console/channels/pigeon")).status_code == 400


async def test_a_secret_goes_in_with_a_code_and_is_shown_to_nobody(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/channels/secrets")
    wrong = await at.post("/console/channels/secrets", name="smtp", value=SECRET, code="000000")
    assert wrong.status_code == 403
    assert SECRET not in at.html
    assert 'value="smtp"' in at.html

    await at.post("/console/channels/secrets", name="smtp", value=SECRET, code=await admin.who.code())
    assert "is not shown again" in at.html
    assert "sealed://smtp" in at.html
    assert SECRET not in at.html

    await at.post("/console/channels/secrets/smtp/remove", code=await admin.who.code())
    assert "The secret is removed." in at.html
    assert (await admin.get("/api/v1/router/secrets")).json()["items"] == []


async def test_a_test_shows_what_the_vendor_said(world: HttpWorld, admin: SignedIn, tenant: Tenant) -> None:
    at = admin.browser
    await at.open("/console/channels/inapp")
    await at.post("/console/channels/inapp", vendor="inapp", active="on")
    answer = await at.post("/console/channels/inapp/test", to="nobody<i>")
    assert "nobody<i>" not in at.html
    assert 'role="alert"' in at.html or 'role="status"' in at.html
    assert answer.status_code in (200, 400, 404, 409)


async def test_a_viewer_looks_and_changes_nothing(world: HttpWorld, tenant: Tenant) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer")
    at = viewer.browser
    assert "<form" not in (await at.open("/console/channels/inapp")).text.split("<main")[1]
    assert (await at.post("/console/channels/inapp", vendor="inapp", csrf=viewer.csrf)).status_code == 403


async def test_the_platform_chooses_a_tenant_first(world: HttpWorld, tenant: Tenant) -> None:
    boss = await an_operator(world, None)
    assert "Choose a tenant" in (await boss.browser.open("/console/channels")).text

    await boss.browser.post("/console/acting-for", tenant=tenant.id)
    assert "No channel is set up yet" in (await boss.browser.open("/console/channels")).text
