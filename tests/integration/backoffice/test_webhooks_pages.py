"""Operators look after webhooks in the console; secrets and links are shown once."""

import re
from typing import Any

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

HOSTILE = '<img src=x onerror="alert(1)">'


def once(html: str) -> str:
    found = re.search(r'<code class="secret">([^<]*)</code>', html)
    assert found is not None, html
    return found[1]


async def a_webhook(who: SignedIn, **facts: str) -> Any:
    await who.browser.open("/console/webhooks/new")
    form = {"url": "https://hotel.example/hook", "events": "notification.>", "name": "Hotel", **facts}
    await who.browser.post("/console/webhooks/new", True, **form)
    secret = once(who.browser.html)
    [made] = (await who.get("/api/v1/webhooks")).json()["items"]
    return {**made, "secret": secret, "path": f"/console/webhooks/{made['id']}"}


async def test_a_secret_is_shown_once_and_rotated_with_a_code(admin: SignedIn) -> None:
    at = admin.browser
    made = await a_webhook(admin)
    assert made["secret"].startswith("whsec_")
    for path in (made["path"], "/console/webhooks"):
        assert made["secret"] not in (await at.open(path)).text

    await at.open(made["path"])
    refused = await at.post(f"{made['path']}/rotate", code="000000")
    assert refused.status_code == 403
    await at.post(f"{made['path']}/rotate", code=await admin.who.code())
    another = once(at.html)
    assert another not in (made["secret"], (await at.open(made["path"])).text)
    assert "Both secrets until" in at.html


async def test_it_is_paused_resumed_changed_and_deleted(world: HttpWorld, admin: SignedIn) -> None:
    at = admin.browser
    made = await a_webhook(admin)
    await at.open(made["path"])
    await at.post(f"{made['path']}/pause")
    assert "It is paused" in at.html
    await at.post(f"{made['path']}/resume", discard="on")
    assert "It is called again" in at.html

    form = {"url": made["url"], "events": "batch.>", "name": HOSTILE, "timeout_seconds": "99"}
    wrong = await at.post(made["path"], True, **form)
    assert wrong.status_code == 400
    assert 'id="timeout_seconds-error"' in at.html
    assert HOSTILE not in at.html
    await at.post(made["path"], True, **{**form, "timeout_seconds": "5"})
    assert "The webhook is saved." in at.html
    assert HOSTILE not in at.html

    counted = await at.post(
        f"{made['path']}/recover", since=f"{world.clock.now():%Y-%m-%dT%H:%M}", do="count"
    )
    assert re.search(r"\d+ would be told", counted.text)
    await at.post(f"{made['path']}/delete")
    assert "There is no webhook yet" in at.html


async def test_a_link_for_a_customer_is_shown_once_and_ended(admin: SignedIn) -> None:
    at = admin.browser
    made = await a_webhook(admin, customer="grand-hotel")
    await at.open(made["path"])
    await at.post(f"{made['path']}/portal-link", lifetime="3600")
    link = once(at.html)
    assert "/portal/" in link
    assert link not in (await at.open(made["path"])).text

    await at.post(f"{made['path']}/portal-link/end")
    assert "All links have ended." in at.html


async def test_inbound_routes_are_made_removed_and_restored(admin: SignedIn) -> None:
    at = admin.browser
    await admin.send(
        "PUT",
        "/api/v1/router/secrets/inbound",
        {"value": "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
        attested="credential.change",
    )
    await at.open("/console/webhooks/inbound")
    assert "There is no inbound route yet" in at.html
    wrong = await at.post(
        "/console/webhooks/inbound", inbound="4711", webhook_url="ftp://x", secret_ref="sealed://inbound"
    )
    assert wrong.status_code == 400
    assert 'value="4711"' in at.html
    await at.post(
        "/console/webhooks/inbound",
        inbound="4711",
        webhook_url="https://hotel.example/in",
        secret_ref="sealed://inbound",
    )
    assert "The route is saved." in at.html, at.html
    [route] = (await admin.get("/api/v1/router/inbound-routes")).json()["items"]

    await at.post(f"/console/webhooks/inbound/{route['id']}/remove", version=str(route["version"]))
    assert "can be restored" in at.html
    await at.post(f"/console/webhooks/inbound/{route['id']}/restore")
    assert "The route is saved." in at.html


async def test_support_reads_and_changes_nothing(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    made = await a_webhook(admin)
    support = await an_operator(world, tenant.id, role="tenant.support", email="s")
    at = support.browser
    shown = (await at.open(made["path"])).text
    assert "Hotel" in shown
    assert "Rotate the secret" not in shown
    assert (await at.post(f"{made['path']}/pause", csrf=support.csrf)).status_code == 403
    assert (await at.post(f"{made['path']}/portal-link", csrf=support.csrf, lifetime="60")).status_code == 403


async def test_another_tenants_webhook_is_not_there(world: HttpWorld, admin: SignedIn) -> None:
    made = await a_webhook(admin)
    other = await an_operator(world, (await world.tenant()).id)
    assert (await other.browser.open(made["path"])).status_code == 404
