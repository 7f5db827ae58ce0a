"""No tool moves, loses or changes an expression; where one would, publishing says so."""

import pytest

from tests.support.rendering import (
    Rendering,
    body_of,
    compile_html,
    compile_mjml,
    compiled_content,
)
from tidings.notify.render.model import Rendered
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>Hi {{name}}!</p>", "<p>Hi {{name}}!</p>"),
        (
            "<table>{{#each rows}}<tr><td>{{a}}</td></tr>{{/each}}</table>",
            "<table><tbody>{{#each rows}}<tr><td>{{a}}</td></tr>{{/each}}</tbody></table>",
        ),
        (
            "<table><tbody>{{#each rows}}<tr>{{#each cells}}<td>{{this}}</td>{{/each}}</tr>{{/each}}</tbody></table>",
            "<table><tbody>{{#each rows}}<tr>{{#each cells}}<td>{{this}}</td>{{/each}}</tr>{{/each}}</tbody></table>",
        ),
        (
            "<table>{{#each groups}}<tbody><tr><td>{{a}}</td></tr></tbody>{{/each}}</table>",
            "<table>{{#each groups}}<tbody><tr><td>{{a}}</td></tr></tbody>{{/each}}</table>",
        ),
        (
            "<ul>{{#each l}}<li>{{this}}{{#unless @last}};{{/unless}}</li>{{else}}<li>none</li>{{/each}}</ul>",
            "<ul>{{#each l}}<li>{{this}}{{#unless @last}};{{/unless}}</li>{{else}}<li>none</li>{{/each}}</ul>",
        ),
        (
            '<p>{{plural n one="a \\"b\\" > c" other="}}"}}</p>',
            '<p>{{plural n one="a \\"b\\" > c" other="}}"}}</p>',
        ),
        ('<p class="{{#if a}}x{{else}}y{{/if}} z">t</p>', '<p class="{{#if a}}x{{else}}y{{/if}} z">t</p>'),
        ("<p title='{{a}}'>t</p>", '<p title="{{a}}">t</p>'),
        ("<p title={{a}}>t</p>", '<p title="{{a}}">t</p>'),
        (
            '{{#*inline "row"}}<b>{{a}}</b>{{/inline}}<p>{{> row}}</p>',
            '{{#*inline "row"}}<b>{{a}}</b>{{/inline}}<p>{{> row}}</p>',
        ),
        ("<p>{{! a secret }}x{{!-- {{y}} --}}</p>", "<p>x</p>"),
        ("<p>{{~a~}}</p>", "<p>{{~a~}}</p>"),
        ("<p>{{^a}}none{{/a}}</p>", "<p>{{^a}}none{{/a}}</p>"),
        ("<!-- why -->x", "x"),
        (
            '<a href="https://x.example/{{a}}?b=1&amp;c={{d}}">x</a>',
            '<a href="{{#tidings_href}}https://x.example/{{a}}?b=1&amp;c={{d}}{{/tidings_href}}">x</a>',
        ),
        (
            '<a href="{{#if a}}https://a.example{{else}}https://b.example{{/if}}">x</a>',
            '<a href="{{#tidings_href}}{{#if a}}https://a.example{{else}}https://b.example{{/if}}{{/tidings_href}}">x</a>',
        ),
        (
            "<style>p:nth-child(2n + 2) { color: red }</style><p>{{a}}</p>",
            '<p style="color: red;">{{a}}</p>',
        ),
        (
            '<style>p { color: red }</style><p style="width:{{w}}px">x</p>',
            '<p style="color: red;width: {{#tidings_style}}{{w}}{{/tidings_style}}px">x</p>',
        ),
    ],
)
def test_expressions_stay_where_they_were(source: str, expected: str) -> None:
    assert body_of(compile_html(source)).strip() == expected


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("<div {{a}}>x</div>", "inside an attribute's value"),
        ("<div {{#if a}}class='b'{{/if}}>x</div>", "inside an attribute's value"),
        ("<{{a}}>x", "the name of a tag"),
        ("<!-- {{a}} -->x", "comment"),
        ("<style>p{color:{{a}}}</style>x", "style"),
        ('<p style="{{#if a}}color:red{{/if}}">x</p>', "around the element"),
        ('<p onclick="{{a}}">x</p>', "onclick of <p>"),
        ("<p>{{{a}}}</p>", "two braces"),
        ("<p>{{&a}}</p>", "two braces"),
        ('<a href="{{{a}}}">x</a>', "two braces"),
        ("<p>{{#if a}}</p>{{/if}}", "same element"),
        ("{{#if a}}<b>{{else}}<i>{{/if}}x", "same element"),
        ("<table><tr>{{#if a}}<td>{{/if}}x</td></tr></table>", "same element"),
        ("<p>{{/if}}</p>", "belongs to no block"),
        ("<p>{{#if a}}x</p>", "not closed"),
        ("<p>{{a</p>", "not closed"),
        ("{{{{raw}}}}x{{{{/raw}}}}", "raw blocks"),
        ("<script>alert(1)</script>", "<script>"),
        ("<SCRIPT src=//x></SCRIPT>", "<script>"),
        ("<iframe src='https://x.example'></iframe>", "<iframe>"),
        ("<form action='https://x.example'></form>", "<form>"),
        ("<link rel=stylesheet href='https://x.example/a.css'>", "<link>"),
        ("<style>@import url(https://x.example/a.css);</style>x", "fetch"),
        ("<style>p{background:url(//x.example)}</style>x", "fetch"),
        ("<a href='javascript:alert(1)'>x</a>", "must begin with"),
        ("<a href='/relative'>x</a>", "must begin with"),
        ("<img src='https://elsewhere.example/a.png'>", "cid:"),
        ("x\x02y", "control characters"),
        ("<div>" * 101, "nest"),
        ("<style>p ~ p { color: red }</style>x", "selector with ~"),
        ("<style>@media print { p:has(b) { color: red } }</style>x", "selector with :has"),
        ("<style>" + "p { color: red }" * 301 + "</style>x", "300 style rules"),
        ("<br>" * 10_001, "10000 elements"),
        ('<p title="{{link a}}">x</p>', "print the address itself"),
        ("<p>a</p>\n<p><b id=a1>x</p><p>y</p>", "line 2: <b> is not closed in the same element, before </p>"),
        ("<p><i>x<p>y</p></i>", "<i> is not closed in the same element, before <p>"),
        ("<table><b><tr><td>x</td></tr></b></table>", "<b> is not closed in the same element, before <tr>"),
        ("<ul><li><u>x<li>y</ul>", "<u> is not closed in the same element, before <li>"),
        ("<b>x", "<b> is not closed in the same element, before the end"),
        ("<a href='https://x.example'>x<a href='https://x.example'>y</a>", "before the next <a>"),
    ],
)
def test_what_can_not_be_kept_is_refused_with_a_remedy(source: str, says: str) -> None:
    with pytest.raises(CompileError) as refused:
        compile_html(source)

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<p onclick="x()" style="color:red">a</p>', '<p style="color:red">a</p>'),
        ('<p style="width:expression(alert(1))">a</p>', "<p>a</p>"),
        ('<p style="background:url(javascript:x)">a</p>', "<p>a</p>"),
        ('<p style="b\\65 havior:x">a</p>', "<p>a</p>"),
        ("<svg onload=x><p>a</p></svg>", "<p>a</p>"),
        ("<math><mi>a</mi></math>b", "b"),
        ("<input value=1>a<button>b</button>", "ab"),
        ("<center><font color='red'>a</font></center>", '<center><font color="red">a</font></center>'),
        (
            '<table role="presentation" border="0" cellpadding="0"><tr><td bgcolor="#fff" valign="top">a</td></tr></table>',
            '<table role="presentation" border="0" cellpadding="0"><tbody><tr><td bgcolor="#fff" valign="top">a</td></tr></tbody></table>',
        ),
        ('<img src="cid:logo" alt="Logo" width="40">', '<img src="cid:logo" alt="Logo" width="40">'),
    ],
)
def test_what_mails_need_stays_and_what_runs_goes(source: str, expected: str) -> None:
    assert body_of(compile_html(source)) == expected


