"""Drafts are changed, approved, deleted and put away; versions are listed and compared."""

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft, later

PATH = "/api/v1/templates/welcome/email"
ONE = f"{PATH}/versions/1.0.0"


def content(**changes: object) -> dict[str, object]:
    made = later("1.0.0") | changes
    del made["semver"]
    return made


async def test_a_draft_is_changed_from_the_version_that_was_read(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    english = {"en": {"format": "html", "subject": "Hi", "body": "<p>Hi {{name}}</p>"}}
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(f"{PATH}/versions", json=draft())
        unsure = await client.put(ONE, json=content())
        changed = await client.put(
            ONE, json=content(locales=english), headers={"If-Match": made.headers["etag"]}
        )
        stale = await client.put(ONE, json=content(), headers={"If-Match": made.headers["etag"]})
        patched = await client.patch(
            ONE,
            json={"locales": {"fr": {"subject": "s", "body": "b"}, "en": None}, "partials": {"a": "b"}},
            headers={"If-Match": changed.headers["etag"]},
        )
        emptied = await client.patch(
            ONE, json={"locales": {"fr": None}}, headers={"If-Match": patched.headers["etag"]}
        )
        unknown = await client.patch(ONE, json={"semver": "2.0.0"}, headers={"If-Match": "*"})

    assert (unsure.status_code, stale.status_code) == (428, 412)
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert changed.json()["locales"] == english
    assert set(patched.json()["locales"]) == {"fr"}
    assert patched.json()["partials"] == {"a": "b"}
    assert patched.json()["preview_samples"] == draft()["preview_samples"]
    assert emptied.json()["errors"][0]["field"] == "locales"
    assert unknown.json()["errors"][0]["field"] == "semver"


async def test_only_drafts_can_be_changed_or_deleted(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    any_version = {"If-Match": "*"}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(f"{PATH}/versions", json=draft())
        gone = await client.delete(ONE, headers=any_version)
        missing = await client.get(ONE)
        again = await client.post(f"{PATH}/versions", json=later("1.0.0"))
        await client.post(f"{ONE}/publish")
        refused = [
            await client.put(ONE, json=content(), headers=any_version),
            await client.patch(ONE, json={}, headers=any_version),
            await client.delete(ONE, headers=any_version),
            await client.post(f"{ONE}/approve"),
        ]
        audit = await client.get("/api/v1/audit", params={"entity_type": "template"})

    assert (gone.status_code, missing.status_code, again.status_code) == (204, 404, 201)
    assert {answer.json()["code"] for answer in refused} == {"template_not_draft"}
    assert "version.deleted" in [row["action"] for row in audit.json()["items"]]


async def test_the_one_in_force_can_be_put_away_and_brought_back(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(f"{PATH}/versions", json=draft())
        await client.post(f"{ONE}/publish")
        put_away = await client.post(f"{ONE}/archive", json={"reason": "no longer"})
        same = await client.post(f"{ONE}/archive")
        template = await client.get(PATH)
        archived = await client.get("/api/v1/templates", params={"key": "welcome", "status": "archived"})
        back = await client.post(f"{PATH}/rollback", json={"to": "1.0.0"})
        active = await client.get("/api/v1/templates", params={"key": "welcome", "status": "active"})

    assert (put_away.json()["status"], same.status_code) == ("archived", 200)
    assert template.json()["active_version"] is None
    assert [line["key"] for line in archived.json()["items"]] == ["welcome"]
    assert back.json()["status"] == "active"
    assert [line["active_version"] for line in active.json()["items"]] == ["1.0.0"]


async def test_what_a_machine_drafted_needs_another_pair_of_eyes(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    provenance = {"model": "m-1", "prompt_hash": "sha256:ab", "requested_by": "jwt:boss"}
    async with (
        world.http.as_tenant(tenant.id) as author,
        world.http.as_tenant(tenant.id) as approver,
    ):
        made = await author.post(f"{PATH}/versions", json=draft(ai_provenance=provenance))
        unapproved = await author.post(f"{ONE}/publish")
        own = await author.post(f"{ONE}/approve")
        stale = await approver.post(f"{ONE}/approve", headers={"If-Match": '"v9"'})
        approved = await approver.post(f"{ONE}/approve", headers={"If-Match": made.headers["etag"]})
        mended = await author.put(ONE, json=content(), headers={"If-Match": approved.headers["etag"]})
        again = await author.post(f"{ONE}/publish")
        await approver.post(f"{ONE}/approve")
        published = await author.post(f"{ONE}/publish")

    assert (made.json()["source"], made.json()["ai_provenance"]) == ("ai_drafted", provenance)
    assert unapproved.json()["code"] == "approval_missing"
    assert own.json()["code"] == "approver_is_requester"
    assert stale.status_code == 412
    assert approved.json()["approved_by"] not in (None, made.json()["created_by"])
    assert (mended.json()["approved_by"], mended.json()["source"]) == (None, "ai_drafted")
    assert again.json()["code"] == "approval_missing"
    assert published.json()["status"] == "active"
    assert published.json()["ai_provenance"] == provenance | {"changed_by": [made.json()["created_by"]]}


async def test_nobody_approves_their_own_words(world: TemplateWorld) -> None:
    """Neither by naming somebody else as the one who asked, nor by rewriting what another one made."""
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as bot, world.http.as_tenant(tenant.id) as eve:
        known_as = (await eve.put("/api/v1/layouts/mine", json={"text": "x"})).json()["updated_by"]
        asked = {"model": "m-1", "prompt_hash": "sha256:ab", "requested_by": known_as}
        await bot.post(f"{PATH}/versions", json=draft(ai_provenance=asked))
        first = await eve.post(f"{ONE}/approve")
        other = asked | {"requested_by": "jwt:somebody"}
        changed = await eve.put(ONE, json=content(ai_provenance=other), headers={"If-Match": "*"})
        second = await eve.post(f"{ONE}/approve")
    stranger = await world.http.tenant()
    async with world.http.as_tenant(stranger.id) as bot, world.http.as_tenant(stranger.id) as eve:
        await bot.post(f"{PATH}/versions", json=draft(ai_provenance=other))
        rewritten = await eve.put(ONE, json=content(), headers={"If-Match": "*"})
        third = await eve.post(f"{ONE}/approve")

    assert (changed.status_code, rewritten.status_code) == (200, 200)
    assert changed.json()["ai_provenance"]["requested_by"] == known_as
    assert [r.json()["code"] for r in (first, second, third)] == ["approver_is_requester"] * 3


async def test_two_versions_are_compared_by_locale_and_field(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    changed = later("1.1.0")
    changed["locales"]["en"]["subject"] = "Other"
    changed["locales"]["fr"] = changed["locales"].pop("fa-AF")
    changed["strings"] = {"en": {"a": "b"}}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(f"{PATH}/versions", json=draft())
        await client.post(f"{PATH}/versions", json=changed)
        compared = (await client.get(f"{PATH}/diff", params={"from": "1.0.0", "to": "1.1.0"})).json()
        same = (await client.get(f"{PATH}/diff", params={"from": "1.1.0", "to": "1.1.0"})).json()
        wrong = await client.get(f"{PATH}/diff", params={"from": "one", "to": "1.1.0"})
        missing = await client.get(f"{PATH}/diff", params={"from": "9.0.0", "to": "1.1.0"})

    fields = {(change["locale"], change["field"]) for change in compared["changes"]}
    assert fields >= {
        ("en", "subject"),
        ("en", "body"),
        ("en", "strings.a"),
        ("fr", "body"),
        ("fa-AF", "body"),
    }
    assert (compared["locales_added"], compared["locales_removed"]) == (["fr"], ["fa-AF"])
    assert "-Hello {{name}} 1.0.0\n+Other\n" in compared["unified"]
    assert same["changes"] == []
    assert wrong.json()["errors"][0]["field"] == "from"
    assert missing.json()["code"] == "template_version_not_found"


async def test_templates_are_listed_with_what_is_worth_knowing(world: TemplateWorld) -> None:
    one, two = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(one.id) as client, world.http.as_tenant(two.id) as stranger:
        for channel in ("email", "sms"):
            path = f"/api/v1/templates/listed/{channel}/versions"
            body = draft(locales={"en": {"subject": "s", "body": "{{name}}"}})
            await client.post(path, json=body)
            await client.post(f"{path}/1.0.0/publish")
            await client.post(path, json=later("1.1.0"))
        both = await client.get("/api/v1/templates", params={"key": "listed"})
        first = await client.get("/api/v1/templates", params={"key": "listed", "limit": 1})
        rest = await client.get(
            "/api/v1/templates", params={"key": "listed", "cursor": first.json()["next_cursor"]}
        )
        mails = await client.get("/api/v1/templates", params={"key": "listed", "channel": "email"})
        other = await stranger.get("/api/v1/templates", params={"key": "listed"})
        wrong = await client.get("/api/v1/templates", params={"status": "new"})

    lines = both.json()["items"]
    assert [(line["channel"], line["active_version"], line["latest_version"]) for line in lines] == [
        ("sms", "1.0.0", "1.1.0"),
        ("email", "1.0.0", "1.1.0"),
    ]
    assert lines[0]["locales"] == ["en"]
    assert (lines[0]["latest_status"], lines[0]["owner"], lines[0]["accepted_30_days"]) == (
        "draft",
        "tenant",
        None,
    )
    assert first.json()["items"] + rest.json()["items"] == lines
    assert [line["channel"] for line in mails.json()["items"]] == ["email"]
    assert other.json()["items"] == []
    assert wrong.status_code == 400


async def test_a_report_that_is_too_long_says_so_and_hides_no_error(world: TemplateWorld) -> None:
    """What comes last is what a try finds: it counts, though warnings filled the report before."""
    unused = {f"unused{n}": {"type": "string"} for n in range(205)}
    schema = {"type": "object", "properties": {"name": {"type": "string"}, **unused}}
    empty = {"en": {"format": "text", "subject": "Hi", "body": "{{#if name}}Hi{{/if}}"}}
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        body = draft(variables_schema=schema, locales=empty, preview_samples={"nobody": {}})
        made = await client.post(f"{PATH}/versions", json=body)
        report = (await client.post(f"{ONE}/validate")).json()
        refused = await client.post(f"{ONE}/publish")

    assert made.status_code == 201, made.text
    assert [found["severity"] for found in report["findings"]] == ["warning"] * 200 + ["error"]
    assert report["findings"][-1]["what"] == "there are 6 more findings than the 200 that are listed"
    assert report["publishable"] is False
    assert refused.json()["code"] == "template_unpublishable"
