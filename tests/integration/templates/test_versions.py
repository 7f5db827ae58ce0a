"""Templates through HTTP: drafted, published, rolled back, and what is refused on the way."""

import asyncio
from typing import Any

import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft, later
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT

PATH = "/api/v1/templates/welcome/email"


async def test_a_version_is_drafted_published_shown_and_listed(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(f"{PATH}/versions", json=draft())
        unpublished = await client.get(PATH)
        published = await client.post(f"{PATH}/versions/1.0.0/publish")
        again = await client.post(f"{PATH}/versions/1.0.0/publish", json={"reason": "sure"})
        shown = await client.get(made.headers["location"])
        template = await client.get(PATH)
        listed = await client.get(f"{PATH}/versions")

    assert (made.status_code, made.json()["status"]) == (201, "draft")
    assert unpublished.json()["active_version"] is None
    assert (published.status_code, published.json()["status"]) == (200, "active")
    assert again.json() == published.json() == shown.json()
    assert shown.json()["locales"]["en"] == draft()["locales"]["en"]
    assert (template.json()["active_version"], template.json()["owner"]) == ("1.0.0", "tenant")
    assert template.headers["etag"] == '"v2"'
    assert [(v["semver"], v["locales"]) for v in listed.json()["items"]] == [("1.0.0", ["en", "fa-AF"])]


async def test_publishing_supersedes_and_rolling_back_returns(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        for body in (draft("1.0.0"), later("1.1.0"), later("1.2.0")):
            await client.post(f"{PATH}/versions", json=body)
            await client.post(f"{PATH}/versions/{body['semver']}/publish")
        back = [(await client.post(f"{PATH}/rollback")).json() for _ in range(3)]
        forth = await client.post(f"{PATH}/rollback", json={"to": "1.2.0", "reason": "mended"})
        listed = await client.get(f"{PATH}/versions")
        audit = await client.get("/api/v1/audit", params={"entity_type": "template"})

    assert [answer.get("semver") for answer in back] == ["1.1.0", "1.0.0", None]
    assert back[2]["code"] == "nothing_to_roll_back_to"
    assert forth.json()["semver"] == "1.2.0"
    assert [(v["semver"], v["status"]) for v in listed.json()["items"]] == [
        ("1.2.0", "active"),
        ("1.1.0", "archived"),
        ("1.0.0", "archived"),
    ]
    actions = [row["action"] for row in audit.json()["items"]]
    assert actions.count("published") == 3
    assert actions.count("rolled_back") == 3


async def test_each_publish_is_told_once(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(f"{PATH}/versions", json=draft())
        answers = await asyncio.gather(*(client.post(f"{PATH}/versions/1.0.0/publish") for _ in range(4)))
    async with world.http.db.worker() as tx:
        events = await tx.connection.fetch(
            "SELECT payload::text AS payload FROM notification.outbox WHERE tenant_id = $1 AND subject = 'template.published.v1'",
            tenant.id,
        )

    assert {answer.status_code for answer in answers} <= {200, 409, 412}
    assert 200 in {answer.status_code for answer in answers}
    assert len(events) == 1
    assert "Hello" not in events[0]["payload"]


async def test_every_fault_of_every_locale_is_named_at_once(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    locales: dict[str, Any] = {
        "en": {"format": "html", "subject": "{{nam}}", "body": "<p {{x}}>a</p>"},
        "fr": {"format": "mjml", "subject": "s", "body": "<mjml><mj-body><mj-section></mj-body></mjml>"},
        "de": {"format": "html", "body": "<p>{{#if name}}</p>{{/if}}<script>x</script>"},
        "ar": {"format": "html", "subject": "s", "body": "<p>{{shout name}}</p>"},
        "ps": {"format": "html", "subject": "s", "body": "<p>{{#if name}}</p>"},
    }
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{PATH}/versions", json=draft(locales=locales, preview_samples={"bad": {"nam": 1}})
        )
        refused = await client.post(f"{PATH}/versions/1.0.0/publish")
        shown = await client.get(f"{PATH}/versions/1.0.0")

    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (400, "template_unpublishable")
    fields = {error["field"] for error in problem["errors"]}
    assert fields >= {
        "locales.en.subject",
        "locales.en.body",
        "locales.fr.body",
        "locales.de.subject",
        "locales.ar.body",
        "locales.ps.body",
        "preview_samples.bad.name",
        "preview_samples.bad.nam",
    }
    assert shown.json()["status"] == "draft"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"locales": {"fr": {"subject": "s", "body": "b"}}}, "locales"),
        ({"preview_samples": {}}, "preview_samples"),
        ({"variables_schema": {"type": "array"}}, "variables_schema.type"),
        ({"locales": {"en": {"subject": "s", "body": "{{{name}}}", "format": "html"}}}, "locales.en.body"),
        ({"locales": {"en": {"subject": "s", "body": "{{date name}}"}}}, "locales.en.body"),
        ({"locales": {"en": {"subject": "s", "body": "{{url}}"}}}, "locales.en.body"),
        ({"locales": {"en": {"subject": "s", "body": "{}", "format": "json"}}}, "locales.en.format"),
        (
            {
                "locales": {
                    "en": {"subject": "s", "body": '<a href="https://evil.example">x</a>', "format": "html"}
                }
            },
            "locales.en.body",
        ),
        (
            {
                "locales": {
                    "en": {
                        "subject": "s",
                        "body": "<p>x</p>",
                        "text": "visit https://evil.example/",
                        "format": "html",
                    }
                }
            },
            "locales.en.text",
        ),
    ],
)
async def test_these_can_not_be_published(world: TemplateWorld, changes: dict[str, Any], field: str) -> None:
    async with world.http.as_platform() as platform:
        made = await platform.post(
            "/internal/v1/tenants",
            json={
                "name": "Strict",
                "slug": "s" + TENANT.new(SystemClock().now())[-12:].lower(),
                "notification_policy": {"allowed_link_domains": ["shop.example"]},
            },
        )
    async with world.http.as_tenant(made.json()["id"]) as client:
        drafted = await client.post(f"{PATH}/versions", json=draft(**changes))
        refused = await client.post(f"{PATH}/versions/1.0.0/publish")

    assert drafted.status_code == 201
    assert refused.status_code == 400
    assert field in {error["field"] for error in refused.json()["errors"]}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/v1/templates/Wel come/email", draft(), "key"),
        ("/api/v1/templates/welcome/pigeon", draft(), "channel"),
        (PATH, draft("one"), "semver"),
        (PATH, draft(category="gossip"), "category"),
        (PATH, later("1.0.0"), "category"),
        (PATH, draft(locales={}), "locales"),
        (PATH, draft(locales={"klingon!": {"body": "x"}}), "locales"),
        (PATH, draft(locales={"en": {"body": "x", "format": "word"}}), "locales.en.format"),
        (PATH, draft(locales={"en": {"body": "x", "subject": "a\nb"}}), "locales.en.subject"),
        (PATH, draft(locales={"en": {"body": ""}}), "locales.en.body"),
        (PATH, draft(extra=1), "extra"),
        (PATH, draft(default_priority="soon"), "default_priority"),
    ],
)
async def test_a_draft_of_the_wrong_form_is_refused(
    world: TemplateWorld, path: str, body: dict[str, Any], field: str
) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.post(f"{path}/versions", json=body)

    assert refused.status_code == 400, refused.text
    assert any(error["field"].startswith(field) for error in refused.json()["errors"]), refused.text


