"""MJML is checked against the table of its components."""

import pytest

from tests.support.rendering import compile_mjml
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.compile.warnings import lost_in
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source


def column(inside: str) -> str:
    return f"<mj-section>\n<mj-column>\n{inside}</mj-column></mj-section>"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (column("<mj-txt>x</mj-txt>"), "line 3: <mj-txt> is no element of MJML; write <mj-text>"),
        (
            column("<mj-section></mj-section>"),
            "line 3: <mj-section> can't stand in <mj-column>; put it into <mj-body> or <mj-wrapper>",
        ),
        ("<mj-column/>", "<mj-column> can't stand in <mj-body>; put it into <mj-section> or <mj-group>"),
        (column("<mj-text><mj-button>x</mj-button></mj-text>"), "<mj-button> can't stand in <mj-text>; close <mj-text>"),
        (column("<p>x</p>"), "<p> can't stand directly in <mj-column>; put it into <mj-text> or <mj-raw>"),
        (column("\n hello {{name}}"), "line 4: text can't stand directly in <mj-column>"),
        (column("<mj-carousel/>"), "<mj-carousel> works in few mail programs; show the pictures below each other"),
        (column("<mj-text><input></mj-text>"), "<input> is not allowed in a mail"),
        (column("<mj-image>x</mj-image>"), "line 3: <mj-image> has no content; write <mj-image … />"),
        (column("<mj-image><p>x</p></mj-image>"), "<p> can't stand in <mj-image>, which has no content"),
        ("<mj-section/></mj-body><mj-body>", "there is a second <mj-body>; put both into one"),
        (
            column("<mj-accordion><mj-accordion-element>{{#if a}}{{/if}}</mj-accordion-element></mj-accordion>"),
            "line 3: no expression can stand directly in <mj-accordion-element>",
        ),
        ("<mj-html-attributes/>", "<mj-html-attributes> can't be compiled; write the attributes where they belong"),
    ],
)  # fmt: skip
def test_what_mjml_does_not_know_is_refused_at_its_line(body: str, says: str) -> None:
    with pytest.raises(CompileError) as refused:
        compile_mjml(body)

    assert says in str(refused.value)


@pytest.mark.parametrize(
    "body", ["", "<mjml></mjml>", "<mjml><mj-body></mj-body></mjml>", "<mjml><mj-head/></mjml>"]
)
def test_an_empty_mail_is_refused(body: str) -> None:
    with pytest.raises(CompileError, match="the mail is empty"):
        compile_source(
            Source(format=BodyFormat.MJML, body=body, subject="s"), locale="en", links=LinkPolicy()
        )


def test_attributes_that_a_component_does_not_have_are_warned_of() -> None:
    body = '<mjml><mj-body><mj-section padding="1px" padding="2px">\n<mj-column><mj-text colr="x" css-class="a" mj-class="b">x'
    body += "</mj-text></mj-column></mj-section></mj-body></mjml>"

    assert [(str(found), found.severity) for found in lost_in(Source(format=BodyFormat.MJML, body=body))] == [
        (
            "line 1: padding of <mj-section> is written 2 times, and the first counts; take the others away",
            "warning",
        ),
        ("line 2: <mj-text> has no attribute colr; write color", "warning"),
    ]


def test_what_is_not_compiled_is_warned_of() -> None:
    body = '<mjml><mj-body><mj-wrapper gap="9px"><mj-hero mode="fluid-height"/></mj-wrapper></mj-body></mjml>'

    assert [str(found) for found in lost_in(Source(format=BodyFormat.MJML, body=body))] == [
        "line 1: gap of <mj-wrapper> is not compiled; give the sections a padding",
        "line 1: mode of <mj-hero> is compiled as fixed-height; give it a height",
    ]


def test_blocks_between_components_are_no_text() -> None:
    compiled = compile_mjml(
        "{{#if a}}" + column("{{#each l}}<mj-text>{{this}}</mj-text>{{/each}}") + "{{/if}}"
    )

    assert "{{#each l}}" in (compiled.html or "")


def test_blanks_and_declarations_are_no_trouble() -> None:
    body = """<?xml version="1.0"?> <!DOCTYPE mjml>
<mjml> <mj-head> <mj-attributes> <mj-class name="a" color="red" /> </mj-attributes> </mj-head> <mj-body> <mj-section>
 <mj-column> <mj-text mj-class="a">z</mj-text> <mj-raw position="x"> </mj-raw> <mj-social> <mj-social-element src="cid:a" href="https://x.example/">x</mj-social-element>
 </mj-social> <mj-navbar> {{#each l}} <mj-navbar-link href="{{u}}">y</mj-navbar-link> {{/each}} </mj-navbar>
 </mj-column> </mj-section> </mj-body> </mjml>"""
    source = Source(format=BodyFormat.MJML, body=body, subject="s")

    html = compile_source(source, locale="en", links=LinkPolicy()).html or ""

    assert "color:red" in html
    assert html.index("{{#each l}}") < html.index(">y</a>") < html.index("{{/each}}")


@pytest.mark.parametrize("holder", ["mj-text", "mj-table", "mj-raw", "mj-button"])
def test_html_inside_a_content_is_written_as_in_html(holder: str) -> None:
    """The compiler does not read it: only MJML's own elements need quotes and values."""
    inside = "<td nowrap width=40>x</td>"
    if holder != "mj-table":
        inside = f"<table><tr>{inside}</tr></table>"
    compiled = compile_mjml(column(f"<{holder}>{inside}</{holder}>"))

    assert compiled.html is not None
    assert 'width="40"' in compiled.html
    assert "nowrap" in compiled.html
