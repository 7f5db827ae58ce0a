"""The platform's templates, read and taken over by tenants; whole templates put away and back."""

from uuid import uuid4

import httpx2

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft, later
from tests.support.pictures import png


def unused_key() -> str:
    return f"shared_{uuid4().hex[:12]}"


async def published(
    client: httpx2.AsyncClient, key: str, semver: str = "1.0.0", *, first: bool = True
) -> None:
    path = f"/api/v1/templates/{key}/email/versions"
    made = await client.post(path, json=draft(semver) if first else later(semver))
    assert made.status_code == 201, made.text
    put = await client.post(f"{path}/{semver}/publish")
    assert put.status_code == 200, put.text


async def test_a_tenant_reads_previews_and_lists_the_platforms(world: TemplateWorld) -> None:
    key, tenant = unused_key(), await world.http.tenant()
    path = f"/api/v1/templates/{key}/email"
    async with world.http.as_platform() as platform, world.http.as_tenant(tenant.id) as client:
        await published(platform, key)
        await platform.post(f"{path}/versions", json=later("2.0.0"))
        versions = (await client.get(f"{path}/versions")).json()["items"]
        version = await client.get(f"{path}/versions/1.0.0")
        unseen = await client.get(f"{path}/versions/2.0.0")
        shown = await client.post(f"{path}/versions/1.0.0/preview", json={"locale": "fa-AF"})
        [line] = (await client.get("/api/v1/templates", params={"key": key})).json()["items"]
        own = await client.get(path, params={"owner": "tenant"})

    assert [one["semver"] for one in versions] == ["1.0.0"]
    assert version.json()["locales"]["en"]["subject"] == "Hello {{name}} 1.0.0"
    assert (unseen.status_code, own.status_code) == (404, 404)
    assert (shown.status_code, shown.json()["subject"]) == (200, "سلام Laila")
    assert (line["owner"], line["latest_version"], line["latest_status"]) == ("platform", "1.0.0", "active")


async def test_a_customised_template_is_a_whole_copy_that_knows_where_it_came_from(
    world: TemplateWorld,
) -> None:
    key, tenant = unused_key(), await world.http.tenant()
    path = f"/api/v1/templates/{key}/email"
    body = {"format": "html", "subject": "Hi {{name}}", "body": '<p>{{> row}}<img src="cid:logo.png"></p>'}
    wish = draft(locales={"en": body}, partials={"row": "{{name}}"}, preview_samples={"b": {"name": "B"}})
    async with world.http.as_platform() as platform, world.http.as_tenant(tenant.id) as client:
        await platform.post(f"{path}/versions", json=wish)
        await platform.put(f"{path}/versions/1.0.0/assets/logo.png", content=png())
        put = await platform.post(f"{path}/versions/1.0.0/publish")
        assert put.status_code == 200, put.text
        made = await client.post(f"{path}/customise")
        copied = (await client.get(f"{path}/versions/1.0.0", params={"owner": "tenant"})).json()
        before = (await client.get(path)).json()
        forced = await client.post(f"{path}/versions/1.0.0/publish")
        after = (await client.get(path)).json()

    assert (made.status_code, made.json()["customised_from"], made.json()["draft"]) == (201, "1.0.0", "1.0.0")
    assert (copied["status"], copied["source"]) == ("draft", "tenant")
    assert copied["locales"]["en"]["body"] == body["body"]
    assert (copied["partials"], [one["name"] for one in copied["assets"]]) == (wish["partials"], ["logo.png"])
    assert copied["preview_samples"] == wish["preview_samples"]
    assert forced.status_code == 200, forced.text
    assert (before["owner"], after["owner"]) == ("platform", "tenant")
    assert (after["customised_from"], after["platform_newer"]) == ("1.0.0", None)