async def test_a_number_is_taken_once_and_facts_of_the_template_stay(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        first = await client.post(f"{PATH}/versions", json=draft(), headers={"Idempotency-Key": "k1"})
        same = await client.post(f"{PATH}/versions", json=draft(), headers={"Idempotency-Key": "k1"})
        taken = await client.post(f"{PATH}/versions", json=draft())
        other = await client.post(f"{PATH}/versions", json=draft("1.1.0", category="marketing"))
        unknown = await client.post(f"{PATH}/versions/9.9.9/publish")
        missing = await client.post("/api/v1/templates/nothing/email/versions/1.0.0/publish")

    assert same.json() == first.json()
    assert (taken.status_code, taken.json()["code"]) == (409, "template_version_taken")
    assert other.json()["errors"][0]["field"] == "category"
    assert (unknown.status_code, unknown.json()["code"]) == (404, "template_version_not_found")
    assert (missing.status_code, missing.json()["code"]) == (404, "template_not_found")


async def test_an_archived_version_can_not_be_published_again(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        for body in (draft("1.0.0"), later("1.1.0")):
            await client.post(f"{PATH}/versions", json=body)
            await client.post(f"{PATH}/versions/{body['semver']}/publish")
        refused = await client.post(f"{PATH}/versions/1.0.0/publish")

    assert (refused.status_code, refused.json()["code"]) == (409, "template_not_draft")


async def test_no_tenant_sees_another_and_viewers_only_look(world: TemplateWorld) -> None:
    one, two = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(one.id) as client:
        await client.post(f"{PATH}/versions", json=draft())
        await client.post(f"{PATH}/versions/1.0.0/publish")
    async with (
        world.http.as_tenant(two.id) as stranger,
        world.http.as_tenant(one.id, role="tenant.viewer") as viewer,
    ):
        unseen = await stranger.get(PATH)
        seen = await viewer.get(PATH)
        refused = await viewer.post(f"{PATH}/versions", json=later("1.1.0"))

    assert unseen.status_code == 404
    assert seen.status_code == 200
    assert refused.status_code == 403


@pytest.mark.parametrize("name", ["con", "nul", "lpt1", "aux.welcome"])
async def test_a_name_that_windows_keeps_for_a_device_is_refused(world: TemplateWorld, name: str) -> None:
    """A folder with it can't be checked out there; a zip with it is refused in the same words."""
    versions, layout = f"/api/v1/templates/{name}/email/versions", name.partition(".")[0]
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = [
            await client.post(versions, json=draft()),
            await client.put(f"/api/v1/layouts/{layout}", json={"text": "{{> body}}"}),
            await client.post(f"{PATH}/versions", json=draft(partials={layout: "x"})),
        ]
        listed = (await client.get("/api/v1/templates")).json()["items"]
        layouts = (await client.get("/api/v1/layouts")).json()["items"]

    told = [(r.status_code, r.json()["errors"][0]["field"]) for r in refused]
    assert told == [(400, "key"), (400, "name"), (400, f"partials.{layout}")]
    for answer, part in zip(refused, (name, layout, layout), strict=True):
        expected = f"is named {part}, which no file can be called on Windows; choose another name"
        assert answer.json()["errors"][0]["remedy"] == expected
    assert [one for one in listed if one["owner"] == "tenant"] + layouts == []
