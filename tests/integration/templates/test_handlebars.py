"""Handlebars over HTTP: drafts, reports and previews say what handlebars.js prints, and what is wrong in plain words."""

import re
from typing import Any

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft
from tests.support.handlebars_cases import CASES, DATA, PARTIALS
from tests.support.handlebars_node import Asked, handlebars_js, needs_node

PATH = "/api/v1/templates/welcome/email/versions"
#: All constructs in one text, each between marks.
TOGETHER = "".join(f"«{case.source}»" for case in CASES)
BETWEEN = re.compile("«([^«»]*)»")


@needs_node
async def test_every_construct_prints_what_handlebars_prints(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    mail = f"<mjml><mj-body><mj-section><mj-column><mj-text>{TOGETHER}</mj-text></mj-column></mj-section></mj-body></mjml>"
    locales = {
        "en": {"format": "text", "subject": "s", "body": TOGETHER},
        "fr": {"format": "html", "subject": "s", "body": f"<div>{TOGETHER}</div>"},
        "de": {"format": "mjml", "subject": "s", "body": mail},
    }
    made = draft(
        locales=locales,
        variables_schema={"type": "object"},
        preview_samples={"all": DATA},
        partials=PARTIALS,
    )
    async with world.http.as_tenant(tenant.id) as client:
        drafted = await client.post(PATH, json=made)
        report = await client.post(f"{PATH}/1.0.0/validate")
        shown = {
            locale: (await client.post(f"{PATH}/1.0.0/preview", json={"locale": locale})).json()
            for locale in locales
        }
    plain, marked = handlebars_js(
        [Asked(source=TOGETHER, data=DATA, partials=PARTIALS, plain=plain) for plain in (True, False)]
    )
    assert plain is not None
    assert marked is not None

    def by_case(text: str, *, folded: bool = False) -> dict[str, str]:
        found = [re.sub(r"\s+", "", one) if folded else one for one in BETWEEN.findall(text)]
        return {case.name: one.replace("\r\n", "\n") for case, one in zip(CASES, found, strict=True)}

    assert drafted.status_code == 201, drafted.text
    assert report.json()["publishable"], report.text
    assert by_case(shown["en"]["text"]) == by_case(plain)
    assert by_case(shown["fr"]["html"]) == by_case(marked)
    # MJML drops blanks that have no word beside them.
    assert by_case(shown["de"]["html"], folded=True) == by_case(marked, folded=True)


async def test_preview_refuses_what_publishing_refuses_in_the_same_words(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    bodies = {
        "en": "{{#> row}}fail{{/row}}",
        "fr": "a\n{{#if}}{{/if}}",
        "de": "{{log name}}",
        "es": "a {{shout name}}",
        "it": "{{log}}",
        "pt": "{{nmae}}",
    }
    locales = {tag: {"format": "text", "subject": "s", "body": body} for tag, body in bodies.items()}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft(locales=locales, partials={"row": "x"}))
        report = (await client.post(f"{PATH}/1.0.0/validate")).json()
        refused = {tag: await client.post(f"{PATH}/1.0.0/preview", json={"locale": tag}) for tag in bodies}

    for tag, answer in refused.items():
        wanted = [found for found in report["findings"] if found["locale"] == tag]
        assert (answer.status_code, answer.json()["code"]) == (400, "template_unpublishable"), tag
        assert answer.json()["report"] == wanted
        assert all(found["line"] and found["column"] for found in wanted)


async def test_values_that_fail_a_text_are_refused_with_its_place(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    locales = {"en": {"format": "html", "subject": "s", "body": "<p>a</p>\n<p>{{> count}}</p>"}}
    partials = {"count": "\n  {{plural name one='#'}}"}
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(PATH, json=draft(locales=locales, partials=partials))
        report = (await client.post(f"{PATH}/1.0.0/validate")).json()
        word = await client.post(f"{PATH}/1.0.0/preview", json={"variables": {"name": "x"}})
        count = await client.post(f"{PATH}/1.0.0/preview", json={"variables": {"name": "5"}})

    (found,) = [one for one in report["findings"] if one["severity"] == "error"]
    file = "templates/welcome/email/partials/count.hbs"
    assert (found["file"], found["line"], found["column"]) == (file, 2, 3)
    assert [answer.json()["errors"][0] for answer in (word, count)] == [
        {
            "field": "variables",
            "remedy": f"make the text fail at {file}:2:3: plural needs a number (bad_value); "
            "give it such a value in the sample, or print the value without the helper",
        },
        {
            "field": "variables",
            "remedy": f"make the text fail at {file}:2:3: plural needs other= (bad_value); "
            'write the words for all other counts too: other="# items"',
        },
    ]


async def test_names_of_the_wrong_form_are_named_with_the_form(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    text = {"format": "text", "subject": "s", "body": "x"}
    wrong: dict[str, Any] = {
        "locales": {"en": text, "en-x-private": text},
        "partials": {"a.b": "x", "Row": "x"},
        "strings": {"en": {"odd name": "x"}, "english!": {"fine": "x"}},
    }
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.post(PATH, json=draft(**wrong))

    assert {error["field"]: error["remedy"] for error in refused.json()["errors"]} == {
        "locales.en-x-private": "must be a language tag such as en-US, fa-AF or zh-Hant-TW",
        "partials.a.b": "must be a lower-case name such as footer or order_row",
        "partials.Row": "must be a lower-case name such as footer or order_row",
        "strings.en.odd name": "must be a name such as greeting or footer.address",
        "strings.english!": "must be a language tag such as en-US, fa-AF or zh-Hant-TW",
    }
