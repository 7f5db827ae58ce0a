"""Whether the links that a template holds itself may stand in it; those of variables are checked at render."""

import html
import re
from collections.abc import Collection, Iterator
from typing import Final, Literal
from urllib.parse import urlsplit

from tidings.notify.templates.compile.css import urls, without_comments
from tidings.notify.templates.compile.lexer import MarkupPiece, pieces
from tidings.notify.templates.compile.sanitise import SCHEMES
from tidings.notify.templates.faults import Fault
from tidings.notify.templates.model import LinkPolicy
from tidings.notify.tenants.link_domains import host_allowed

Kind = Literal["href", "src"]

#: Attributes that hold an address: in HTML, and those that MJML makes into addresses.
ADDRESSES: Final[dict[str, Kind]] = {
    "href": "href",
    "action": "href",
    "formaction": "href",
    "cite": "href",
    "longdesc": "href",
    "base-url": "href",
    "src": "src",
    "background": "src",
    "background-url": "src",
    "poster": "src",
    "data": "src",
    "thumbnails-src": "src",
    "left-icon": "src",
    "right-icon": "src",
    "icon-wrapped-url": "src",
    "icon-unwrapped-url": "src",
}
#: An address that mail programs and telephones make a link of by themselves.
_BARE: Final = re.compile(r"(?:https?://|\bwww\.)[^\s<>\"']+", re.IGNORECASE)
_WHOLE: Final = "write a whole address such as https://example.com/"


def link_faults(source: str, *, links: LinkPolicy, tokens: re.Pattern[str]) -> Iterator[Fault]:
    """What is wrong with the fixed links of a markup, each at its tag."""
    at, base = 0, ""
    for piece in pieces(source):
        start, at = at, at + len(piece.source)
        if piece.kind == "open" and piece.name == "mj-navbar":
            base = next((each.value for each in piece.attributes if each.name == "base-url"), "")
        if piece.kind == "close" and piece.name == "mj-navbar":
            base = ""
        for name, url, kind in _addresses(piece, base):
            if tokens.search(url):
                continue
            fault = url_fault(url, kind, links) or _missing(url, links.assets)
            if fault:
                what, _, how = fault.partition("; ")
                yield Fault.at(source, start, f"{name} {what}", how)
        if piece.kind == "text":
            for place, fault in _bare_faults(html.unescape(piece.source), links, tokens):
                what, _, how = fault.partition("; ")
                yield Fault.at(source, start + min(place, len(piece.source)), what, how)


def text_link_faults(text: str, *, links: LinkPolicy, tokens: re.Pattern[str]) -> Iterator[Fault]:
    """What is wrong with the fixed links of a plain text, each where it begins."""
    for place, fault in _bare_faults(text, links, tokens):
        what, _, how = fault.partition("; ")
        yield Fault.at(text, place, what, how)


def _addresses(piece: MarkupPiece, base: str) -> Iterator[tuple[str, str, Kind]]:
    """What each address is called in a message, the address, and what it is for."""
    if piece.kind == "raw" and piece.name in ("style", "mj-style"):
        for _, url in urls(without_comments(piece.source)):
            yield f"url() in <{piece.name}>", url, "src"
    for attribute in piece.attributes if piece.kind == "open" else ():
        value = html.unescape(attribute.value).strip()
        kind = ADDRESSES.get(attribute.name)
        name = f"{attribute.name} of <{piece.name}>"
        if attribute.name == "style":
            for _, url in urls(without_comments(value)):
                # What has another scheme is dropped, with a warning.
                if re.match(r"https?:|cid:|//", url, re.IGNORECASE):
                    yield f"url() in {name}", url, "src"
        elif attribute.name == "srcset":
            for candidate in value.split(","):
                yield name, (candidate.split() or [""])[0], "src"
        elif kind is not None:
            yield name, base + value if piece.name == "mj-navbar-link" else value, kind


def _bare_faults(text: str, links: LinkPolicy, tokens: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    if not links.allowed:
        return
    for found in _BARE.finditer(text):
        url = found[0] if "://" in found[0] else f"https://{found[0]}"
        host = re.match(r"[^/?#]*", url.partition("://")[2])
        # What a value says is not known yet; a host that is complete before it is.
        if host and tokens.search(host[0]):
            continue
        fault = url_fault(url.rstrip(".,;:!?)"), "href", links)
        if fault:
            yield found.start(), f"a link in the text {fault}"


def url_fault(url: str, kind: Kind, links: LinkPolicy) -> str | None:
    """What is wrong with an address, as the rest of a sentence with a remedy; None where it may stand."""
    if kind == "href" and url.startswith("#"):
        return None
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return f"is no link; {_WHOLE}"
    if parts.scheme.lower() not in SCHEMES:
        return f"has no scheme that may stand in a mail; it must begin with one of {', '.join(f'{scheme}:' for scheme in sorted(SCHEMES))}"
    if parts.scheme not in ("http", "https"):
        return None
    if "\\" in url or "@" in parts.netloc or not host:
        # Browsers and libraries disagree about where such a link leads.
        return f"is no plain link; {_WHOLE}"
    if host in links.own_hosts:
        return None
    if kind == "src" and not links.allowed:
        return "fetches something from elsewhere; it must be an asset of the version (cid:) or at our own address"
    if links.allowed and not host_allowed(host, links.allowed):
        return (
            f"leads to {host}, which allowed_link_domains does not name; add it there or take the link away"
        )
    return None


def _missing(url: str, assets: Collection[str] | None) -> str | None:
    scheme, _, name = url.partition(":")
    # With an @ it is a picture that the notification itself brings along, which is not known yet.
    if scheme.lower() != "cid" or assets is None or name in assets or "@" in name:
        return None
    there = f"; the version has {', '.join(sorted(assets))}" if assets else "; the version has none"
    return f"names the picture {name[:80]}, which the version does not have{there}: upload it, or correct the name"
