"""Puts a pixel into a mail and has its links lead by us; everything else stays, letter by letter.

The HTML is walked through once, from tag to tag: comments, which mail programs of one vendor read, and what is no markup
are passed over, and a tag that never ends is left alone with all that follows it.
"""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Final, NamedTuple
from urllib.parse import urlsplit

_NAME: Final = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]*)")
#: From behind the name to the end of the tag; what is in quotes may hold anything.
_REST: Final = re.compile(r"""(?:[^>"']++|"[^"]*"|'[^']*')*>""")
#: Text, and tags that are none of ours, as many as there are.
_DULL: Final = re.compile(
    r"""(?:[^<]++|<(?!!--|/body|a[\s/>]|area[\s/>]|script|style|title|textarea|xmp)"""
    r"""(?:/?[A-Za-z](?:[^>"']++|"[^"]*"|'[^']*')*>|(?!/?[A-Za-z])))*""",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(
    r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""",
)
#: A letter under another name. One without its semicolon is none: `?a=1&copy=2` is no sign of copyright.
_NAMED: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")
_HTTP: Final = re.compile(r"https?://[^\s\x00-\x20\x7f]+", re.IGNORECASE)
#: Elements whose content is no markup.
_RAW: Final = frozenset({"script", "style", "title", "textarea", "xmp"})
_CLOSING: Final = {word: re.compile(rf"</{word}", re.IGNORECASE) for word in _RAW}
_LINKS: Final = frozenset({"a", "area"})


class _Tag(NamedTuple):
    #: In lower case, with a slash before it where it closes.
    name: str
    start: int
    #: Where its attributes begin.
    inside: int
    end: int


#: The address that takes the place of a link's; None: it stays.
Replace = Callable[[str], str | None]


def rewrite(html: str, *, link: Replace | None, pixel: str | None) -> str:
    """The same mail with other links, and with a picture at its end."""
    parts: list[str] = []
    done, body_ends = 0, None
    for tag in _tags(html):
        if tag.name == "/body":
            body_ends = tag.start
        if link is None or tag.name not in _LINKS:
            continue
        place = _href(html, tag)
        if place is None:
            continue
        target = _NAMED.sub(lambda named: unescape(named[0]), html[place[0] : place[1]]).strip()
        other = link(target) if _HTTP.fullmatch(target) and _has_host(target) else None
        if other is not None:
            parts += [html[done : place[0]], other]
            done = place[1]
    if pixel is not None:
        end = len(html) if body_ends is None or body_ends < done else body_ends
        parts += [html[done:end], _picture(pixel)]
        done = end
    parts.append(html[done:])
    return "".join(parts)


def _picture(address: str) -> str:
    return f'<img src="{address}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">'


def _tags(html: str) -> Iterator[_Tag]:
    """Those that may matter, and some that don't."""
    at = 0
    while (dull := _DULL.match(html, at)) is not None and dull.end() < len(html):
        at = dull.end()
        if html.startswith("<!--", at):
            over = html.find("-->", at + 4)
            if over == -1:
                return
            at = over + 3
            continue
        name = _NAME.match(html, at)
        rest = _REST.match(html, name.end()) if name is not None else None
        if name is None or rest is None:
            # It never ends.
            return
        word = name[1].lower()
        opens = html[at + 1] != "/"
        yield _Tag(word if opens else f"/{word}", at, name.end(), rest.end())
        at = rest.end()
        if opens and word in _RAW:
            closing = _CLOSING[word].search(html, at)
            if closing is None:
                return
            at = closing.start()


def _href(html: str, tag: _Tag) -> tuple[int, int] | None:
    """Where the address of a link stands; the first counts, as in a browser."""
    for found in _ATTRIBUTE.finditer(html, tag.inside, tag.end - 1):
        if found[1].lower() == "href":
            which = next((n for n in (2, 3, 4) if found[n] is not None), None)
            return None if which is None else found.span(which)
    return None


def _has_host(address: str) -> bool:
    try:
        return bool(urlsplit(address).hostname)
    except ValueError:
        return False
