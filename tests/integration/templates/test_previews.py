"""Previews: of drafts and of what is published, for samples, variables and people, as JSON and as a page."""

from dataclasses import replace
from typing import Any

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft
from tests.support.http import http_world
from tidings.kernel.db import Database

PATH = "/api/v1/templates/welcome/email/versions"
SMS = "/api/v1/templates/welcome/sms/versions"


async def test_a_draft_is_shown_in_the_language_that_was_asked_for(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft())
        dari = (await client.post(f"{PATH}/1.0.0/preview", json={"locale": "fa-AF"})).json()
        pashto = (
            await client.post(f"{PATH}/1.0.0/preview", json={"locale": "ps-AF", "width": "mobile"})
        ).json()
        given = (await client.post(f"{PATH}/1.0.0/preview", json={"variables": {"name": "A<b"}})).json()
        wrong = await client.post(f"{PATH}/1.0.0/preview", json={"variables": {"nam": "x"}})
        unknown = await client.post(f"{PATH}/1.0.0/preview", json={"sample": "none"})
        state = await client.get(f"{PATH}/1.0.0")

    assert (dari["subject"], dari["direction"], dari["sample"]) == ("سلام Laila", "rtl", "usual")
    assert dari["locale_why"] == "it is the one that was wanted"
    assert (pashto["locale"], pashto["locale_wanted"], pashto["width"]) == ("en", "ps-AF", 360)
    assert "template's fallback chain" in pashto["locale_why"]
    assert ("A&lt;b" in given["html"], "A<b" in given["text"], given["sample"]) == (True, True, None)
    assert wrong.json()["code"] == "invalid_variables"
    assert "usual" in unknown.json()["errors"][0]["remedy"]
    assert state.json()["status"] == "draft"


async def test_what_is_not_saved_is_shown_and_looked_at_and_nothing_is_written(
    world: TemplateWorld,
) -> None:
    tenant = await world.http.tenant()
    english = {**draft()["locales"]["en"], "subject": "Bye {{name}}"}
    german = {**english, "subject": "Tschüss {{name}}"}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft())
        before = (await client.get(f"{PATH}/1.0.0")).json()
        changes = {"locales": {"en": english, "de": german}}
        shown = [
            (await client.post(f"{PATH}/1.0.0/preview", json={"locale": tag, "changes": changes})).json()
            for tag in ("en", "de", "fa-AF")
        ]
        wrong = {"locales": {"en": {**english, "body": "<p>{{#if name}}</p>"}}}
        report = (await client.post(f"{PATH}/1.0.0/validate", json={"changes": wrong})).json()
        nothing = {"changes": {"locales": dict.fromkeys(before["locales"])}}
        none = await client.post(f"{PATH}/1.0.0/preview", json=nothing)
        after = (await client.get(f"{PATH}/1.0.0")).json()

    assert [one["subject"] for one in shown] == ["Bye Laila", "Tschüss Laila", "سلام Laila"]
    assert report["publishable"] is False
    assert {found["locale"] for found in report["findings"] if found["severity"] == "error"} == {"en"}
    assert none.json()["errors"][0]["field"] == "locales"
    assert after == before


async def test_a_broken_text_is_refused_with_its_report_and_the_others_are_shown(
    world: TemplateWorld,
) -> None:
    tenant = await world.http.tenant()
    locales: dict[str, Any] = draft()["locales"]
    locales["fa-AF"]["body"] = "<p>\n{{#if name}}</p>"
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft(locales=locales))
        broken = await client.post(f"{PATH}/1.0.0/preview", json={"locale": "fa-AF"})
        whole = await client.post(f"{PATH}/1.0.0/preview", json={"locale": "en"})

    assert (broken.status_code, broken.json()["code"]) == (400, "template_unpublishable")
    assert broken.json()["report"][0]["locale"] == "fa-AF"
    assert whole.status_code == 200


async def test_a_text_that_ends_its_child_is_refused_with_a_reason(db: Database) -> None:
    """In a process of its own, whose authors get little time."""
    http = http_world(db)
    tenant = await http.tenant()
    system = http.system.notify.authoring
    system.lane._limits = replace(system.lane._limits, seconds=0.1)
    locales: dict[str, Any] = draft()["locales"]
    locales["en"]["body"] = "<p>" + "{{#if name}}{{name}}{{/if}}" * 4900 + "</p>"
    async with http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft(locales=locales))
        refused = await client.post(f"{PATH}/1.0.0/preview", json={"locale": "en"})
    await system.close()

    assert (refused.status_code, refused.json()["code"]) == (400, "template_unpublishable")
    assert "too long to check" in refused.json()["errors"][0]["remedy"]