async def test_a_newer_one_of_the_platforms_is_noted_until_it_is_taken_over_or_waved_through(
    world: TemplateWorld,
) -> None:
    key, tenant = unused_key(), await world.http.tenant()
    path = f"/api/v1/templates/{key}/email"
    async with world.http.as_platform() as platform, world.http.as_tenant(tenant.id) as client:
        await published(platform, key)
        await client.post(f"{path}/customise")
        await client.post(f"{path}/versions/1.0.0/publish")
        await published(platform, key, "1.3.0", first=False)
        shown = (await client.get(path)).json()
        [mine] = [
            line
            for line in (await client.get("/api/v1/templates", params={"key": key})).json()["items"]
            if line["owner"] == "tenant"
        ]
        asked = {"from": "1.0.0", "to": "1.3.0", "from_owner": "tenant", "to_owner": "platform"}
        compared = (await client.get(f"{path}/diff", params=asked)).json()
        again = (await client.post(f"{path}/customise")).json()
        taken = (await client.get(path)).json()
        await published(platform, key, "1.4.0", first=False)
        newer = (await client.get(path)).json()
        noted = (await client.post(f"{path}/customise", json={"note_only": True})).json()
        waved = (await client.get(path)).json()

    assert (shown["platform_newer"], mine["platform_newer"]) == ("1.3.0", "1.3.0")
    assert "+<p>Hello {{name}}, this is 1.3.0.</p>" in compared["unified"]
    assert (again["draft"], again["customised_from"], taken["platform_newer"]) == ("1.1.0", "1.3.0", None)
    assert newer["platform_newer"] == "1.4.0"
    assert (noted["draft"], waved["platform_newer"], waved["customised_from"]) == (None, None, "1.4.0")


async def test_an_archived_template_gives_way_to_the_platforms_and_comes_back(world: TemplateWorld) -> None:
    key, tenant = unused_key(), await world.http.tenant()
    path = f"/api/v1/templates/{key}/email"
    async with world.http.as_platform() as platform, world.http.as_tenant(tenant.id) as client:
        await published(platform, key)
        await client.post(f"{path}/customise", json={"semver": "3.0.0"})
        await client.post(f"{path}/versions/3.0.0/publish")
        own = await world.templates.resolve(tenant.id, key, "email")
        put_away = await client.post(f"{path}/archive", json={"reason": "the platform's will do"})
        world.templates.invalidate()
        theirs = await world.templates.resolve(tenant.id, key, "email")
        listed = (await client.get("/api/v1/templates", params={"key": key})).json()["items"]
        shelf = await client.get("/api/v1/templates", params={"key": key, "status": "archived"})
        refused = await client.post(f"{path}/versions", json=draft("4.0.0"))
        back = await client.post(f"{path}/restore")
        world.templates.invalidate()
        again = await world.templates.resolve(tenant.id, key, "email")
        unknown = await client.post("/api/v1/templates/no_such_key/email/archive")

    assert (put_away.status_code, back.status_code, unknown.status_code) == (200, 200, 404)
    assert (str(own.version.semver), str(theirs.version.semver)) == ("3.0.0", "1.0.0")
    assert again.version.id == own.version.id
    assert [line["owner"] for line in listed] == ["platform"]
    assert [(line["owner"], line["archived"]) for line in shelf.json()["items"]] == [("tenant", True)]
    assert "restore it" in refused.json()["errors"][0]["remedy"]
    assert back.json()["active_version"] == "3.0.0"


async def test_only_what_the_platform_has_in_force_can_be_customised(world: TemplateWorld) -> None:
    key, tenant = unused_key(), await world.http.tenant()
    path = f"/api/v1/templates/{key}/email"
    async with world.http.as_platform() as platform, world.http.as_tenant(tenant.id) as client:
        await platform.post(f"{path}/versions", json=draft())
        unpublished = await client.post(f"{path}/customise")
        unnoted = await client.post("/api/v1/templates/otp/email/customise", json={"note_only": True})

    assert (unpublished.status_code, unpublished.json()["code"]) == (404, "template_not_found")
    assert unnoted.status_code == 404
