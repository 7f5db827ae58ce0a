"""Links that a category does not have: refused at publishing, warned of in previews, with expression, locale and line."""

from typing import Any

import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft

PATH = "/api/v1/templates/welcome/email/versions"
LINK = '<p>Hello {{name}}</p>\n<p><a href="{{@links.unsubscribe}}">No more</a></p>'
GUARDED = (
    "<p>Hello {{name}}</p>{{#if @links.unsubscribe}}<p>"
    '<a href="{{@links.unsubscribe}}">No more</a></p>{{/if}}'
)
PLAIN = "<p>Hello {{name}}</p>\n<p>No more: {{@links.preferences}}</p>"


def wish(body: str, category: str = "transactional", **changes: Any) -> dict[str, Any]:
    locales = {"en": draft()["locales"]["en"], "fa-AF": {**draft()["locales"]["fa-AF"], "body": body}}
    return draft(category=category, locales=locales, **changes)


async def test_an_empty_link_is_refused_with_its_expression_locale_and_line(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=wish(LINK))
        checked = (await client.post(f"{PATH}/1.0.0/validate")).json()
        refused = await client.post(f"{PATH}/1.0.0/publish")

    assert not checked["publishable"]
    [error] = [found for found in checked["findings"] if found["severity"] == "error"]
    assert (error["locale"], error["line"]) == ("fa-AF", 2)
    assert error["file"] == "templates/welcome/email/fa-AF/body.html"
    assert "{{@links.unsubscribe}} is empty in messages of the category transactional" in error["what"]
    assert "{{#if @links.unsubscribe}}" in error["how"]
    assert (refused.status_code, refused.json()["code"]) == (400, "template_unpublishable")
    assert "line 2: {{@links.unsubscribe}}" in refused.json()["errors"][0]["remedy"]


@pytest.mark.parametrize(
    ("body", "category", "warned"),
    [
        (LINK, "reminder", False),
        (GUARDED, "transactional", False),
        (PLAIN, "transactional", True),
        ("<p>{{link @links.unsubscribe name}}</p>", "transactional", True),
    ],
    ids=["can be unsubscribed", "guarded", "a text", "a helper"],
)
async def test_a_link_that_fails_nothing_is_published(
    world: TemplateWorld, body: str, category: str, *, warned: bool
) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=wish(body, category))
        checked = (await client.post(f"{PATH}/1.0.0/validate")).json()
        published = await client.post(f"{PATH}/1.0.0/publish")

    assert published.status_code == 200, published.text
    told = [found["what"] for found in checked["findings"] if "@links." in found["what"]]
    assert bool(told) is warned


async def test_a_preview_shows_it_and_warns(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    asked = {"locale": "fa-AF"}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=wish(LINK))
        shown = (await client.post(f"{PATH}/1.0.0/preview", json=asked)).json()
        plain = (await client.post(f"{PATH}/1.0.0/preview", json={"locale": "en"})).json()
        page = await client.post(f"{PATH}/1.0.0/preview", json=asked, headers={"Accept": "text/html"})
        await client.post(PATH.replace("welcome", "guarded"), json=wish(GUARDED))
        guarded = (
            await client.post(f"{PATH.replace('welcome', 'guarded')}/1.0.0/preview", json=asked)
        ).json()

    assert '/sample">No more</a>' in shown["html"]
    [warning] = shown["warnings"]
    assert (warning["severity"], warning["locale"], warning["line"]) == ("warning", "fa-AF", 2)
    assert plain["warnings"] == []
    assert "Warning: templates/welcome/email/fa-AF/body.html:2:" in page.text
    # What a condition leaves out of a real message is left out here too.
    assert "No more" not in guarded["html"]


async def test_the_first_sample_is_the_one_that_was_written_first(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    samples = {"usual": {"name": "Laila"}, "one": {"name": "Bo"}, "a_long_name": {"name": "Maximilian"}}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft(preview_samples=samples))
        shown = (await client.post(f"{PATH}/1.0.0/preview")).json()
        found = await client.get(f"{PATH}/1.0.0")
        changed = await client.patch(
            f"{PATH}/1.0.0",
            json={"preview_samples": dict(reversed(samples.items()))},
            headers={"If-Match": found.headers["etag"]},
        )
        after = (await client.post(f"{PATH}/1.0.0/preview")).json()

    assert (shown["sample"], list(found.json()["preview_samples"])) == ("usual", list(samples))
    assert (changed.status_code, after["sample"]) == (200, "a_long_name")
