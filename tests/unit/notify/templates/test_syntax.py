"""The validator knows every variable, every helper and every partial, and names the line."""

import pytest

from tests.support.rendering import Rendering
from tidings.notify.templates.syntax import MOST_FAULTS, MOST_STEPS, find_faults

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "$defs": {"money": {"type": "object", "properties": {"amount_micros": {}, "currency": {}}}},
    "properties": {
        "name": {"type": "string"},
        "total": {"$ref": "#/$defs/money"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "parts": {"type": "array"}},
            },
        },
        "prices": {"type": "object", "additionalProperties": {"$ref": "#/$defs/money"}},
        "either": {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        "free": {"type": "object"},
    },
}


def faults(rendering: Rendering, source: str) -> list[str]:
    read = rendering.parse(source)
    assert "tree" in read, read
    return [str(fault) for fault in find_faults(read["tree"], SCHEMA, set())]


@pytest.mark.parametrize(
    "source",
    [
        "{{name}} {{this.name}} {{@root.name}}",
        "{{total.currency}} {{money total}} {{money total.amount_micros total.currency}}",
        "{{#each items}}{{title}} {{../name}} {{@index}} {{@root.items.0.title}}{{/each}}",
        "{{#each items as |item n|}}{{item.title}} {{n}} {{name}}{{else}}{{name}}{{/each}}".replace(
            "{{name}}{{else}}", "{{../name}}{{else}}"
        ),
        "{{#each prices}}{{@key}} {{currency}} {{money this}}{{/each}}",
        "{{#with total}}{{currency}} {{../name}}{{/with}}",
        "{{#if name}}{{name}}{{else if total}}{{total.currency}}{{/if}}",
        "{{#unless name}}x{{/unless}} {{items.length}} {{lookup items 0}}",
        "{{either.a}} {{either.b}} {{free.anything.at.all}}",
        "{{@recipient.name}} {{@tenant.name}} {{@links.unsubscribe}} {{@locale}} {{@direction}}",
        '{{#*inline "row"}}{{anything}} {{../else_where}}{{/inline}}{{> row}} {{> row total}}',
        '{{plural (lookup items "length") one="#" other="#"}} {{date "2026-01-01"}}',
        "{{! nothing }} {{#items}}{{title}}{{/items}}",
        "{{^name}}none{{/name}} {{^if name}}none{{/if}} {{^if name}}none{{else}}{{name}}{{/if}}",
        "{{^each items}}none{{/each}} {{^each items}}none{{else}}{{title}}{{/each}}",
        "{{#each items}}{{^}}none{{/each}} {{^items}}none{{else}}{{title}}{{/items}}",
    ],
)
def test_these_are_in_order(rendering: Rendering, source: str) -> None:
    assert faults(rendering, source) == []


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("a\n\n{{nam}}", "line 3: nam is not declared"),
        ("{{total.curency}}", "total.curency is not declared"),
        ("{{#each items}}{{name}}{{/each}}", "name is not declared"),
        ("{{#each items}}{{../../name}}{{/each}}", "../../name is not declared"),
        ("{{#each items as |item|}}{{item.titel}}{{/each}}", "item.titel"),
        ("{{#if nam}}x{{/if}}", "nam is not declared"),
        ("{{either.c}}", "either.c"),
        ("{{^nam}}none{{/nam}}", "nam is not declared"),
        ("{{^if name}}\n{{nam}}{{/if}}", "line 2: nam is not declared"),
        ("{{money (lookup totals 1)}}", "totals is not declared"),
        ("{{shout name}}", "there is no helper shout"),
        ("{{#repeat name}}x{{/repeat}}", "there is no block helper repeat"),
        ("{{#date name}}x{{/date}}", "there is no block helper date"),
        ("{{date}}", "date needs a value"),
        ("{{#each}}x{{/each}}", "each takes one value"),
        ("{{#tidings_href}}x{{/tidings_href}}", "tidings_href is not declared"),
        ("{{log name}}", "there is no helper log"),
        ("{{> footer}}", "there is no partial footer"),
        ("{{> (lookup . name)}}", "by a computed name"),
        ('{{#*evil "x"}}{{/evil}}', "only {{#*inline"),
        ("{{#> layout}}x{{/layout}}", "not supported"),
        ("{{@secret}}", "@secret is not declared"),
        ("{{@recipient.address}}", "@recipient.address"),
        ("{{constructor}}", "constructor is not declared"),
    ],
)
def test_these_are_not(rendering: Rendering, source: str, says: str) -> None:
    found = faults(rendering, source)

    assert any(says in fault for fault in found), found


def test_every_fault_is_named(rendering: Rendering) -> None:
    assert len(faults(rendering, "{{a}} {{b}} {{shout c}}")) == 4


@pytest.mark.parametrize("source", ["{{#if a}}", "{{a b=}}", "{{/if}}", "{{#if a}}{{/each}}"])
def test_what_is_no_handlebars_is_said(rendering: Rendering, source: str) -> None:
    assert "error" in rendering.parse(source)


def test_a_text_that_is_very_wrong_is_not_told_without_end(rendering: Rendering) -> None:
    """The first faults, then that there are more; what was not read may use every variable."""
    read, used = rendering.parse("\n".join(f"{{{{x{n}}}}}" for n in range(MOST_FAULTS + 9))), set[str]()

    found = find_faults(read["tree"], SCHEMA, used)

    assert [fault.line for fault in found[:-1]] == list(range(1, MOST_FAULTS + 1))
    assert "there are more faults in this text" in found[-1].what
    assert "*" in used


def test_a_text_of_very_many_expressions_is_not_walked_to_its_end(rendering: Rendering) -> None:
    """All that is allowed is looked at; what is longer is an error that says where the look ended."""
    longest = "\n".join("{{name}}" for _ in range(MOST_STEPS))
    fits, too_long = rendering.parse(longest), rendering.parse(f"{longest}\n{{{{name}}}}\n{{{{nam}}}}")
    used = set[str]()

    assert find_faults(fits["tree"], SCHEMA, used) == []
    assert used == {"name"}
    [fault] = find_faults(too_long["tree"], SCHEMA, used)
    assert (fault.line, fault.severity) == (MOST_STEPS + 1, "error")
    assert f"more than {MOST_STEPS} expressions" in fault.what
    assert "*" in used


def test_a_schema_that_leads_round_in_circles_is_looked_at_once(rendering: Rendering) -> None:
    """Each place once: ways through such a schema are more than anybody could walk."""
    round_about = {"allOf": [{"$ref": "#/$defs/a"} for _ in range(8)], "properties": {"name": {}}}
    schema = {"type": "object", "properties": {}, "$defs": {"a": round_about}, "$ref": "#/$defs/a"}
    read = rendering.parse("{{name}} {{nam}}")

    found = find_faults(read["tree"], schema, set())

    assert [fault.what for fault in found] == ["nam is not declared"]


def test_an_expression_longer_than_anybody_writes_is_refused_before_it_is_parsed(
    rendering: Rendering,
) -> None:
    """The parser takes seconds for a path of 180 KB."""
    path = "a." * 90_000 + "a"
    for source in (f"{{{{{path}}}}}", f'{{{{x "}}}}" {path}}}}}', f"{{{{#if {path}}}}}{{{{/if}}}}"):
        assert "on line 2 has more than 4000 characters" in rendering.parse(f"\n{source}")["error"]
    comment = "{{!-- " + "word " * 2000 + "--}}"
    for honest in (comment, "\\{{" + "word " * 2000, "word " * 2000 + "{{a}}"):
        assert "tree" in rendering.parse(honest)