def test_mjml_keeps_blocks_between_sections_columns_and_rows(rendering: Rendering) -> None:
    compiled = compile_mjml(
        "{{#each groups}}<mj-section><mj-column>{{#if title}}<mj-text>{{title}}<br>b</mj-text>{{/if}}"
        "<mj-table>{{#each rows}}<tr><td>{{this}}</td></tr>{{/each}}</mj-table>"
        '<mj-button href="https://x.example/{{id}}">Go {{id}}</mj-button>'
        "</mj-column></mj-section>{{/each}}"
    )
    values = {
        "groups": [{"id": "1", "title": "A", "rows": ["r1", "r2"]}, {"id": "2", "rows": []}],
    }

    done = rendering.job(compiled_content(compiled, "en"), values)

    assert isinstance(done, Rendered)
    html = done.html or ""
    assert html.count("max-width:600px") >= 2
    assert html.count("<td>r") == 2
    assert [html.count(f'href="https://x.example/{n}"') for n in (1, 2)] == [1, 1]
    assert "{{" not in html
    assert done.text == "A\nb\nr1\nr2\nGo 1 (https://x.example/1)\nGo 2 (https://x.example/2)"


def test_what_mjml_repeats_for_other_programs_is_put_back_everywhere() -> None:
    compiled = compile_mjml(
        '<mj-section background-url="https://x.example/{{a}}.png" background-color="{{c}}">'
        "<mj-column><mj-text>x</mj-text></mj-column></mj-section>"
    )
    html = compiled.html or ""

    assert html.count("{{#tidings_src}}https://x.example/{{a}}.png{{/tidings_src}}") >= 3
    assert 'bgcolor="{{c}}"' in html
    assert "{{#tidings_style}}{{c}}{{/tidings_style}}" in html
    assert "tk0n" not in html


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("<mj-font name='R' href='https://f.example/r.css'/>", "web font"),
        ("<mj-include path='/etc/passwd'/>", "other files"),
        ("<mj-section>", "<mj-section> is not closed"),
        (
            "<mj-section>\n<mj-column><mj-text><b>x</mj-text></mj-column></mj-section>",
            "line 2: <b> is not closed",
        ),
        ("</mj-section>", "</mj-section> closes nothing"),
        # The compiler would end the whole process.
        ("<mj-text>" + "<li>" * 7_000 + "x" + "</li>" * 7_000 + "</mj-text>", "nest more than 100 deep"),
        ("<tr><td>" * 60 + "x" + "</td></tr>" * 60, "nest more than 100 deep"),
    ],
)
def test_mjml_that_would_fetch_or_is_broken_is_refused(source: str, says: str) -> None:
    with pytest.raises(CompileError) as refused:
        compile_mjml(source)

    assert says in str(refused.value)