async def test_variables_for_a_draft_whose_schema_is_none_are_refused_with_a_reason(
    world: TemplateWorld,
) -> None:
    tenant = await world.http.tenant()
    schema = {"type": "object", "properties": {"name": {"type": "string", "pattern": "("}}}
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(PATH, json=draft(variables_schema=schema))
        refused = await client.post(f"{PATH}/1.0.0/preview", json={"variables": {"name": "Laila"}})

    assert made.status_code == 201
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "variables_schema")


async def test_who_has_used_up_its_processor_time_is_told_when_to_come_again(world: TemplateWorld) -> None:
    """A read-only key is enough to ask for checks; one tenant's are not at another's cost."""
    greedy, other = await world.http.tenant(), await world.http.tenant()
    for tenant in (greedy, other):
        async with world.http.as_tenant(tenant.id) as client:
            await client.post(PATH, json=draft())
    world.http.system.notify.authoring.budget.charge(greedy.id, 60.0)

    async with world.http.as_tenant(greedy.id) as client:
        refused = [await client.post(f"{PATH}/1.0.0/{what}") for what in ("validate", "preview", "publish")]
    async with world.http.as_tenant(other.id) as client:
        taken = await client.post(f"{PATH}/1.0.0/validate")

    assert [(one.status_code, one.json()["code"]) for one in refused] == [(429, "too_much_checking")] * 3
    assert all(1 < int(one.headers["retry-after"]) <= 90 for one in refused)
    assert "20 seconds of processor time" in refused[0].json()["detail"]
    assert taken.status_code == 200


async def test_a_browser_gets_a_page_in_which_nothing_runs(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft())
        page = await client.post(
            f"{PATH}/1.0.0/preview",
            json={"variables": {"name": '"><script>alert(1)</script>'}},
            headers={"Accept": "text/html,application/json;q=0.5"},
        )

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<iframe sandbox" in page.text
    assert "<script" not in page.text
    assert "width:640px" in page.text


async def test_an_sms_is_measured(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    body = "“Hello” {{name}} – " + "x" * 60
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(SMS, json=draft(locales={"en": {"body": body}}))
        shown = (await client.post(f"{SMS}/1.0.0/preview")).json()["sms"]

    assert (shown["encoding"], shown["segments"]) == ("UCS-2", 2)
    assert (shown["encoding_transliterated"], shown["segments_transliterated"]) == ("GSM-7", 1)
    assert {(r["character"], r["replacement"]) for r in shown["transliteration"]} == {
        ("“", '"'),
        ("”", '"'),
        ("–", "-"),
    }
    assert shown["cost_micros"] is None


async def test_a_real_reader_lends_name_and_language_to_whom_may_see_them(world: TemplateWorld) -> None:
    tenant, other = await world.http.tenant(), await world.http.tenant()
    english = {"format": "html", "subject": "s", "body": "<p>{{@recipient.name}} {{name}}</p>"}
    async with (
        world.http.as_tenant(tenant.id) as client,
        world.http.as_tenant(tenant.id, scopes=("templates:read",)) as narrow,
        world.http.as_tenant(other.id) as stranger,
    ):
        person = await client.post(
            "/api/v1/recipients",
            json={
                "display_name": "لیلا",
                "locale": "fa-AF",
                "addresses": [{"channel": "email", "address": "laila@example.com"}],
            },
        )
        wanted = {"recipient_id": person.json()["id"]}
        await client.post(PATH, json=draft(locales={"en": english, "fa-AF": english}))
        await stranger.post(PATH, json=draft())
        shown = await client.post(f"{PATH}/1.0.0/preview", json=wanted)
        refused = await narrow.post(f"{PATH}/1.0.0/preview", json=wanted)
        unknown = await stranger.post(f"{PATH}/1.0.0/preview", json=wanted)

    assert person.status_code in (200, 201), person.text
    assert shown.json()["locale"] == "fa-AF"
    assert "لیلا" in shown.json()["html"]
    assert refused.json()["code"] == "missing_scope"
    assert unknown.status_code == 404


async def test_a_look_that_is_not_saved_is_shown_and_not_written(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    body = '<p style="color:{{@brand.color}}">{{@brand.name}}</p>'
    english = {**draft()["locales"]["en"], "body": body}
    look = {"name": "Saffron House", "primary_colour": "#a3541f"}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft(locales={"en": english}))
        shown = (await client.post(f"{PATH}/1.0.0/preview", json={"branding": look})).json()
        wrong = await client.post(f"{PATH}/1.0.0/preview", json={"branding": {"primary_colour": "red"}})
        stored = (await client.get("/api/v1/branding")).json()

    assert "Saffron House" in shown["html"]
    assert "#a3541f" in shown["html"]
    assert wrong.json()["errors"][0]["field"] == "branding.primary_colour"
    assert (stored["branding"], stored["version"]) == ({}, 0)
