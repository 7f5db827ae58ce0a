"""What handlebars.js makes of an expression, Tidings makes of it too, wherever it stands and after all the tools.

The other side is handlebars.js itself, as its authors ship it, without any of our helpers and limits.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

import tidings.notify.render
from tests.support.rendering import Rendering, compiled_content
from tidings.kernel.ids import TEMPLATE, TEMPLATE_VERSION
from tidings.notify.render.model import Rendered
from tidings.notify.templates.assemble import Surroundings, assemble
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import (
    BodyFormat,
    LinkPolicy,
    LocaleText,
    Source,
    Version,
    VersionSource,
    VersionStatus,
)
from tidings.notify.templates.semver import Semver

_HANDLEBARS = Path(tidings.notify.render.__file__).parent / "assets" / "handlebars.min.js"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    data: dict[str, Any] = field(default_factory=dict)
    partials: dict[str, str] = field(default_factory=dict)


PEOPLE = {"people": [{"name": "Ada", "n": 1}, {"name": "Bo", "n": 2}, {"name": "Cy", "n": 3}], "title": "Dr"}
CASES = [
    Case("a value", "{{a}}", {"a": "x"}),
    Case("a path", "{{a.b.c}}", {"a": {"b": {"c": "deep"}}}),
    Case("a path with slashes", "{{a/b}}", {"a": {"b": "slash"}}),
    Case("a segment in brackets", "{{a.[b c]}}", {"a": {"b c": "odd"}}),
    Case("an item by its place", "{{people.1.name}}", PEOPLE),
    Case("a missing value", "({{nothing}}) ({{no.thing}})"),
    Case("this", "{{#each a}}{{this}},{{.}};{{/each}}", {"a": ["x", "y"]}),
    Case("numbers and truth", "{{n}} {{z}} {{t}} {{f}} {{u}}", {"n": 1.5, "z": 0, "t": True, "f": False, "u": None}),
    Case("a list as a value", "{{a}}", {"a": [1, 2]}),
    Case("escapes", "{{a}}", {"a": "<b>&\"'`="}),
    Case("escapes twice", "{{a}}", {"a": "&lt;&amp;"}),
    Case("braces in a value", "{{a}}", {"a": "{{b}} }}"}),
    Case("escaped braces", "\\{{a}} then {{a}}", {"a": "x"}),
    Case("a backslash before a value", "\\\\{{a}}", {"a": "x"}),
    Case("comments", "a{{! one }}b{{!-- two }} --}}c"),
    Case("if", "{{#if a}}yes{{/if}}", {"a": True}),
    Case("if not", "{{#if a}}yes{{/if}}", {"a": False}),
    Case("if else", "{{#if a}}yes{{else}}no{{/if}}", {"a": ""}),
    Case("if else by a caret", "{{#if a}}yes{{^}}no{{/if}}", {"a": 0}),
    Case("if of an empty list", "{{#if a}}yes{{else}}no{{/if}}", {"a": []}),
    Case("if of an empty object", "{{#if a}}yes{{else}}no{{/if}}", {"a": {}}),
    Case("if with zero included", "{{#if a includeZero=true}}yes{{else}}no{{/if}}", {"a": 0}),
    Case("else if", "{{#if a}}1{{else if b}}2{{else}}3{{/if}}", {"b": True}),
    Case("else if, the last", "{{#if a}}1{{else if b}}2{{else if c}}3{{else}}4{{/if}}"),
    Case("if within if", "{{#if a}}{{#if b}}ab{{else}}a{{/if}}{{/if}}", {"a": 1, "b": 0}),
    Case("unless", "{{#unless a}}no{{else}}yes{{/unless}}", {"a": 1}),
    Case("unless of nothing", "{{#unless a}}no{{/unless}}"),
    Case("each", "{{#each people}}{{name}} {{/each}}", PEOPLE),
    Case("each over nothing", "{{#each people}}x{{else}}none{{/each}}", {"people": []}),
    Case("each over a missing one", "{{#each nobody}}x{{else}}none{{/each}}"),
    Case("@index", "{{#each people}}{{@index}}:{{name}} {{/each}}", PEOPLE),
    Case("@first and @last", "{{#each people}}{{#if @first}}[{{/if}}{{name}}{{#if @last}}]{{/if}}{{/each}}", PEOPLE),
    Case("@key", "{{#each a}}{{@key}}={{this}};{{/each}}", {"a": {"x": 1, "y": 2}}),
    Case("@root", "{{#each people}}{{@root.title}} {{name}};{{/each}}", PEOPLE),
    Case("@../index", "{{#each a}}{{#each this}}{{@../index}}{{@index}} {{/each}}{{/each}}", {"a": [[1, 2], [3]]}),
    Case("../", "{{#each people}}{{../title}} {{name}};{{/each}}", PEOPLE),
    Case("../ out of if", "{{#each people}}{{#if n}}{{../title}} {{/if}}{{/each}}", PEOPLE),
    Case("../../", "{{#each a}}{{#each b}}{{../../t}}{{../c}}{{d}} {{/each}}{{/each}}", {"t": "T", "a": [{"c": "C", "b": [{"d": 1}, {"d": 2}]}]}),
    Case("block parameters", "{{#each people as |who at|}}{{at}}{{who.name}} {{../title}} {{/each}}", PEOPLE),
    Case("with", "{{#with a}}{{b}}{{../c}}{{/with}}", {"a": {"b": 1}, "c": 2}),
    Case("with of nothing", "{{#with a}}x{{else}}none{{/with}}"),
    Case("with as", "{{#with a as |x|}}{{x.b}}{{/with}}", {"a": {"b": 1}}),
    Case("lookup", "{{lookup a 1}} {{lookup o k}}", {"a": ["x", "y"], "o": {"q": "v"}, "k": "q"}),
    Case("lookup within each", "{{#each a}}{{lookup ../b @index}} {{/each}}", {"a": [1, 2], "b": ["x", "y"]}),
    Case("lookup in a condition", "{{#if (lookup o 'k')}}yes{{else}}no{{/if}}", {"o": {"k": 1}}),
    Case("a section", "{{#people}}{{name}} {{/people}}", PEOPLE),
    Case("a section of an object", "{{#a}}{{b}}{{/a}}", {"a": {"b": 1}}),
    Case("an inverted section", "{{^a}}none{{/a}}"),
    Case("whitespace control", "a  {{~b~}}  c {{~#if b~}}  d  {{~/if~}}  e", {"b": "B"}),
    Case("whitespace control at else", "{{#if a}} x {{~else~}} y {{/if}}z"),
    Case("lines of their own", "a\n{{#if b}}\nc\n{{/if}}\nd", {"b": 1}),
    Case("lines of their own in each", "(\n{{#each people}}\n  {{name}}\n{{/each}}\n)", PEOPLE),
    Case("a partial", "{{> p}}", {"a": "x"}, {"p": "[{{a}}]"}),
    Case("a partial in each", "{{#each people}}{{> p}} {{/each}}", PEOPLE, {"p": "{{name}}"}),
    Case("a partial with a context", "{{> p a}}", {"a": {"b": "x"}}, {"p": "[{{b}}]"}),
    Case("a partial with names", "{{> p b='y' c=d}}", {"a": "x", "d": "z"}, {"p": "{{a}}{{b}}{{c}}"}),
    Case("a partial with both", "{{> p a c=d}}", {"a": {"b": 1}, "d": "z"}, {"p": "{{b}}{{c}}"}),
    Case("a partial in a partial", "{{> p}}", {"a": "x"}, {"p": "({{> q}})", "q": "{{a}}"}),
    Case("a partial on its own line", "a\n{{> p}}\nb", {"x": "X"}, {"p": "p{{x}}\n"}),
    Case("a partial between words", "a {{> p}} b", {"x": "X"}, {"p": "p{{x}}"}),
    Case("a partial without blanks", "a {{~> p~}} b", {"x": "X"}, {"p": "p{{x}}"}),
    Case("an inline partial", '{{#*inline "p"}}[{{a}}]{{/inline}}{{> p}}{{> p}}', {"a": "x"}),
    Case("an inline partial with names", '{{#*inline "p"}}[{{b}}]{{/inline}}{{> p b="y"}}', {"a": "x"}),
]  # fmt: skip

#: Where an expression stands; between the marks is what it printed.
PLACES = {
    "text": (BodyFormat.TEXT, "«{}»"),
    "html": (BodyFormat.HTML, "<div>«{}»</div>"),
    "cell": (BodyFormat.HTML, "<table><tr><th>x</th></tr><tr><td>«{}»</td></tr></table>"),
    "attribute": (BodyFormat.HTML, '<p title="«{}»">x</p>'),
    "mjml": (BodyFormat.MJML, "<mjml><mj-body><mj-section><mj-column><mj-text>«{}»</mj-text></mj-column></mj-section></mj-body></mjml>"),
    "mjml table": (
        BodyFormat.MJML,
        "<mjml><mj-body><mj-section><mj-column><mj-table><tr><td>«{}»</td></tr></mj-table></mj-column></mj-section></mj-body></mjml>",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def handlebars() -> Iterator[MiniRacer]:
    """handlebars.js as it is."""
    racer = MiniRacer()
    racer.eval(_HANDLEBARS.read_text(encoding="utf-8"))
    racer.eval(
        "function run(json) { const w = JSON.parse(json); const hb = Handlebars.create();"
        " for (const n in w.partials) hb.registerPartial(n, w.partials[n]);"
        " return hb.compile(w.source, {noEscape: w.plain, preventIndent: true})(w.data); }"
    )
    yield racer
    racer.close()


def ours(rendering: Rendering, case: Case, format_: BodyFormat, body: str) -> str:
    version = Version(
        id=TEMPLATE_VERSION.new(_NOW),
        template_id=TEMPLATE.new(_NOW),
        tenant_id=None,
        semver=Semver(1, 0, 0),
        status=VersionStatus.DRAFT,
        source=VersionSource.TENANT,
        created_by="t",
        approver_user_id=None,
        supersedes_id=None,
        variables_schema={"type": "object"},
        fallback_chain=(),
        samples={},
        locales={"en": LocaleText(source=Source(format=format_, body=body, subject="s"))},
        published_at=None,
        archived_at=None,
        version=1,
        updated_at=_NOW,
        partials=case.partials,
    )
    made = assemble(version, "en", Surroundings(key="k", channel="email", default_locale="en"))
    assert made.faults == ()
    compiled = compile_source(made.source, locale="en", links=LinkPolicy())
    done = rendering.job(compiled_content(compiled, "en"), case.data)
    assert isinstance(done, Rendered), done
    text = done.text if format_ is BodyFormat.TEXT else done.html
    assert text is not None
    return text.partition("«")[2].partition("»")[0]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_prints_what_handlebars_prints(
    rendering: Rendering, handlebars: MiniRacer, case: Case, place: str
) -> None:
    format_, around = PLACES[place]
    asked = json.dumps(
        {
            "source": f"«{case.source}»",
            "data": case.data,
            "partials": case.partials,
            "plain": format_ is BodyFormat.TEXT,
        }
    )
    expected = str(handlebars.eval(f"run({json.dumps(asked)})"))[1:-1]

    assert ours(rendering, case, format_, around.replace("{}", case.source)) == expected


ROWS = [
    Case("rows by each", "{{#each people}}<tr><td>{{name}}</td></tr>{{/each}}", PEOPLE),
    Case("rows by a partial", "{{#each people}}{{> row}}{{/each}}", PEOPLE, {"row": "<tr><td>{{@index}}{{name}}</td></tr>"}),
    Case("rows by a partial with names", "{{#each people}}{{> row t=../title}}{{/each}}", PEOPLE, {"row": "<tr><td>{{t}} {{name}}</td></tr>"}),
    Case("a row in a condition", "{{#if title}}<tr><td>{{title}}</td></tr>{{else}}<tr><td>-</td></tr>{{/if}}", PEOPLE),
    Case("cells by each", "<tr>{{#each people}}<td>{{name}}</td>{{/each}}</tr>", PEOPLE),
    Case("rows of rows", "{{#each people}}{{#with this}}<tr><td>{{name}}{{../../title}}</td></tr>{{/with}}{{/each}}", PEOPLE),
]  # fmt: skip


@pytest.mark.parametrize("format_", [BodyFormat.HTML, BodyFormat.MJML])
@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
def test_rows_and_cells_stay_where_they_are(
    rendering: Rendering, handlebars: MiniRacer, case: Case, format_: BodyFormat
) -> None:
    table = f"<table><tbody><tr><td>«</td></tr>{case.source}<tr><td>»</td></tr></tbody></table>"
    if format_ is BodyFormat.MJML:
        inside = table.removeprefix("<table>").removesuffix("</table>")
        body = f"<mjml><mj-body><mj-section><mj-column><mj-table>{inside}</mj-table></mj-column></mj-section></mj-body></mjml>"
    else:
        body = table
    asked = json.dumps({"source": table, "data": case.data, "partials": case.partials, "plain": False})
    expected = str(handlebars.eval(f"run({json.dumps(asked)})")).partition("«")[2].partition("»")[0]

    assert ours(rendering, case, format_, body) == expected
