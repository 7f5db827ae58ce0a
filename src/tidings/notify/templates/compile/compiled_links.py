"""Looks at every address in a compiled mail, by whichever road it came there: the last check before it is stored."""

import html
import re
from collections.abc import Iterator
from typing import Final

from tidings.notify.templates.compile.css import urls, without_comments
from tidings.notify.templates.compile.lexer import Attribute, attributes, pieces
from tidings.notify.templates.compile.links import ADDRESSES, Kind, url_fault
from tidings.notify.templates.faults import Fault
from tidings.notify.templates.model import LinkPolicy

#: The tags inside comments that only some mail programs read.
_TAG: Final = re.compile(r"<([A-Za-z][\w:.-]*)((?:\"[^\"]*\"|'[^']*'|[^\"'>])*)>")
_REMOTE: Final = re.compile(r"\s*(?:https?:|//)", re.IGNORECASE)
#: Attributes that people read, or that name something.
_WORDS: Final = frozenset({"abbr", "alt", "class", "id", "lang", "name", "summary", "title"})
#: What MJML adds by itself: a part of the address, the element, and what to write.
_OWN: Final = (
    (
        "mailjet.com/images/theme",
        "mj-social-element",
        "MJML's own picture of a network would be fetched from www.mailjet.com",
        'upload a picture and name it: src="cid:network.png"',
    ),
    (
        "i.imgur.com",
        "mj-accordion",
        "MJML's own icons would be fetched from i.imgur.com",
        'upload pictures and name them: icon-wrapped-url="cid:plus.png" icon-unwrapped-url="cid:minus.png"',
    ),
    (
        "share",
        "mj-social-element",
        "MJML would make a link of the network's own for sharing, which allowed_link_domains does not name",
        'write the name with -noshare, such as name="facebook-noshare", for a plain link, or add the network there',
    ),
)
#: Where networks take a page to share; the page itself follows.
_SHARING: Final = re.compile(r"[?&](?:u|url|share|canonicalUrl|mini)=|/(?:share|sharer|intent|pin/create)\b")


def compiled_link_faults(
    compiled: str, *, source: str, links: LinkPolicy, tokens: re.Pattern[str]
) -> Iterator[Fault]:
    """What is wrong with the addresses of compiled HTML, at the author's line where it can be told."""
    told: set[Fault] = set()
    for url, kind in dict.fromkeys(_addresses(compiled)):
        said = None if tokens.search(url) else url_fault(url, kind, links)
        fault = _fault(url, said, source) if said else None
        if fault and fault not in told:
            told.add(fault)
            yield fault


def _addresses(compiled: str) -> Iterator[tuple[str, Kind]]:
    for piece in pieces(compiled):
        if piece.kind == "open":
            yield from _of_tag(piece.attributes)
        elif piece.kind == "comment":
            for tag in _TAG.finditer(piece.source):
                yield from _of_tag(attributes(tag[2]))
        elif piece.kind == "raw":
            yield from ((url, "src") for _, url in urls(without_comments(piece.source)))


def _of_tag(found: list[Attribute]) -> Iterator[tuple[str, Kind]]:
    for attribute in found:
        value = html.unescape(attribute.value).strip()
        if attribute.name == "style":
            yield from ((url, "src") for _, url in urls(without_comments(value)))
        elif attribute.name in ADDRESSES:
            yield value, ADDRESSES[attribute.name]
        elif (
            _REMOTE.match(value)
            and attribute.name not in _WORDS
            and not attribute.name.startswith(("xmlns", "aria-"))
        ):
            yield value, "src"


def _fault(url: str, fault: str, source: str) -> Fault:
    what, _, how = fault.partition("; ")
    for written in (url, html.escape(url), html.escape(url, quote=False)):
        if (at := source.find(written)) != -1:
            return Fault.at(source, at, f"{url[:80]} {what}", how)
    for part, element, own, remedy in _OWN:
        if part in url or (part == "share" and _SHARING.search(url)):
            at = source.find(f"<{element}")
            if at != -1:
                return Fault.at(source, at, f"<{element}>: {own}", remedy)
    return Fault(f"the compiled mail holds {url[:80]}, which {what}", how)
