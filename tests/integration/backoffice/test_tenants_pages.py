"""The platform's people make tenants, grant, close and open them, suppress for all, and look after callbacks."""

import re

import pytest

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

NEW = {"default_locale": "en-US", "default_timezone": "UTC"}


@pytest.fixture
async def boss(world: HttpWorld) -> SignedIn:
    """An admin of the platform."""
    return await an_operator(world, None)


async def test_a_tenant_is_made_granted_frozen_with_a_code_and_opened(
    world: HttpWorld, boss: SignedIn, tenant: Tenant
) -> None:
    at = boss.browser
    slug = f"h-{tenant.id[-12:].lower()}"
    await at.open("/console/tenants/new")
    wrong = await at.post("/console/tenants/new", True, name="<b>Grand", slug="Not A Slug", **NEW)
    assert wrong.status_code == 400
    assert "&lt;b&gt;Grand" in at.html
    await at.post("/console/tenants/new", True, name="<b>Grand", slug=slug, **NEW)
    assert "The tenant is made." in at.html
    found = re.search(r'action="(/console/tenants/(tnt_\w+))"', at.html)
    assert found is not None
    path, tenant_id = found.groups()

    form = {"name": "Grand", "slug": slug, "weight": "2", "etag": '"v1"', **NEW}
    await at.open(path)
    await at.post(path, True, **form, allowed_sender_ids="GRAND", per_second="5")
    assert "The tenant is saved." in at.html, at.html
    shown = (await boss.get(f"/internal/v1/tenants/{tenant_id}")).json()
    assert shown["notification_policy"] == {"limits": {"per_second": 5}, "allowed_sender_ids": ["GRAND"]}

    assert (await at.post(f"{path}/suspend", code="000000")).status_code == 403
    await at.open(path)
    await at.post(f"{path}/freeze", code=await boss.who.code(), reason="unpaid")
    assert "The tenant is frozen." in at.html
    await at.post(f"{path}/unfreeze")
    assert "The tenant is open again." in at.html
    await at.post(f"{path}/suspend", code=await boss.who.code())
    assert "Suspended" in at.html
    await at.post(f"{path}/resume")

    await at.open("/console/tenants")
    await at.post("/console/acting-for", tenant=tenant_id)
    assert "No channel is set up yet" in (await at.open("/console/channels")).text


async def test_what_is_suppressed_for_all_shows_no_address(boss: SignedIn) -> None:
    at = boss.browser
    await at.open("/console/platform-suppressions")
    wrong = await at.post("/console/platform-suppressions", channel="email", address="laila secret")
    assert wrong.status_code == 400
    assert "laila secret" not in at.html
    await at.post(
        "/console/platform-suppressions", channel="email", mail_domain="spam.example", notes="<i>trap"
    )
    assert "Nobody writes there any more." in at.html
    assert "&lt;i&gt;trap" in at.html
    found = (await boss.get("/internal/v1/platform-suppressions")).json()["items"]
    one = next(row for row in found if row["mail_domain"] == "spam.example")
    await at.post(f"/console/platform-suppressions/{one['id']}/release", reason="a mistake")
    assert "Tenants may write there again." in at.html


async def test_callbacks_that_found_nothing_are_looked_at_again(boss: SignedIn) -> None:
    at = boss.browser
    assert (await at.open("/console/callbacks")).status_code == 200
    assert "Numbers that are nobody" in at.html
    await at.post("/console/callbacks/requeue", vendor="http_acme")
    assert "0 are looked at again." in at.html
    assert (await at.post("/console/callbacks/requeue", vendor="<x>")).status_code == 400
    body = "/console/callbacks/events/whe_01M7TEW4T7DNPN1V8G12E4XWBG/body"
    assert (await at.post(body, code="000000")).status_code == 403


@pytest.mark.parametrize("page", ["tenants", "platform-suppressions", "callbacks"])
async def test_people_of_a_tenant_are_kept_out(admin: SignedIn, page: str) -> None:
    at = admin.browser
    assert f'href="/console/{page}"' not in (await at.open("/console")).text
    assert (await at.open(f"/console/{page}")).status_code == 403


async def test_support_of_the_platform_looks_and_changes_nothing(world: HttpWorld, tenant: Tenant) -> None:
    support = await an_operator(world, None, role="platform.support", email="ps")
    at = support.browser
    shown = (await at.open(f"/console/tenants/{tenant.id}")).text
    assert "Freeze" not in shown
    refused = await at.post(f"/console/tenants/{tenant.id}/unfreeze", csrf=support.csrf)
    assert refused.status_code == 403
