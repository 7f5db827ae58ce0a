"""Styles keep what mails can have, for the devices they name; what is dropped is said."""

import pytest

from tests.support.rendering import body_of, compile_html, compile_mjml
from tidings.notify.templates.compile.css import declarations, without_comments
from tidings.notify.templates.compile.warnings import lost_in
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.model import BodyFormat, Source


@pytest.mark.parametrize("media", ["only screen and (max-width:480px)", "print"])
def test_a_sheet_for_some_devices_is_for_those(media: str) -> None:
    compiled = compile_html(
        f'<style media="{media}">.a{{display:none}}</style><style media="all">p{{color:red}}</style>'
        '<p class="a">Hello</p>'
    )

    assert body_of(compiled) == '<p class="a" style="color: red;">Hello</p>'
    assert f"@media {media} {{ .a{{display:none}} }}" in (compiled.html or "")
    assert compiled.text == "Hello"


def test_a_query_that_is_none_is_refused() -> None:
    with pytest.raises(CompileError, match="media of <style> can't be read"):
        compile_html('<style media="print}p{color:red}@media x">p{color:blue}</style>x')


def test_the_compilers_own_sheet_for_one_program_is_for_that() -> None:
    compiled = compile_mjml("<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>")

    assert "@media screen and (min-width:480px) { .moz-text-html" in (compiled.html or "")


@pytest.mark.parametrize(
    ("style", "kept", "said"),
    [
        ("color:red; /* brand */ font-size:20px", "color:red; font-size:20px", []),
        ("color:red; background:url(data:image/png;base64,AA=) ; top:0", "color:red; top:0", ["background:url(data:"]),
        ("background:url(/x.png);top:0", "top:0", ["background:url(/x.png)"]),
        ("b\\65 havior:x;top:0", "top:0", ["b\\65 havior:x"]),
        ("\n  color: red;\n  top: 0;\n", "color: red; top: 0", []),
        ("font-family:'a;b', c;top:0", "font-family:'a;b', c;top:0", []),
        ("color:red", "color:red", []),
    ],
)  # fmt: skip
def test_a_style_keeps_what_it_can(style: str, kept: str, said: list[str]) -> None:
    body = f'<p>a</p>\n<p style="{style}">x</p>'
    warnings = lost_in(Source(format=BodyFormat.HTML, body=body, subject="s"))

    assert body_of(compile_html(body)) == f'<p>a</p>\n<p style="{kept}">x</p>'
    assert [warning.what.startswith(word) for warning, word in zip(warnings, said, strict=True)] == [
        True
    ] * len(said)
    assert all((warning.line, warning.severity) == (2, "warning") for warning in warnings)


def test_what_a_mail_does_not_keep_is_said() -> None:
    body = '<p onclick="x()" class="{{a}}">a</p>\n<video>b</video>'

    assert [str(warning) for warning in lost_in(Source(format=BodyFormat.HTML, body=body, subject="s"))] == [
        "line 1: onclick of <p> is not kept in a mail; take it away",
        "line 2: <video> is not kept in a mail; only what stands in it is; take it away",
    ]


def test_comments_in_sheets_are_dropped() -> None:
    assert body_of(compile_html("<style>/* a */ p { color: red } /* ~ */</style><p>x</p>")) == (
        '<p style="color: red;">x</p>'
    )
    assert without_comments("a '/* b */' /* c */ d /* e") == "a '/* b */'   d  "
    assert declarations("a:b;c:url(x;y);d:';'") == ["a:b", "c:url(x;y)", "d:';'"]


def test_rules_of_mjml_that_are_to_be_inlined_reach_into_texts() -> None:
    body = (
        '<mjml><mj-head><mj-style inline="inline">/* a */ .q { color: green }</mj-style></mj-head><mj-body><mj-section>'
        '<mj-column><mj-text><b class="q">x</b></mj-text><mj-table>{{#each l}}<tr><td class="q">{{n}}</td></tr>{{/each}}'
        "</mj-table></mj-column></mj-section></mj-body></mjml>"
    )
    from tidings.notify.templates.compile.locale_content import compile_source
    from tidings.notify.templates.model import LinkPolicy

    source = Source(format=BodyFormat.MJML, body=body, subject="s")
    html = compile_source(source, locale="en", links=LinkPolicy()).html or ""

    assert '<b class="q" style="color: green;">x</b>' in html
    assert (
        '{{#each l}}<tr><td class="q" style="color: green;">{{n}}</td></tr>{{/each}}</tbody></table>' in html
    )
