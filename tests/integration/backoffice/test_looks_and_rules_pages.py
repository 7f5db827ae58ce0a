"""Pages of branding, layouts, categories and digests: shown, changed, refused, previewed."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.integration.templates.drafts import draft
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.kernel.db import Database
from tidings.kernel.sql import Query
from tidings.notify.ids import DIGEST_WINDOW
from tidings.notify.tenants.model import Tenant

_WINDOW = Query(
    name="open_window",
    why="A digest that is being gathered, without the messages in it.",
    text="INSERT INTO notification.digest_windows"
    " (tenant_id, id, recipient_id, category, channel, window_start, window_end, flush_at)"
    " VALUES ($1, $2, $3, 'reminder', 'email', $4, $5, $5)",
    parameters=("tenant_id", "id", "recipient_id", "now", "later"),
)
HOSTILE = '"><script>alert(1)</script>'
MAIL = {
    "format": "html",
    "subject": "Hello",
    "body": '<p style="color:{{@brand.color}}">{{@brand.name}} – {{@brand.footer}}</p>',
}
CATEGORY = {
    "category": "house_rules",
    "names": "en: House rules\nfa-AF: مقررات",
    "position": "20",
    "use_case": "alert",
    "priority": "high",
    "retention_class": "standard",
    "expires": "36",
    "expires_unit": "hours",
    "can_unsubscribe": "on",
    "may_digest": "on",
}


@pytest.fixture
def db(fresh_db: Database) -> Database:
    """Of one test alone: what the platform has published is seen by every tenant."""
    return fresh_db


async def mailed(who: SignedIn) -> None:
    """A mail in force, in two languages."""
    locales = {"en": MAIL, "ar": MAIL}
    await who.post("/api/v1/templates/welcome/email/versions", draft(locales=locales))
    await who.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")


async def branding_of(who: SignedIn) -> Any:
    return (await who.get("/api/v1/branding")).json()


async def test_a_look_is_shown_while_it_is_typed_and_saved(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/branding")
    assert "No mail is published yet." in at.html
    await mailed(admin)
    await at.open("/console/branding")
    typed = {"name": "Saffron House", "primary_colour": "#a3541f", "footer": "Kabul", "mail": "welcome"}
    typed |= {"colour_before": "#1f6f5c", "version": "0"}
    await at.post("/console/branding/preview", follow=True, **typed)
    for side in ("left", "right"):
        shown = re.search(rf'<div id="look-{side}-html"[^>]* data-html="([^"]*)"', at.html)
        assert shown is not None
        assert "Saffron House" in shown[1]
        assert "#a3541f" in shown[1]
    assert (await branding_of(admin))["version"] == 0

    await at.post("/console/branding", follow=True, **typed)
    assert "Saved." in at.html
    saved = await branding_of(admin)
    assert saved["branding"] == {"name": "Saffron House", "primary_colour": "#a3541f", "footer": "Kabul"}
    # The box that is ticked off takes the colour away.
    await at.post("/console/branding", follow=True, **{**typed, "colour_before": "#a3541f", "version": "1"})
    assert "primary_colour" not in (await branding_of(admin))["branding"]


async def test_a_look_that_is_not_acceptable_stays_as_it_was_typed(admin: SignedIn) -> None:
    at = admin.browser
    await mailed(admin)
    await at.open("/console/branding")
    wrong = {"name": HOSTILE, "logo_url": "http://insecure.example/logo.png", "mail": "welcome"}
    await at.post("/console/branding/preview", follow=True, **wrong)
    assert "must be an address that begins with https://" in at.html
    await at.post("/console/branding", follow=True, **wrong)
    assert at.last is not None
    assert at.last.status_code == 400
    assert 'id="logo_url-error"' in at.html
    assert "http://insecure.example/logo.png" in at.html
    assert HOSTILE not in at.html
    await at.post("/console/branding", follow=True, name="A", version="7")
    assert at.last.status_code == 412
    assert (await branding_of(admin))["version"] == 0


async def test_layouts_are_written_changed_and_deleted(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/layouts")
    assert "No layout yet." in at.html
    await at.open("/console/layouts/new")
    assert "{{&gt; body}}" in at.html
    await at.post("/console/layouts/new", name="frame", text="<main>\r\n{{> body}}</main>")
    assert "Saved." in at.html
    assert (await admin.get("/api/v1/layouts/frame")).json()["text"] == "<main>\n{{> body}}</main>"
    await at.open("/console/layouts/new")
    await at.post("/console/layouts/new", name="frame", text="other {{> body}}")
    assert "is taken" in at.html
    assert "other {{&gt; body}}" in at.html
    await at.open("/console/layouts/frame")
    await at.post("/console/layouts/frame", text="<b>{{> body}}</b>", version="1")
    assert "Saved." in at.html
    await at.post("/console/layouts/frame", text="mine {{> body}}", version="1")
    assert at.last is not None
    assert at.last.status_code == 412
    assert "mine {{&gt; body}}" in at.html
    await at.post("/console/layouts/frame/delete", version="2")
    assert "It is deleted." in at.html


async def test_a_category_is_written_and_one_of_the_platform_s_is_named_anew(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/categories/new")
    await at.post("/console/categories/new", follow=True, **{**CATEGORY, "use_case": "marketing"})
    assert at.last is not None
    assert at.last.status_code == 400
    assert "مقررات" in at.html
    await at.post("/console/categories/new", follow=True, **CATEGORY)
    assert "Saved." in at.html
    made = (await admin.get("/api/v1/categories/house_rules")).json()
    assert made["names"] == {"en": "House rules", "fa-AF": "مقررات"}
    assert (made["expires_after_seconds"], made["can_unsubscribe"], made["needs_consent"]) == (
        129_600,
        True,
        False,
    )

    await at.open("/console/categories/house_rules")
    assert 'value="36"' in at.html
    fields = {**CATEGORY, "retired": "on", "version": str(made["version"])}
    await at.post("/console/categories/house_rules", follow=True, **fields)
    assert (await admin.get("/api/v1/categories/house_rules")).json()["retired"] is True
    await at.post("/console/categories/house_rules", follow=True, **{**fields, "names": "en: Mine"})
    assert at.last.status_code == 412
    assert "en: Mine" in at.html

    await at.open("/console/categories/reminder")
    assert 'name="use_case"' not in at.html
    await at.post(
        "/console/categories/reminder", names="en: Before you arrive", position="5", hidden="on", version="0"
    )
    changed = (await admin.get("/api/v1/categories/reminder")).json()
    assert (changed["names"], changed["position"], changed["hidden"]) == (
        {"en": "Before you arrive"},
        5,
        True,
    )
    await at.open("/console/categories")
    assert "Before you arrive" in at.html


async def gathered(world: HttpWorld, tenant: Tenant, who: SignedIn) -> None:
    """The tenant's reminders are gathered."""
    async with world.as_platform() as platform:
        path = f"/internal/v1/tenants/{tenant.id}"
        found = await platform.get(path)
        policy = found.json()["notification_policy"] | {
            "digest_schedule": {"reminder": {"every": "day", "at": "18:00"}}
        }
        answer = await platform.patch(
            path, json={"notification_policy": policy}, headers={"If-Match": found.headers["etag"]}
        )
        assert answer.status_code == 200, answer.text


