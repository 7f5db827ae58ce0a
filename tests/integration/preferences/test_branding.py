"""A tenant's look, from one source: in mails, in previews and on pages; a channel's overrides over it."""

from typing import Any

import pytest

from tests.integration.preferences.visitors import visitor
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.tenants import NotificationPolicy

pytestmark = pytest.mark.xdist_group("preferences-branding")

HOME = "/api/v1/branding"
LOOK = {
    "name": "Saffron House",
    "logo_url": "https://saffron.example/logo.png",
    "primary_colour": "#f5d76e",
    "footer": "Saffron House, Kabul",
    "support_url": "https://saffron.example/help",
}


async def mail(world: PipelineWorld, sender: Sender) -> str:
    """The HTML of the platform's otp, as it arrives."""
    to = f"laila-{unused()}@example.test"
    made = await sender.client.post("/api/v1/recipients", json=person(to))
    await sender.send(recipient=made.json()["id"], template="otp", variables={"code": "493817"})
    await world.settle()
    [received] = world.received(to)
    return received.html or ""


async def put(sender: Sender, look: dict[str, Any]) -> Any:
    tag = (await sender.client.get(HOME)).headers["etag"]
    return await sender.client.put(HOME, json=look, headers={"If-Match": tag})


async def test_the_look_reaches_mails_previews_and_pages(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        before = await mail(world, sender)
        said = await put(sender, LOOK)
        after = await mail(world, sender)
        shown = await sender.client.get("/api/v1/templates/otp/email/versions", params={"owner": "platform"})
        semver = shown.json()["items"][0]["semver"]
        preview = await sender.client.post(f"/api/v1/templates/otp/email/versions/{semver}/preview")
        laila = await visitor(world, sender)
        page = await laila.browser.get(f"/p/{laila.token}")

    assert said.status_code == 200, said.text
    assert "#1f6f5c" in before
    assert "saffron" not in before.lower()
    for html in (after, preview.json()["html"]):
        assert 'src="https://saffron.example/logo.png"' in html
        assert "#f5d76e" in html
        assert "Saffron House, Kabul" in html
        assert "#1f6f5c" not in html
    assert said.json()["theme_etag"].endswith("v1")
    assert "--accent:#f5d76e" in page.text
    assert "Saffron House, Kabul" in page.text
    assert 'href="https://saffron.example/help"' in page.text


async def test_a_channel_overrides_parts_of_it(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await put(sender, LOOK)
        await sender.rows(
            "UPDATE notification.channels SET branding_overrides = $1 WHERE channel = 'email'",
            '{"product_name": "Saffron Post", "primary_colour": "#102030"}',
        )
        html = await mail(world, sender)

    assert "#102030" in html
    assert "#f5d76e" not in html
    assert 'alt="Saffron Post"' in html
    assert "Saffron House, Kabul" in html


async def test_a_logo_follows_the_rules_for_links(world: PipelineWorld) -> None:
    policy = NotificationPolicy(allowed_link_domains=("saffron.example",))
    async with world.sender(policy) as sender:
        refused = await put(sender, {**LOOK, "logo_url": "https://elsewhere.example/logo.png"})
        script = await put(sender, {**LOOK, "logo_url": "javascript:alert(1)"})
        await put(sender, LOOK)
        # The list is narrowed afterwards: the logo is left out, and no message fails for it.
        async with world.http.as_platform() as platform:
            path = f"/internal/v1/tenants/{sender.tenant_id}"
            tag = (await platform.get(path)).headers["etag"]
            narrowed = await platform.patch(
                path,
                json={
                    "notification_policy": {
                        "allowed_link_domains": ["other.example"],
                        "allowed_sender_domains": ["*"],
                    }
                },
                headers={"If-Match": tag},
            )
            assert narrowed.status_code == 200, narrowed.text
        html = await mail(world, sender)

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "logo_url")
    assert script.status_code == 400
    assert "<img" not in html
    assert "Saffron House" in html


async def test_a_change_needs_the_version_that_was_read_and_is_nobody_elses(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as other:
        first = await put(sender, LOOK)
        stale = await sender.client.put(HOME, json=LOOK, headers={"If-Match": '"v0"'})
        blind = await sender.client.put(HOME, json=LOOK)
        again = await put(sender, LOOK)
        unsaid = (await other.client.get(HOME)).json()

    assert (first.status_code, stale.status_code, blind.status_code) == (200, 412, 428)
    assert again.json()["version"] == 1
    assert (unsaid["branding"], unsaid["version"]) == ({}, 0)