@pytest.mark.parametrize("locale", ["ar", "fa-AF", "ps-AF", "he"])
def test_languages_from_right_to_left_run_that_way(locale: str) -> None:
    compiled = compile_mjml(
        "<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>", locale=locale
    )
    html = compiled.html or ""

    assert compiled.direction == "rtl"
    assert f'<html lang="{locale}" dir="rtl"' in html
    assert "direction:rtl" in html
    assert "direction:ltr" not in html
    assert "text-align:right" in html


def test_an_author_may_choose_the_direction() -> None:
    source = Source(format=BodyFormat.HTML, body="<p>x</p>", subject="s", direction="ltr")

    assert compile_source(source, locale="fa-AF", links=LinkPolicy()).direction == "ltr"


def test_the_preheader_is_hidden_and_escaped() -> None:
    source = Source(
        format=BodyFormat.HTML, body="<p>x</p>", subject="s", preheader='<b> {{plural n other="<"}}'
    )

    compiled = compile_source(source, locale="en", links=LinkPolicy())

    assert '&lt;b&gt; {{plural n other="<"}}</div>' in (compiled.html or "")
    assert "b" not in (compiled.text or "").replace("x", "")


def test_markdown_becomes_html() -> None:
    source = Source(
        format=BodyFormat.MARKDOWN,
        body="# Hi {{name}}\n\n{{#if a}}\n\n*{{a}}* [go]({{url}})\n\n{{/if}}\n",
        subject="s",
    )

    html = body_of(compile_source(source, locale="en", links=LinkPolicy()))

    assert html.split() == [
        "<h1>Hi",
        "{{name}}</h1>",
        "{{#if",
        "a}}",
        "<p><em>{{a}}</em>",
        "<a",
        'href="{{#tidings_href}}{{url}}{{/tidings_href}}">go</a></p>',
        "{{/if}}",
    ]