async def test_digests_are_listed_with_the_schedule_and_the_platform_changes_it(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await gathered(world, tenant, admin)
    at = admin.browser
    await at.open("/console/digests?state=flushed&category=reminder")
    assert "No digest fits." in at.html
    assert re.search(r"<bdi>reminder</bdi></td><td[^>]*>Every day · <bdi dir=\"ltr\">18:00</bdi>", at.html)
    assert "every-reminder" not in at.html
    answer = await at.post("/console/digests/schedule", follow=True, **{"every-reminder": "", "version": "2"})
    assert answer.status_code in (403, 404)
    assert (await admin.get("/console/digests/dgw_01M7THB0TFBZTVJMW8TMW8S3ME")).status_code == 404

    boss = await an_operator(world, None, email="boss")
    await boss.browser.open("/console/acting-for")
    await boss.browser.post("/console/acting-for", tenant=tenant.id)
    await boss.browser.open("/console/digests")
    assert 'name="every-reminder"' in boss.browser.html
    version = re.search(r'name="version" value="(\d+)"', boss.browser.html)
    assert version is not None
    chosen = {"every-reminder": "pause", "minutes-reminder": "10", "version": version[1]}
    await boss.browser.post("/console/digests/schedule", follow=True, **chosen)
    assert "Saved." in boss.browser.html
    await at.open("/console/digests")
    assert "After a pause" in at.html


async def test_viewers_look_and_change_nothing(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    await mailed(admin)
    await admin.send("PUT", "/api/v1/layouts/frame", {"text": "{{> body}}"})
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="viewer")
    at = viewer.browser
    for path in (
        "/console/branding",
        "/console/layouts/frame",
        "/console/categories/reminder",
        "/console/digests",
    ):
        answer = await at.open(path)
        assert answer.status_code == 200, path
        assert ">Save</button>" not in at.html, path
    for path, fields in (
        ("/console/branding", {"name": "X", "version": "0"}),
        ("/console/layouts/frame", {"text": "x", "version": "1"}),
        ("/console/categories/reminder", {"names": "", "version": "0"}),
        ("/console/categories/new", CATEGORY),
    ):
        sent = {"csrf": viewer.csrf, **fields}
        answer = await at.client.post(path, data=sent, headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code == 403, (path, answer.status_code)


async def test_a_digest_that_is_gathered_is_sent_now(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    person = {"identity": {"type": "guest", "id": "g-1"}, "locale": "en"}
    recipient_id = (await admin.post("/api/v1/recipients", person)).json()["id"]
    now = world.clock.now()
    digest_id = DIGEST_WINDOW.new(now)
    async with world.db.tenant(tenant.id) as tx:
        await tx.execute(
            _WINDOW,
            id=digest_id,
            recipient_id=recipient_id,
            now=now,
            later=now + timedelta(hours=6),
        )
    at = admin.browser
    await at.open("/console/digests?category=reminder")
    assert f"/console/digests/{digest_id}" in at.html
    await at.open(f"/console/digests/{digest_id}")
    assert "Nothing is in it." in at.html
    assert "What comes after that is gathered anew." in at.html
    await at.post(f"/console/digests/{digest_id}/flush")
    assert "It is sent within a second or so." in at.html
    flush_at = (await admin.get(f"/api/v1/digests/{digest_id}")).json()["flush_at"]
    assert datetime.fromisoformat(flush_at) <= world.clock.now()
    elsewhere = await an_operator(world, (await world.tenant()).id)
    assert (await elsewhere.browser.open(f"/console/digests/{digest_id}")).status_code == 404
