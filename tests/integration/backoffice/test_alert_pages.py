"""The page of alerts says what is so and what to do, and does what the buttons say; the navigation counts on every page."""

from tests.integration.backoffice.test_alerts import an_alert, raised
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.backoffice.alerts.count import AlertCounter
from tidings.notify.tenants.model import Tenant

PAGE = "/console/alerts"


async def test_an_operator_works_through_their_alerts(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    at = admin.browser
    await at.open(PAGE)
    assert "All is well" in at.html
    [alert] = await raised(
        world, tenant.id, an_alert("circuit_open:a", "critical", vendor="twilio", account_id="a")
    )
    await raised(world, tenant.id, an_alert("device_offline:b", device_id="dvc_b"))

    # As the trigger of the table announces it; nothing listens in this test.
    world.system.backoffice.parts.get(AlertCounter).forget(tenant.id)

    await at.open("/console/account")
    assert "(2 open)" in at.html
    await at.open("/console/alerts/count")
    assert "(2 open)" in at.html
    await at.open(PAGE)
    assert "A vendor takes no messages" in at.html
    assert "<bdi>twilio</bdi> failed" in at.html
    await at.open(f"{PAGE}?severity=critical")
    assert "A device is offline" not in at.html.partition('id="alerts"')[2].partition("article")[2]

    await at.post(
        f"{PAGE}/{alert.id}/acknowledge",
        note="Support of the vendor is on it",
        back=f"{PAGE}?severity=critical",
    )
    assert "You look after it." in at.html
    assert "Support of the vendor is on it" in at.html
    assert f"/console/alerts/{alert.id}/withdraw" in at.html
    await at.post(f"{PAGE}/{alert.id}/withdraw", back=PAGE)
    assert "You don&#x27;t look after it any more." in at.html
    await at.open(f"{PAGE}/{alert.id}")
    assert "What to do:" in at.html
    await at.post(f"{PAGE}/mutes", category="device_offline", minutes="60", back=PAGE)
    assert "Muted categories" in at.html
    assert "(1 open)" in at.html
    await at.post(f"{PAGE}/mutes/device_offline/end", back="//elsewhere.example")
    assert "(2 open)" in at.html
    await at.post(f"{PAGE}/{alert.id}/resolve", back=PAGE)
    assert "The alert is resolved." in at.html
    refused = await at.post(f"{PAGE}/{alert.id}/acknowledge", back=PAGE)
    assert refused.status_code == 409
    assert "over already" in at.html


async def test_a_category_of_another_release_has_a_page_too(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    [alert] = await raised(world, tenant.id, an_alert("new_thing:1", count=3))

    await admin.browser.open(f"{PAGE}/{alert.id}")

    assert "new thing" in admin.browser.html
    assert "knows no more about it" in admin.browser.html


async def test_a_viewer_sees_no_buttons(world: HttpWorld, tenant: Tenant) -> None:
    viewer = await an_operator(world, tenant.id, email="viewer", role="tenant.viewer")
    admin = await an_operator(world, tenant.id)
    await raised(world, tenant.id, an_alert(), an_alert("session_on_other_device:1", operator_id="oper_1"))

    await viewer.browser.open(PAGE)
    await admin.browser.open(PAGE)

    assert "A device is offline" in viewer.browser.html
    assert "/acknowledge" not in viewer.browser.html
    # The page of operators helps who may see it.
    leads = '<a href="/console/operators" class="button quiet">'
    assert (leads in admin.browser.html, leads in viewer.browser.html) == (True, False)


async def test_the_platform_sees_its_own_until_it_chooses_a_tenant(world: HttpWorld, tenant: Tenant) -> None:
    platform = await an_operator(world, None, email="of.alert.pages")
    [alert] = await raised(
        world, None, an_alert(f"partition_missing:{tenant.id}", "critical", partitions=2, table="x")
    )
    [theirs] = await raised(world, tenant.id, an_alert())
    at = platform.browser

    await at.open(f"{PAGE}/{alert.id}")
    assert "tidings partitions" in at.html
    await at.post(f"{PAGE}/{alert.id}/acknowledge", back=PAGE)
    assert "You look after it." in at.html
    await at.post("/console/acting-for", tenant=tenant.id)
    await at.open(f"{PAGE}/{theirs.id}")
    assert "A device is offline" in at.html


async def test_an_operator_chooses_to_be_told(world: HttpWorld, admin: SignedIn) -> None:
    at = admin.browser
    await at.open(f"{PAGE}/telling")
    assert "Tell me by message" in at.html
    wrong = await at.post(f"{PAGE}/telling", severity="critical", phone="0701", language="fa-AF")
    assert wrong.status_code == 400
    assert "must be a number such as" in at.html

    await at.post(f"{PAGE}/telling", severity="critical", phone="+93 70 123 4567", language="fa-AF")
    assert "what you are told from now on" in at.html
    assert 'value="+93701234567"' in at.html
    await at.post(f"{PAGE}/telling", severity="none", phone="", language="en")
    assert (await admin.get("/bff/v1/alerts/telling")).json()["severity"] is None
