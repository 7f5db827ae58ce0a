"""Strings, partials and layouts: set in at publishing, frozen from then on; and JSON and WhatsApp."""

import json
from typing import Any

import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft, later

PATH = "/api/v1/templates/welcome/email"
LAYOUT = '<table><tr><td class="top">{{t "brand"}}</td></tr>{{> body}}{{> foot who=@tenant.name}}</table>'


def parted(semver: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    made = draft(
        semver,
        locales={
            "en": {
                "format": "html",
                "subject": '{{t "hello" who=name}}',
                "preheader": "{{> short}}",
                "body": '{{#each items}}{{> row this n=@index}}{{/each}}<tr><td title="{{t "hello" who=name}}">x</td></tr>',
            },
            "ps-AF": {
                "format": "html",
                "subject": '{{t "hello" who=name}}',
                "body": '<tr><td>{{t "hello" who=name}} {{link url (t "more")}}</td></tr>',
            },
        },
        variables_schema={
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "url": {"type": "string"},
                "items": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"title": {"type": "string"}}},
                },
            },
        },
        preview_samples={
            "usual": {
                "name": "Lai<la",
                "url": "https://a.example/",
                "items": [{"title": "Tea"}, {"title": "Rice"}],
            }
        },
        partials={"row": "<tr><td>{{n}}: {{title}}</td></tr>", "short": "for {{name}}"},
        strings={
            "en": {"hello": "Hello {{who}} & all", "brand": "Shop", "more": "See more"},
            "ps-AF": {"hello": "سلام {{who}}", "brand": "هټۍ"},
        },
        layout="frame",
        fallback_chain=["en"],
    )
    return made | changes


