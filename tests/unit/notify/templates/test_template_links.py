"""Nothing is fetched when somebody reads a mail, and links lead where they may, by whichever road they come."""

import pytest

from tests.support.rendering import compile_html
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.compile.warnings import remarks
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source

ALLOWED = LinkPolicy(allowed=("example.com",))


def mjml(column: str, *, head: str = "", links: LinkPolicy = ALLOWED) -> str:
    """What stands on the third line of an MJML body, compiled."""
    body = f"<mjml>{head}<mj-body>\n<mj-section><mj-column>\n{column}\n</mj-column></mj-section></mj-body></mjml>"
    source = Source(format=BodyFormat.MJML, body=body, subject="s")
    return compile_source(source, locale="en", links=links).html or ""


def refused(column: str, head: str = "") -> str:
    with pytest.raises(CompileError) as error:
        mjml(column, head=head)
    return str(error.value)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (
            '<mj-social><mj-social-element name="facebook" href="https://example.com/" src="cid:f.png"/></mj-social>',
            'line 3: <mj-social-element>: MJML would make a link of the network\'s own for sharing',
        ),
        (
            '<mj-social><mj-social-element name="facebook-noshare" href="https://example.com/"/></mj-social>',
            'would be fetched from www.mailjet.com; upload a picture and name it: src="cid:',
        ),
        (
            '<mj-navbar base-url="https://evil.example/?x="><mj-navbar-link href="https://example.com/a">x'
            "</mj-navbar-link></mj-navbar>",
            "line 3: base-url of <mj-navbar> leads to evil.example",
        ),
        (
            '<mj-navbar base-url="https://example.com"><mj-navbar-link href=".evil.example/a">x'
            "</mj-navbar-link></mj-navbar>",
            "line 3: href of <mj-navbar-link> leads to example.com.evil.example",
        ),
        (
            "<mj-accordion><mj-accordion-element><mj-accordion-title>a</mj-accordion-title></mj-accordion-element>"
            "</mj-accordion>",
            "line 3: <mj-accordion>: MJML's own icons would be fetched from i.imgur.com",
        ),
        ('<mj-accordion icon-wrapped-url="https://evil.example/a"/>', "line 3: icon-wrapped-url of <mj-accordion>"),
        ('<mj-image src="cid:a" srcset="https://evil.example/a 2x"/>', "line 3: srcset of <mj-image> leads to"),
        ('<mj-text color="red;background:url(https://evil.example/a)">x</mj-text>', "line 3: https://evil.example/a"),
        ('<mj-text><p style="background:url(https://evil.example/a)">x</p></mj-text>', "line 3: url() in style of <p>"),
        ("<mj-text>See https://evil.example/.</mj-text>", "line 3: a link in the text leads to evil.example"),
        ('<mj-button href="https://evil.example\\@example.com/">x</mj-button>', "is no plain link"),
    ],
)  # fmt: skip
def test_mjml_brings_no_address_of_its_own(column: str, says: str) -> None:
    assert says in refused(column)


def test_what_mjml_repeats_for_outlook_is_looked_at_too() -> None:
    """A value that comes by the head has no place of its own where it is used."""
    head = '<mj-head><mj-attributes><mj-section background-url="https://evil.example/q.png"/></mj-attributes></mj-head>'

    assert "line 1: background-url of <mj-section> leads to evil.example" in refused(
        "<mj-text>x</mj-text>", head
    )


def test_what_is_allowed_stays() -> None:
    html = mjml(
        '<mj-social><mj-social-element name="facebook-noshare" src="cid:f.png" href="https://example.com/"/></mj-social>'
        '<mj-navbar base-url="https://example.com/"><mj-navbar-link href="a">x</mj-navbar-link></mj-navbar>'
        "<mj-text>See https://example.com/b, or {{url}}.</mj-text>"
    )

    assert 'href="https://example.com/"' in html
    assert 'href="https://example.com/a"' in html


@pytest.mark.parametrize(
    "body",
    [
        '<p style="background:url(https://evil.example/x.png)">x</p>',
        '<p style="background:url(https://evil.example/x.png">x</p>',
        "<p style=\"background:URL( 'https://evil.example/x.png' )\">x</p>",
        '<p style="width:{{w}}px;background:url(https://evil.example/x.png)">x</p>',
        '<p style="color:red/*;*/;background:/**/url(https://evil.example/x.png)">x</p>',
        '<p style="background:url(&#104;ttps://evil.example/x.png)">x</p>',
        "<style>p{background:url(https://evil.example/x.png)}</style><p>x</p>",
        '<style>@import "https://evil.example/x.css";</style><p>x</p>',
        "<style>p{background:image-set('https://evil.example/x.png' 1x)}</style><p>x</p>",
        "<style>p{background:u\\72l(https://evil.example/x.png)}</style><p>x</p>",
        '<body style="background:url(https://evil.example/x.png)">x</body>',
        '<table background="https://evil.example/x.png"><tr><td>x</td></tr></table>',
        '<video poster="https://evil.example/x.png">x</video>',
        '<img src="cid:a" srcset="cid:a 1x, https://evil.example/x.png 2x">',
        '<a href="https:evil.example">x</a>',
    ],
)
def test_html_fetches_nothing_from_elsewhere(body: str) -> None:
    for links in (LinkPolicy(), ALLOWED):
        if "<a " in body and not links.allowed:
            continue
        with pytest.raises(CompileError) as error:
            compile_source(Source(format=BodyFormat.HTML, body=body, subject="s"), locale="en", links=links)
        assert error.value.faults[0].line == 1


@pytest.mark.parametrize(
    "style",
    [
        "background:u\\72l(https://evil.example/x.png)",
        "background:image-set('https://evil.example/x.png' 1x)",
    ],
)
def test_what_hides_an_address_is_dropped(style: str) -> None:
    assert "evil" not in (compile_html(f'<p style="{style};color:red">x</p>').html or "")
    assert "color:red" in (compile_html(f'<p style="{style};color:red">x</p>').html or "")


@pytest.mark.parametrize("part", ["body", "subject", "text"])
def test_plain_texts_lead_where_they_may(part: str) -> None:
    source = Source(format=BodyFormat.TEXT, body="x", subject="s")
    text = "one\nhttps://example.com/a {{url}} https://{{host}}/x\nvisit https://evil.example/, or www.evil.example"

    found = remarks(source, {part: text}, ALLOWED)

    assert [(where, fault.line, fault.column) for where, fault in found] == [(part, 3, 7), (part, 3, 33)]
    assert all("leads to" in fault.what and fault.severity == "error" for _, fault in found)
    assert remarks(source, {part: text}, LinkPolicy()) == []
