"""What handlebars.js makes of an expression, Tidings makes of it too, wherever it stands and after all the tools.

The other side is handlebars.js itself, as its authors ship it, in Node. This side goes through the validator, as
publishing does: what it refuses is refused by name, and docs/templates.md says so.
"""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.handlebars_cases import CASES, DATA, PARTIALS, REFUSED, Case
from tests.support.handlebars_node import Asked, handlebars_js, needs_node
from tests.support.rendering import Rendering, compiled_content
from tests.support.versions import draft_version, validated
from tidings.notify.render.model import Rendered
from tidings.notify.templates.model import BodyFormat, Source

pytestmark = needs_node

#: Where expressions stand.
PLACES = {
    "html": (BodyFormat.HTML, "<div>{}</div>"),
    "cell": (BodyFormat.HTML, "<table><tr><th>x</th></tr><tr><td>{}</td></tr></table>"),
    "attribute": (BodyFormat.HTML, '<p title="{}">x</p>'),
    "mjml": (BodyFormat.MJML, "<mjml><mj-body><mj-section><mj-column><mj-text>{}</mj-text></mj-column></mj-section></mj-body></mjml>"),
    "mjml table": (
        BodyFormat.MJML,
        "<mjml><mj-body><mj-section><mj-column><mj-table><tr><td>{}</td></tr></mj-table></mj-column></mj-section></mj-body></mjml>",
    ),
}  # fmt: skip
#: All cases in one text, each between marks.
TOGETHER = "".join(f"«{case.source}»" for case in CASES)
_BETWEEN = re.compile("«([^«»]*)»")


def printed(
    rendering: Rendering, format_: BodyFormat, body: str, partials: Mapping[str, str] = PARTIALS
) -> str:
    """What a body prints that the validator has let through."""
    source = Source(format=format_, body=body, subject="s")
    version = draft_version({"en": source}, samples={"all": DATA}, partials=partials)
    report = validated(rendering, version)
    assert report.errors == ()
    compiled = report.locales["en"].compiled
    assert compiled is not None
    done = rendering.job(compiled_content(compiled, "en"), DATA)
    assert isinstance(done, Rendered), done
    shown = done.text if format_ is BodyFormat.TEXT else done.html
    assert shown is not None
    return shown


@pytest.fixture(scope="module")
def expected() -> dict[str, str | None]:
    """What handlebars.js prints for each case; asked once for all."""
    asked = [Asked(source=f"«{case.source}»", data=DATA, partials=PARTIALS) for case in CASES]
    answers = handlebars_js(asked)
    return {case.name: answer for case, answer in zip(CASES, answers, strict=True)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_prints_what_handlebars_prints(
    rendering: Rendering, expected: dict[str, str | None], case: Case
) -> None:
    assert printed(rendering, BodyFormat.TEXT, f"«{case.source}»") == expected[case.name]


@pytest.mark.parametrize("place", PLACES)
def test_it_prints_that_wherever_it_stands(rendering: Rendering, place: str) -> None:
    format_, around = PLACES[place]
    (wanted,) = handlebars_js([Asked(source=TOGETHER, data=DATA, partials=PARTIALS, plain=False)])
    assert wanted is not None
    shown = printed(rendering, format_, around.replace("{}", TOGETHER))

    def by_case(text: str) -> dict[str, str]:
        found = _BETWEEN.findall(text)
        # HTML knows one kind of line, and MJML drops blanks that have no word beside them.
        folded = [re.sub(r"\s+", "", one) if format_ is BodyFormat.MJML else one for one in found]
        return {case.name: one.replace("\r\n", "\n") for case, one in zip(CASES, folded, strict=True)}

    assert by_case(shown) == by_case(wanted)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_tidings_does_not_have_is_refused_by_name(rendering: Rendering, case: Case) -> None:
    source = Source(format=BodyFormat.TEXT, body=case.source)
    schema: dict[str, Any] = {"type": "object", "properties": {name: {} for name in DATA}}
    version = draft_version({"en": source}, samples={"all": DATA}, partials=PARTIALS, schema=schema)
    errors = validated(rendering, version, channel="sms").errors

    assert case.refused in errors[0].what
    assert errors[0].how
    assert (errors[0].line, errors[0].column) == (1, errors[0].column)
    assert errors[0].column


ROWS = [
    Case("rows by each", "{{#each people}}<tr><td>{{name}}</td></tr>{{/each}}"),
    Case("rows by a partial", "{{#each people}}{{> row}}{{/each}}"),
    Case("rows by a partial with names", "{{#each people}}{{> titled t=../title}}{{/each}}"),
    Case("a row in a condition", "{{#if title}}<tr><td>{{title}}</td></tr>{{else}}<tr><td>-</td></tr>{{/if}}"),
    Case("a row in an inverted section", "{{^nothing}}<tr><td>{{title}}</td></tr>{{/nothing}}"),
    Case("cells by each", "<tr>{{#each people}}<td>{{name}}</td>{{/each}}</tr>"),
    Case("rows of rows", "{{#each people}}{{#with this}}<tr><td>{{name}}{{../../title}}</td></tr>{{/with}}{{/each}}"),
]  # fmt: skip
ROW_PARTIALS = {
    "row": "<tr><td>{{@index}}{{name}}</td></tr>",
    "titled": "<tr><td>{{t}} {{name}}</td></tr>",
}


@pytest.mark.parametrize("format_", [BodyFormat.HTML, BodyFormat.MJML])
def test_rows_and_cells_stay_where_they_are(rendering: Rendering, format_: BodyFormat) -> None:
    inside = [f"<tr><td>«</td></tr>{case.source}<tr><td>»</td></tr>" for case in ROWS]
    mail = "<mjml><mj-body><mj-section><mj-column><mj-table>{}</mj-table></mj-column></mj-section></mj-body></mjml>"
    around = mail if format_ is BodyFormat.MJML else "<table><tbody>{}</tbody></table>"
    answers = handlebars_js(
        [Asked(source=rows, data=DATA, partials=ROW_PARTIALS, plain=False) for rows in inside]
    )
    wanted = [str(answer).partition("«")[2].partition("»")[0] for answer in answers]

    shown = [printed(rendering, format_, around.replace("{}", rows), ROW_PARTIALS) for rows in inside]
    assert [one.partition("«")[2].partition("»")[0] for one in shown] == wanted