async def test_strings_partials_and_a_layout_are_set_in_and_frozen(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.put("/api/v1/layouts/frame", json={"text": LAYOUT})
        foot = await client.put("/api/v1/layouts/foot", json={"text": "<tr><td>by {{who}}</td></tr>"})
        drafted = await client.post(f"{PATH}/versions", json=parted())
        report = await client.post(f"{PATH}/versions/1.0.0/validate")
        published = await client.post(f"{PATH}/versions/1.0.0/publish")
        english = (await client.post(f"{PATH}/versions/1.0.0/preview", json={"locale": "en-GB"})).json()
        stale = await client.put("/api/v1/layouts/frame", json={"text": "x"})
        changed = await client.put(
            "/api/v1/layouts/frame",
            json={"text": "gone {{> body}}"},
            headers={"If-Match": made.headers["etag"]},
        )
        pashto = (await client.post(f"{PATH}/versions/1.0.0/preview", json={"locale": "ps-AF"})).json()
        listed = await client.get("/api/v1/layouts")

    assert (made.status_code, foot.status_code, drafted.status_code) == (200, 200, 201)
    assert report.json()["publishable"], report.text
    assert {(f["severity"], f["field"]) for f in report.json()["findings"]} == {
        ("warning", "strings.ps-AF.more")
    }
    assert published.status_code == 200, published.text
    assert english["subject"] == "Hello Lai<la & all"
    assert english["preheader"] == "for Lai<la"
    assert english["locale_why"].endswith("it is the same language")
    html = english["html"]
    assert "<td>0: Tea</td>" in html
    assert "<td>1: Rice</td>" in html
    assert 'title="Hello Lai&lt;la &amp; all"' in html
    assert html.index("Shop") < html.index("Tea") < html.index("by Sample Tenant")
    assert (stale.status_code, changed.status_code) == (428, 200)
    assert "هټۍ" in pashto["html"]
    assert ">See more</a>" in pashto["html"]
    assert "gone" not in pashto["html"]
    assert (pashto["direction"], pashto["locale"]) == ("rtl", "ps-AF")
    assert [layout["name"] for layout in listed.json()["items"]] == ["foot", "frame"]


async def test_an_inverted_section_is_checked_shown_and_published(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    body = "<p>{{^url}}none{{/url}}{{^if url}} no link{{/if}}{{^each url}} empty{{else}}{{this}}{{/each}}</p>"
    locales = {"en": {"format": "html", "subject": "{{^url}}none{{/url}}", "body": body}}
    schema = {"type": "object", "properties": {"url": {}}}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{PATH}/versions",
            json=draft(locales=locales, variables_schema=schema, preview_samples={"u": {}}),
        )
        report = await client.post(f"{PATH}/versions/1.0.0/validate")
        shown = await client.post(f"{PATH}/versions/1.0.0/preview")
        exported = await client.get("/api/v1/templates/export")
        taken = await client.post(
            "/api/v1/templates/import?dry_run=true",
            content=exported.content,
            headers={"Content-Type": "application/zip"},
        )
        published = await client.post(f"{PATH}/versions/1.0.0/publish")

    assert [a.status_code for a in (report, shown, taken, published)] == [200] * 4, taken.text
    assert report.json()["findings"] == []
    assert shown.json()["subject"] == "none"
    assert "<p>none no link empty</p>" in shown.json()["html"]


async def test_each_fault_is_told_in_its_own_file(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    locales = {
        "en": {
            "format": "html",
            "subject": "s {{t 'nothing'}}",
            "body": "<p>\n{{> row}}\n{{> lost}}</p>\n<p>{{nam}}</p>\n<script>x</script>\n<img src='https://e.example/x.png'>",
        }
    }
    partials = {"row": "<b>\n  {{titel}}</b>{{> deep}}", "deep": "{{> row}}", "idle": "x"}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{PATH}/versions", json=draft(locales=locales, partials=partials, layout=None, strings={})
        )
        report = (await client.post(f"{PATH}/versions/1.0.0/validate")).json()
        refused = (await client.post(f"{PATH}/versions/1.0.0/publish")).json()

    found = {
        (f["file"].removeprefix("templates/welcome/email/"), f["line"], f["what"]) for f in report["findings"]
    }
    assert not report["publishable"]
    assert refused["report"] == report["findings"]
    assert found >= {
        ("en/subject.txt", 1, "there is no string nothing"),
        ("en/body.html", 3, "there is no partial lost"),
        ("en/body.html", 4, "nam is not declared"),
        ("partials/row.hbs", 2, "titel is not declared"),
        ("partials/deep.hbs", 1, "the partial row calls itself"),
        ("partials/idle.hbs", None, "the partial idle is not used in any text"),
        ("template.json", None, "the variable url is not used in any text"),
    }
    assert all(f["how"] and f["what"] for f in report["findings"])


async def test_what_a_mail_does_not_keep_is_a_warning_at_its_line(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    body = (
        "<mjml><mj-body>\n<mj-section><mj-column>\n<mj-text colr='red'>{{name}}\n"
        '<p style="top:0; background:url(data:x)">x</p></mj-text></mj-column></mj-section></mj-body></mjml>'
    )
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{PATH}/versions", json=draft(locales={"en": {"format": "mjml", "subject": "s", "body": body}})
        )
        report = (await client.post(f"{PATH}/versions/1.0.0/validate")).json()

    assert report["publishable"]
    told = [(f["severity"], f["line"], f["what"]) for f in report["findings"] if f["field"].endswith("body")]
    assert told == [
        ("warning", 4, "background:url(data:x) in style of <p> is not kept in a mail"),
        ("warning", 3, "<mj-text> has no attribute colr"),
    ]


async def test_all_faults_of_a_markup_are_told_at_once(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    body = "<p>a</p>\n<script>x</script>\n<img src='https://e.example/x.png'>\n<iframe></iframe>\n<p {{name}}>b</p>"
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{PATH}/versions", json=draft(locales={"en": {"format": "html", "subject": "s", "body": body}})
        )
        report = (await client.post(f"{PATH}/versions/1.0.0/validate")).json()

    errors = [(f["line"], f["what"].split(" ")[0]) for f in report["findings"] if f["severity"] == "error"]
    assert errors == [(2, "<script>"), (4, "<iframe>"), (3, "src"), (5, "{{name}}")]


async def test_a_language_that_the_other_channels_have_is_missed(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    text = {"en": {"body": "Hello {{name}}"}}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(f"{PATH}/versions", json=draft())
        await client.post(f"{PATH}/versions/1.0.0/publish")
        await client.post("/api/v1/templates/welcome/sms/versions", json=draft(locales=text))
        report = (await client.post("/api/v1/templates/welcome/sms/versions/1.0.0/validate")).json()

    assert report["publishable"]
    assert any("fa-AF is missing" in f["what"] for f in report["findings"])


async def test_a_json_body_stays_json_whatever_the_values_are(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    path = "/api/v1/templates/welcome/push"
    body = '{"title": "Hello {{name}}", "n": {{#if name}}1{{else}}0{{/if}}, "t": "{{t "hi"}}"}'
    locales = {"en": {"format": "json", "body": body}}
    broken = {"en": {"format": "json", "body": '{"title": {{name}} }'}}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{path}/versions",
            json=draft(
                locales=locales,
                strings={"en": {"hi": 'say "hi"'}},
                preview_samples={"bad": {"name": 'a"b\n\\'}},
            ),
        )
        published = await client.post(f"{path}/versions/1.0.0/publish")
        shown = (await client.post(f"{path}/versions/1.0.0/preview")).json()
        await client.post(f"{path}/versions", json=later("1.1.0", locales=broken))
        refused = await client.post(f"{path}/versions/1.1.0/publish")

    assert published.status_code == 200, published.text
    assert json.loads(shown["text"]) == {"title": 'Hello a"b\n\\', "n": 1, "t": 'say "hi"'}
    (told,) = refused.json()["report"][-1:]
    assert (told["line"], told["column"]) == (1, 11)
    assert "the JSON is broken: a value is missing" in told["what"]


async def test_whatsapp_gets_its_own_template_with_parameters(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    path = "/api/v1/templates/welcome/whatsapp"
    reference = {"name": "welcome_1", "language": "en_US", "parameters": ["{{name}}", 'to "us", {{name}}']}
    locales = {"en": {"body": "Hello {{name}}", "whatsapp": reference}}
    wrong = {"en": {"body": "x", "whatsapp": reference | {"parameters": ["{{nam}}"]}}}
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(f"{path}/versions", json=draft(locales=locales))
        published = await client.post(f"{path}/versions/1.0.0/publish")
        shown = (
            await client.post(f"{path}/versions/1.0.0/preview", json={"variables": {"name": 'L"x'}})
        ).json()
        await client.post(f"{path}/versions", json=later("1.1.0", locales=wrong))
        refused = (await client.post(f"{path}/versions/1.1.0/validate")).json()

    assert made.json()["locales"]["en"]["whatsapp"] == reference
    assert published.status_code == 200, published.text
    assert shown["whatsapp"] == {
        "name": "welcome_1",
        "language": "en_US",
        "parameters": ['L"x', 'to "us", L"x'],
    }
    assert refused["findings"][0]["field"] == "locales.en.whatsapp.parameters[0]"


async def test_whatsapp_gets_header_names_and_buttons(world: TemplateWorld) -> None:
    """What stands in a registered template beside its body; each value is filled in its place."""
    tenant = await world.http.tenant()
    path = "/api/v1/templates/ready/whatsapp"
    reference = {
        "name": "order_ready",
        "language": "en_US",
        "header": {"type": "image", "link": "https://pictures.example/{{name}}.png"},
        "named_parameters": {"first_name": "{{name}}"},
        "buttons": [
            {"type": "url", "index": 0, "text": '{{name}}?a="b"'},
            {"type": "copy_code", "index": 2, "text": "25OFF"},
        ],
    }
    locales = {"en": {"body": "Hello {{name}}", "whatsapp": reference}}
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(f"{path}/versions", json=draft(locales=locales))
        published = await client.post(f"{path}/versions/1.0.0/publish")
        shown = await client.post(f"{path}/versions/1.0.0/preview", json={"variables": {"name": "Laila"}})

    assert made.json()["locales"]["en"]["whatsapp"] == reference
    assert published.status_code == 200, published.text
    assert shown.json()["whatsapp"] == {
        "name": "order_ready",
        "language": "en_US",
        "parameters": [],
        "header": {"type": "image", "link": "https://pictures.example/Laila.png"},
        "named_parameters": {"first_name": "Laila"},
        "buttons": [
            {"type": "url", "index": 0, "text": 'Laila?a="b"'},
            {"type": "copy_code", "index": 2, "text": "25OFF"},
        ],
    }


@pytest.mark.parametrize(
    ("wrong", "field", "severity"),
    [
        ({"otp_button": "{{name}}{{name}}{{name}}{{name}}"}, "otp_button", "error"),
        ({"otp_button": "{{name}}", "parameters": ["{{name}}"]}, "parameters", "error"),
        ({"parameters": ["{{name}}", "{{#if (eq name 'x')}}y{{/if}}"]}, "parameters[1]", "error"),
        ({"parameters": ["{{name}}"], "named_parameters": {"a": "b"}}, "named_parameters", "error"),
        (
            {"buttons": [{"type": "url", "index": 0, "text": "a"}, {"type": "url", "index": 0, "text": "b"}]},
            "buttons[1].index",
            "error",
        ),
        ({"header": {"type": "text", "link": "https://x.example"}}, "header.text", "error"),
        ({"header": {"type": "video"}}, "header.link", "error"),
        ({"language": "prs"}, "language", "warning"),
    ],
)
async def test_what_meta_would_refuse_is_found_at_its_field(
    world: TemplateWorld, wrong: dict[str, Any], field: str, severity: str
) -> None:
    tenant = await world.http.tenant()
    path = "/api/v1/templates/welcome/whatsapp"
    reference = {"name": "welcome_1", "language": "en_US"} | wrong
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(
            f"{path}/versions", json=draft(locales={"en": {"body": "Hi {{name}}", "whatsapp": reference}})
        )
        report = (await client.post(f"{path}/versions/1.0.0/validate")).json()

    found = {finding["field"]: finding["severity"] for finding in report["findings"]}
    assert found.get(f"locales.en.whatsapp.{field}") == severity, report
