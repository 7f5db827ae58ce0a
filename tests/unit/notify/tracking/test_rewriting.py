"""Pixels and links in mails: what is rewritten, what is not, and that a mail stays the mail it was."""

import re
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rendering import Rendering, compile_html, compiled_content
from tidings.notify.render.model import Rendered
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import LinkPolicy
from tidings.notify.templates.platform.files import PlatformTemplate, read_set
from tidings.notify.tracking.rewrite import rewrite

PIXEL = "https://t.example/t/o/x.gif"
MAILS = [template for template in read_set() if template.channel == "email"]


@pytest.fixture(scope="module")
def rendering() -> Rendering:
    return Rendering()


def moved(target: str) -> str:
    return f"https://t.example/t/c/{target.encode().hex()}"


class Seen(HTMLParser):
    """What a browser makes of it: tags and texts, with the links apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[object] = []
        self.links: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if tag in {"a", "area"} and name == "href"]
        self.parts.append(
            (tag, [(n, v) for n, v in attrs if (tag, n) not in {("a", "href"), ("area", "href")}])
        )

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.parts.append(("comment", data))


@pytest.mark.parametrize("mail", MAILS, ids=lambda mail: mail.key)
def test_a_mail_of_the_platforms_set_stays_what_it_was(rendering: Rendering, mail: PlatformTemplate) -> None:
    for locale in ("en", "ar"):
        compiled = compile_source(mail.spec.locales[locale], locale=locale, links=LinkPolicy())
        sample = next(iter(mail.spec.samples.values()))
        done = rendering.job(compiled_content(compiled, locale), sample, tenant_name="A & B")
        assert isinstance(done, Rendered)
        assert done.html is not None
        before = Seen(done.html)

        assert rewrite(done.html, link=None, pixel=None) == done.html
        after = Seen(rewrite(done.html, link=moved, pixel=PIXEL))

        places = [n for n, part in enumerate(after.parts) if part[0] == "img" and ("src", PIXEL) in part[1]]  # type: ignore[index]
        assert len(places) == 1
        assert after.parts[places[0] + 1] == "/body"
        assert [part for n, part in enumerate(after.parts) if n != places[0]] == before.parts
        assert after.links == [
            moved(link) if link.startswith(("http://", "https://")) else link for link in before.links
        ]


def test_links_that_are_written_by_variables_are_rewritten(rendering: Rendering) -> None:
    compiled = compile_html('<p><a class="x" href="{{url}}">{{name}}</a></p>')
    target = "https://shop.example/ش?a=1&copy=2%22#c"
    done = rendering.job(compiled_content(compiled, "en"), {"url": target, "name": "<Laila>"})
    assert isinstance(done, Rendered)
    assert done.html is not None

    assert Seen(rewrite(done.html, link=moved, pixel=None)).links == [moved(target)]


@pytest.mark.parametrize(
    "left",
    [
        '<a href="mailto:a@b.test">x</a>',
        '<a href="tel:+93701234567">x</a>',
        '<a href="#top">x</a>',
        '<a href="/relative">x</a>',
        '<a href="">x</a>',
        "<a href>x</a>",
        '<a name="https://x.test">x</a>',
        '<a title="href=https://x.test">x</a>',
        '<img src="https://x.test/a.png">',
        '<link href="https://x.test/a.css">',
        '<abbr href="https://x.test">x</abbr>',
        "<!-- <a href='https://x.test'> -->",
        "<!--[if mso]><a href='https://x.test'><![endif]-->",
        "<style>a[href='https://x.test'] > b { content: '<a href=\"https://x.test\">' }</style>",
        "https://x.test in words, and 1 < 2 <3",
        '<a href="https:///nowhere">x</a>',
        '<a href="https://[broken">x</a>',
        '<a href="https://x.test',
        "<a href='https://x.test' title=\"never ends",
    ],
)
def test_what_is_no_link_to_the_web_stays(left: str) -> None:
    assert rewrite(left, link=moved, pixel=None) == left


@pytest.mark.parametrize(
    "link",
    [
        '<a href="{}">',
        '<a href="https://x.test/?a=1&b=2">',
        "<a href='{}'>",
        "<a href={}>",
        '<A\n  HREF = "{}" >',
        '<a class="a>b" title=\'"\' href="{}"/>',
        '<a href="{}" href="https://second.test">',
        '<area shape=rect href="{}">',
        '<a href=" {} ">',
    ],
)
def test_every_way_to_write_a_link_is_found(link: str) -> None:
    assert moved("https://x.test/?a=1&b=2") in rewrite(
        link.format("https://x.test/?a=1&amp;b=2"), link=moved, pixel=None
    )


def test_a_bare_ampersand_is_one() -> None:
    assert moved("https://x.test/?a=1&copy=2&lt=3") in rewrite(
        '<a href="https://x.test/?a=1&copy=2&lt=3">', link=moved, pixel=None
    )


def test_a_pixel_stands_at_the_end() -> None:
    assert re.search(
        r"x.gif\"[^>]*></body></html>$", rewrite("<body>a</body></html>", link=None, pixel=PIXEL)
    )
    assert rewrite("a", link=None, pixel=PIXEL).startswith("a<img ")
    # A link behind the end: the pixel is behind it.
    assert rewrite('</body><a href="https://x.test">', link=moved, pixel=PIXEL).index("gif") > 60


@given(st.text(alphabet="<>/a href='\"=-!bsty:ptx.&;\n", max_size=200))
def test_anything_is_walked_through_and_no_letter_is_lost(html: str) -> None:
    links: list[str] = []

    def same(target: str) -> str | None:
        links.append(target)
        return None

    assert rewrite(html, link=same, pixel=None) == html
    assert rewrite(html, link=escape, pixel=PIXEL).count(PIXEL) == 1


@pytest.mark.parametrize(
    "hostile", ["<a " * 60_000, "<a href='" * 40_000, "<" * 200_000, "<!--" * 50_000, "<style>" * 30_000]
)
def test_a_hostile_mail_takes_no_longer_than_its_length(hostile: str) -> None:
    """Anything worse than one walk would not end within the run."""
    assert rewrite(hostile, link=moved, pixel=None) == hostile
