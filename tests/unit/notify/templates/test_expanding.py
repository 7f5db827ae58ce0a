"""Layouts, partials and strings set into a text, and every line still knows where it was written."""

import pytest

from tidings.notify.templates.expand.arguments import read_call
from tidings.notify.templates.expand.expand import ExpansionNotes, SharedTexts, expand
from tidings.notify.templates.expand.source_map import MappedText, SourcePosition
from tidings.notify.templates.expand.strings import Into, TemplateStrings

BODY = SourcePosition("body.html", "body", "en", 1, 1)


def made(
    text: str,
    *,
    partials: dict[str, str] | None = None,
    strings: dict[str, str] | None = None,
    into: Into = "text",
    layout: str | None = None,
) -> tuple[MappedText, ExpansionNotes]:
    found = ExpansionNotes()
    shared = SharedTexts(
        partials={
            name: (body, SourcePosition(f"{name}.hbs", name, None, 1, 1))
            for name, body in (partials or {}).items()
        },
        strings=TemplateStrings({"en": strings or {}}, ["en"]),
        folder="f",
    )
    frame = None if layout is None else (layout, SourcePosition("layout.hbs", "layout", None, 1, 1))
    return expand(text, BODY, shared, found, into=into, layout=frame), found


@pytest.mark.parametrize(
    ("string", "call", "into", "gives"),
    [
        ("Hello {{who}}", '{{t "s" who=user.name}}', "text", "Hello {{user.name}}"),
        ("Hello {{who}}", "{{t 's' who=(date at \"short\")}}", "text", 'Hello {{date at "short"}}'),
        ("Hello {{who}}", '{{t "s" who="a & b"}}', "markup", "Hello a &amp; b"),
        ("Hello {{who.name}}", '{{t "s" who=user}}', "text", "Hello {{user.name}}"),
        ("{{plural n one='# who' other='#'}}", '{{t "s" n=items.length who=x}}', "text", "{{plural items.length one='# who' other='#'}}"),
        ('say "<hi>"', '{{t "s"}}', "json", 'say \\"<hi>\\"'),
        ('say "<hi>"', '{{t "s"}}', "markup", "say &quot;&lt;hi&gt;&quot;"),
        ("{{@tenant.name}} {{../n}}", '{{t "s" tenant=x n=y}}', "text", "{{@tenant.name}} {{../n}}"),
        ('a "b"', '{{link url (t "s")}}', "text", '{{link url "a \\"b\\""}}'),
        ("{{#if who}}{{who}}{{/if}}", '{{t "s" who=a.b}}', "text", "{{#if a.b}}{{a.b}}{{/if}}"),
    ],
)  # fmt: skip
def test_a_string_takes_the_values_it_is_given(string: str, call: str, into: Into, gives: str) -> None:
    text, found = made(call, strings={"s": string}, into=into)

    assert (text.text, found.faults) == (gives, [])


def test_a_line_is_found_in_the_file_that_it_came_from() -> None:
    text, found = made(
        "one\n{{> p}}\n  {{x}}",
        partials={"p": "first\n{{> q a=b}}\n", "q": "deep\n {{y}}"},
        layout="top\n<{{> body}}>\nbottom {{z}}",
    )
    lines = text.text.split("\n")

    def at(word: str) -> tuple[str, int | None, int | None]:
        line = next(n for n, content in enumerate(lines, 1) if word in content)
        place = text.place_of(line, lines[line - 1].index(word) + 1)
        return place.file, place.line, place.column

    assert found.faults == []
    assert at("{{x}}") == ("body.html", 3, 3)
    assert at("{{y}}") == ("q.hbs", 2, 2)
    assert at("{{z}}") == ("layout.hbs", 3, 8)
    assert at("first") == ("p.hbs", 1, 1)
    assert at("#tidings_scope") == ("p.hbs", 2, 1)


@pytest.mark.parametrize(
    ("text", "partials", "says"),
    [
        ("{{> p}}", {"p": "{{> p}}"}, "calls itself"),
        ("{{> p}}", {"p": "{{> q}}", "q": "{{> p}}"}, "calls itself"),
        ("{{> lost}}", {}, "there is no partial lost"),
        ("{{> body}}", {}, "there is no partial body"),
        ("{{t 'x'}}", {}, "there is no string x"),
        ("{{t x}}", {}, "t takes the name"),
        ("{{#tidings_href}}x{{/tidings_href}}", {}, "are taken"),
        ("{{> p}}", {"p": "{{open"}, "not closed"),
        ("{{> a}}", {c: f"{{{{> {d}}}}}" * 30 for c, d in zip("abcdef", "bcdefg", strict=True)} | {"g": "x" * 99}, "too large"),
    ],
)  # fmt: skip
def test_what_can_not_be_set_in_is_said(text: str, partials: dict[str, str], says: str) -> None:
    _, found = made(text, partials=partials)

    assert any(says in fault.what for _, fault in found.faults), found.faults


def test_a_layout_without_a_place_for_the_body_is_no_layout() -> None:
    _, found = made("x", layout="nothing")

    assert [fault.what for _, fault in found.faults] == ["the layout has no place for the body"]


@pytest.mark.parametrize("inside", ["", "a=", "a)", "(a", 'a "open', "a='x"])
def test_what_is_no_call_is_not_read_as_one(inside: str) -> None:
    assert read_call(inside) is None