def test_links_of_the_template_itself_are_on_the_list() -> None:
    allowed = ["shop.example", "*.shop.example"]
    compile_html(
        '<a href="https://shop.example/a">x</a><a href="https://a.shop.example">y</a>', allowed=allowed
    )

    with pytest.raises(CompileError, match="leads to evil"):
        compile_html('<a href="https://evil.example/a">x</a>', allowed=allowed)


def test_a_mail_that_compiles_to_more_than_one_may_have_is_refused() -> None:
    text = "<mj-text>x</mj-text>" * 5_000

    with pytest.raises(CompileError, match="characters, more than the 1000000"):
        compile_mjml(f"<mj-section><mj-column>{text}</mj-column></mj-section>")


@pytest.mark.parametrize(
    "source",
    [
        "<ul><li><b><ul><li>a</li><li>b</li></ul></b></li><li>c</li></ul>",
        "<ul><li><a href='https://x.example'><div><p>a</p></div></a></li></ul>",
        "<dl><dt><b>a</b></dt><dd><i><ol><li>b</li></ol></i></dd></dl>",
        "<b><table><tr><td><b>a</b></td><td><p>b</p></td></tr></table></b>",
        "<p><button><b><p>a</p></b></button></p>",
    ],
)
def test_what_is_closed_is_taken_however_it_nests(source: str) -> None:
    assert compile_html(source).html


def test_html_that_is_sloppy_but_harmless_is_taken() -> None:
    source = "<p>one<p>two<ul><li>a<li>b</ul><table><tr><td>c<td>d<tr><td>e</table><div><b><i>x</i></b></div>"

    assert body_of(compile_html(source)).startswith(
        "<p>one</p><p>two</p><ul><li>a</li><li>b</li></ul><table>"
    )


@pytest.mark.parametrize(
    "body", ["|a|b|\n|-|-|\n" + "|x|y|\n" * 40_000, "#\n" * 10_001], ids=["cells", "lines"]
)
def test_markdown_without_end_is_refused_before_it_is_read(body: str) -> None:
    source = Source(format=BodyFormat.MARKDOWN, body=body, subject="s")

    with pytest.raises(CompileError, match="more than 10000 lines or cells"):
        compile_source(source, locale="en", links=LinkPolicy())


def test_tokens_can_not_be_confused_with_the_authors_words() -> None:
    assert body_of(compile_html("<p>tk0n0e {{a}} tk1n0e</p>")) == "<p>tk0n0e {{a}} tk1n0e</p>"


@pytest.mark.parametrize(
    "source",
    [
        "<a " * 50_000,
        '<a "' * 50_000,
        "<a" + " " * 100_000,
        "<!--" * 50_000,
        "<p>" + "<" * 100_000,
        "<p>x</p>" * 20_000,
        "<p>{{a}}</p>\n" * 10_000,
        "{{a " * 50_000,
        "{{!-- " * 50_000,
        '{{a "' + '\\"' * 50_000,
        "<td>" * 50_000,
        '<p style="' + "url(https:" * 20_000 + '{{a}}">x</p>',
        "&" * 200_000,
        "".join(f"tk{number}n" for number in range(30_000)) + "{{a}}",
        "".join(f"<b id=a{number}>" for number in range(50)) + "<p>x</p>" * 5_000,
        "<p>" + "".join(f"<b id=a{number}>" for number in range(50)) + "<p>x</p>" * 5_000,
        "".join(f"<p><b id=a{number}>x</p>" for number in range(5_000)),
    ],
    ids=lambda source: source[:12],
)
def test_large_nonsense_gets_its_answer(source: str) -> None:
    """Each of these would take minutes, or the whole process, where one look did not do."""
    try:
        compiled = compile_html(source)
    except CompileError:
        return
    assert compiled.html
