"""Pages of templates: the list, the editor with what is not saved, conflicts, approvals, differences, zips."""

import re
from typing import Any

import pytest

from tests.integration.templates.drafts import draft, later
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

API = "/api/v1/templates/welcome/email/versions"
PAGE = "/console/templates/welcome/email/versions/1.0.0"
HOSTILE = '<img src=x onerror="alert(1)"></textarea><script>alert(2)</script>'
MACHINE = {"model": "some-model", "prompt_hash": "sha256:0f"}


@pytest.fixture
async def colleague(world: HttpWorld, tenant: Tenant) -> SignedIn:
    """Another admin of the tenant."""
    return await an_operator(world, tenant.id, name="Omid Karimi", email="omid")


async def edited(who: SignedIn, do: str = "save", **fields: str) -> int:
    """Send the editor's form as it is shown, with some fields typed over."""
    html = who.browser.html
    named = re.findall(r'<input type="hidden" name="(version|left|right|owner)" value="([^"]*)"', html)
    answer = await who.browser.post(f"{PAGE}/save", **{**dict(named), **fields, "do": do})
    return answer.status_code


async def stored(who: SignedIn) -> Any:
    return (await who.get(f"{API}/1.0.0")).json()


async def test_a_template_is_begun_found_and_shown(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/templates/new")
    await at.post(
        "/console/templates/new", key="Not A Key", channel="email", category="transactional", locale="en"
    )
    assert at.last is not None
    assert (at.last.status_code, 'value="Not A Key"' in at.html, "lower-case words" in at.html) == (
        400,
        True,
        True,
    )

    await at.post(
        "/console/templates/new", key="welcome", channel="email", category="transactional", locale="en"
    )
    assert "The draft is there: write it." in at.html
    assert 'dir="ltr"' in at.html
    assert "Nothing stands in the way of publishing." in at.html

    await at.open("/console/templates?key=welcome&status=draft")
    assert 'href="/console/templates/welcome/email?owner=tenant"' in at.html
    await at.open("/console/templates?key=nothing_like_it")
    assert "No template fits." in at.html
    await at.open("/console/templates/nothing/email")
    assert "Nothing is here" in at.html


async def test_what_is_typed_is_shown_and_its_mistakes_are_named_and_nothing_is_written(
    admin: SignedIn,
) -> None:
    at = admin.browser
    await admin.post(API, draft())
    await at.open(f"{PAGE}?left=en&right=fa-AF")
    before = await stored(admin)
    typed = {
        "left": "en", "right": "fa-AF", "sample": "usual", "version": "1",
        "left-subject": "Good morning {{name}}", "left-format": "html", "left-body": "<p>\r\n{{nam}}</p>",
        "right-subject": "صبح بخیر {{name}}", "right-format": "html", "right-body": "<p>{{name}}</p>",
    }  # fmt: skip
    await at.post(f"{PAGE}/preview", follow=True, **typed)

    assert "صبح بخیر Laila" in at.html
    faults = re.search(r'<ul id="left-body-faults" class="faults">(.*?)</ul>', at.html)
    assert faults is not None
    assert "Line 2, column" in faults[1]
    assert "nam is not declared" in faults[1]
    assert "<mark>" in faults[1]
    assert '<ul id="right-body-faults" class="faults" hidden>' in at.html
    assert await stored(admin) == before

    await at.post(
        f"{PAGE}/preview",
        follow=True,
        **{**typed, "left-body": "<p>{{name}}</p>", "preview_samples": '{"usual": {'},
    )
    assert "Good morning Laila" in at.html
    assert re.search(
        r'<ul id="preview_samples-faults" class="faults"><li><strong>Line 1, column \d+', at.html
    )


async def test_a_draft_is_saved_and_published_and_what_it_does_not_show_stays(admin: SignedIn) -> None:
    at = admin.browser
    french = {"format": "html", "subject": "Bonjour {{name}}", "body": "<p>Bonjour {{name}}</p>"}
    await admin.post(API, draft(locales={**draft()["locales"], "fr": french}))
    await at.open(f"{PAGE}?left=en&right=fa-AF")
    assert await edited(admin, **{"left-body": "<p>New\r\nwords, {{name}}</p>", "left-subject": "Hi"}) == 200
    now = await stored(admin)
    assert now["locales"]["en"] == {"format": "html", "subject": "Hi", "body": "<p>New\nwords, {{name}}</p>"}
    assert now["locales"]["fr"] == french

    assert await edited(admin, "publish", **{"left-body": "<p>{{nobody}}</p>", "left-subject": "Hi"}) == 400
    assert at.html.count("nobody is not declared") == 1
    assert (await stored(admin))["status"] == "draft"
    assert await edited(admin, "publish", **{"left-body": "<p>{{name}}</p>", "left-subject": "Hi"}) == 200
    assert "It is published" in at.html
    assert (await stored(admin))["status"] == "active"
    assert "readonly" in at.html

    await at.post(f"{PAGE}/copy")
    assert "This is a new draft" in at.html
    assert (await admin.get(f"{API}/1.1.0")).json()["locales"]["en"]["subject"] == "Hi"


async def test_of_two_who_write_at_once_the_second_is_told_and_keeps_what_they_typed(
    admin: SignedIn, colleague: SignedIn
) -> None:
    await admin.post(API, draft())
    await admin.browser.open(PAGE)
    await colleague.browser.open(PAGE)
    assert await edited(colleague, **{"left-body": "<p>Theirs {{name}}</p>", "left-subject": "S"}) == 200

    assert await edited(admin, **{"left-body": "<p>Mine {{name}}</p>", "left-subject": "S"}) == 412
    html = admin.browser.html
    assert "Somebody else has changed this draft meanwhile" in html
    assert "<del>Theirs</del><ins>Mine</ins>" in html
    assert "&lt;p&gt;Mine {{name}}&lt;/p&gt;</textarea>" in html
    assert "Theirs" in (await stored(admin))["locales"]["en"]["body"]

    assert (
        await edited(admin, "overwrite", **{"left-body": "<p>Mine {{name}}</p>", "left-subject": "S"}) == 200
    )
    assert "Mine" in (await stored(admin))["locales"]["en"]["body"]


async def test_what_a_machine_has_drafted_is_published_when_a_colleague_has_approved_it(
    admin: SignedIn, colleague: SignedIn
) -> None:
    at = admin.browser
    await admin.post(API, draft(ai_provenance=MACHINE))
    await at.open(PAGE)
    assert "some-model" in at.html
    assert 'value="approve"' not in at.html
    assert await edited(admin, "ask", **{"left-body": "<p>Now, {{name}}</p>", "left-subject": "S"}) == 200
    assert "Your colleagues are told" in at.html
    assert await edited(admin, "publish", **{"left-body": "<p>Now, {{name}}</p>", "left-subject": "S"}) == 409
    assert "Somebody else has to approve it" in at.html

    await colleague.browser.open("/console/templates?key=welcome")
    assert "Laila Noor asks for approval" in colleague.browser.html
    await colleague.browser.open(PAGE)
    same = {"left-body": "<p>Now, {{name}}</p>", "left-subject": "S"}
    assert await edited(colleague, "approve", **same) == 200
    assert "It is approved." in colleague.browser.html
    assert await edited(colleague, "publish", **same) == 200
    assert (await stored(admin))["status"] == "active"


async def test_an_approval_that_is_asked_for_is_over_when_the_words_change(
    admin: SignedIn, colleague: SignedIn
) -> None:
    await admin.post(API, draft())
    await admin.browser.open(PAGE)
    same = {"left-body": "<p>Hello {{name}}, this is 1.0.0.</p>", "left-subject": "Hello {{name}} 1.0.0"}
    assert await edited(admin, "ask", **same) == 200
    await colleague.browser.open(PAGE)
    assert "Asks for approval" in colleague.browser.html
    assert 'value="approve"' in colleague.browser.html

    assert await edited(admin, **{**same, "left-subject": "Other"}) == 200
    await colleague.browser.open(PAGE)
    assert "Asks for approval" not in colleague.browser.html


async def test_texts_of_strangers_are_text(admin: SignedIn) -> None:
    english = {"format": "html", "subject": HOSTILE, "body": f"<p>{HOSTILE}</p>"}
    await admin.post(API, draft(locales={"en": english}, preview_samples={HOSTILE: {"name": HOSTILE}}))
    await admin.browser.open(PAGE)
    html = admin.browser.html
    assert "onerror=&quot;alert(1)" in html
    for raw in ('onerror="alert', "</textarea><script", "<script>alert"):
        assert raw not in html
    await admin.browser.open("/console/templates?key=<script>alert(3)</script>")
    assert "<script>alert" not in admin.browser.html


async def test_mails_stand_in_frames_that_may_do_nothing(admin: SignedIn) -> None:
    await admin.post(API, draft())
    await admin.browser.open(PAGE)
    frame = re.search(
        r'<iframe title="[^"]*" src="/console/templates/frame" sandbox="([^"]*)"', admin.browser.html
    )
    assert frame is not None
    assert frame[1] == "allow-scripts"
    shell = await admin.get("/console/templates/frame")
    policy = shell.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'; sandbox allow-scripts" in policy
    assert "frame-ancestors 'self'" in policy
    still = await admin.get(f"{PAGE}/frame?locale=fa-AF")
    assert "سلام Laila" in still.text
    assert still.headers["content-security-policy"].endswith("; sandbox")
    assert "script-src" not in still.headers["content-security-policy"]


async def test_the_difference_is_marked_word_by_word(admin: SignedIn) -> None:
    await admin.post(API, draft())
    english = {**draft()["locales"]["en"], "body": "<p>Hello {{name}}, this is better.</p>"}
    await admin.post(API, later("1.1.0", locales={"en": english}))
    await admin.browser.open("/console/templates/welcome/email/diff?from=1.0.0&to=1.1.0")
    html = admin.browser.html
    assert "<del>1.0.0</del>" in html or "<del>1</del>" in html
    assert "<ins>better</ins>" in html
    assert "− fa-AF" in html


async def test_a_template_is_rolled_back_archived_and_restored(admin: SignedIn) -> None:
    at = admin.browser
    for made in (draft(), later("1.1.0")):
        await admin.post(API, made)
        await admin.post(f"{API}/{made['semver']}/publish")
    await at.open("/console/templates/welcome/email")
    await at.post("/console/templates/welcome/email/rollback", to="1.0.0", reason="the new one is wrong")
    assert "The earlier version is in force again." in at.html
    assert (await admin.get("/api/v1/templates/welcome/email")).json()["active_version"] == "1.0.0"
    await at.post("/console/templates/welcome/email/archive")
    assert "It is archived." in at.html
    assert "Restore" in at.html
    await at.post("/console/templates/welcome/email/restore")
    assert "It is back as it was." in at.html


async def test_viewers_look_and_change_nothing(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    await admin.post(API, draft())
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="viewer")
    at = viewer.browser
    await at.open(PAGE)
    assert "Hello Laila 1.0.0" in at.html
    for button in ('value="publish"', 'value="save"', 'name="do" value="ask"'):
        assert button not in at.html
    answer = await at.post(
        f"{PAGE}/save",
        follow=True,
        do="save",
        version="1",
        left="en",
        **{"left-body": "x", "left-subject": "y"},
    )
    assert answer.status_code == 403
    assert "Your role may not do that." in at.html
    forged = await at.client.post(f"{PAGE}/save", data={"do": "publish"})
    assert forged.status_code == 403
    assert (await stored(admin))["version"] == 1


async def test_a_zip_goes_out_and_comes_in_again_with_a_report(admin: SignedIn) -> None:
    await admin.post(API, draft())
    exported = await admin.get("/console/templates/export?key=welcome&channel=email")
    assert exported.headers["content-disposition"] == 'attachment; filename="templates-welcome-email.zip"'
    await admin.browser.open("/console/templates/import")

    async def send(content: bytes, do: str) -> str:
        answer = await admin.browser.client.post(
            "/console/templates/import",
            data={"csrf": admin.csrf, "do": do},
            files={"file": ("templates.zip", content, "application/zip")},
            headers={"sec-fetch-site": "same-origin"},
        )
        return str(answer.text)

    tried = await send(exported.content, "try")
    assert "Nothing was written" in tried
    assert "templates/welcome/email/en/body.html" in tried
    taken = await send(exported.content, "take")
    assert "As before" in taken
    assert 'role="alert"' in await send(b"no zip at all", "take")


async def test_tenants_look_at_the_platform_s_texts_and_make_them_their_own(
    world: HttpWorld, admin: SignedIn
) -> None:
    async with world.as_platform() as platform:
        path = "/api/v1/templates/house_welcome/email/versions"
        made = await platform.post(path, json=draft())
        assert made.status_code in (201, 409), made.text
        await platform.post(f"{path}/1.0.0/publish")
    at = admin.browser
    page = "/console/templates/house_welcome/email"
    await at.open(f"{page}/versions/1.0.0?owner=platform")
    assert "Hello Laila 1.0.0" in at.html
    assert f'action="{page}/customise"' in at.html
    for button in ("/archive", 'value="publish"', 'id="verdict"'):
        assert button not in at.html
    await at.post(f"{page}/customise")
    assert "This is a draft of your own now" in at.html
    assert 'value="publish"' in at.html
    await at.open(page)
    assert f"{page}/versions/1.0.0?owner=platform" in at.html
    # Other tests of this database have none of the platform's.
    async with world.as_platform() as platform:
        assert (await platform.post("/api/v1/templates/house_welcome/email/archive")).status_code == 200


async def test_the_platform_s_people_write_the_platform_s_templates(world: HttpWorld) -> None:
    boss = await an_operator(world, None, email="editor")
    at = boss.browser
    await at.open("/console/templates/new")
    await at.post(
        "/console/templates/new", key="house_rules", channel="sms", category="transactional", locale="en"
    )
    assert "The draft is there: write it." in at.html
    page = "/console/templates/house_rules/sms/versions/1.0.0"
    fields = {"left": "en", "left-body": "No smoking, {{name}}", "version": "1"}
    await at.post(f"{page}/save", follow=True, **fields, do="publish")
    assert "name is not declared" in at.html
    fields |= {"version": "2", "left-body": "No smoking."}
    await at.post(f"{page}/save", follow=True, **fields, do="publish")
    assert "It is published" in at.html
    assert "1 × SMS" in at.html
    await at.open("/console/templates/house_rules/sms")
    await at.post("/console/templates/house_rules/sms/archive")
    assert "It is archived." in at.html
