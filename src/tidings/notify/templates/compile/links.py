"""Whether the links that a template holds itself may stand in it; those of variables are checked at render."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from tidings.notify.templates.compile.lexer import pieces
from tidings.notify.templates.compile.sanitise import SCHEMES
from tidings.notify.templates.faults import Fault

_LINKS: Final = {"href": "href", "action": "href", "src": "src", "background": "src", "background-url": "src"}


def link_faults(
    source: str,
    *,
    allowed: Sequence[str],
    own_hosts: Sequence[str],
    tokens: re.Pattern[str],
    assets: Collection[str] | None = None,
) -> Iterator[Fault]:
    """What is wrong with the fixed links of a markup, each at its tag."""
    at = 0
    for piece in pieces(source):
        start, at = at, at + len(piece.source)
        if piece.kind != "open":
            continue
        for attribute in piece.attributes:
            kind = _LINKS.get(attribute.name)
            if kind is not None and not tokens.search(attribute.value):
                url = attribute.value.strip()
                fault = _fault(url, kind, allowed, own_hosts) or _missing(url, assets)
                if fault:
                    what, _, how = fault.partition("; ")
                    yield Fault(
                        f"{attribute.name} of <{piece.name}> {what}",
                        how,
                        line=source.count("\n", 0, start) + 1,
                        column=start - source.rfind("\n", 0, start),
                    )


def _fault(url: str, kind: str, allowed: Sequence[str], own_hosts: Sequence[str]) -> str | None:
    if kind == "href" and url.startswith("#"):
        return None
    try:
        parts = urlsplit(url.replace("&amp;", "&"))
        host = (parts.hostname or "").lower()
    except ValueError:
        return "is no link; write a whole address such as https://example.com/"
    if parts.scheme.lower() not in SCHEMES:
        return f"has no scheme that may stand in a mail; it must begin with one of {', '.join(f'{scheme}:' for scheme in sorted(SCHEMES))}"
    if parts.scheme not in ("http", "https"):
        return None
    if host in own_hosts:
        return None
    if kind == "src" and not allowed:
        return "fetches something from elsewhere; it must be an asset of the version (cid:) or at our own address"
    if allowed and not host_allowed(host, allowed):
        return (
            f"leads to {host}, which allowed_link_domains does not name; add it there or take the link away"
        )
    return None


def _missing(url: str, assets: Collection[str] | None) -> str | None:
    scheme, _, name = url.partition(":")
    # With an @ it is a picture that the notification itself brings along, which nobody knows yet.
    if scheme.lower() != "cid" or assets is None or name in assets or "@" in name:
        return None
    there = f"; the version has {', '.join(sorted(assets))}" if assets else "; the version has none"
    return f"names the picture {name[:80]}, which the version does not have{there}: upload it, or correct the name"


def host_allowed(host: str, allowed: Sequence[str]) -> bool:
    """Whether a list of domains names a host: `example.com` itself, `*.example.com` what is under it."""
    return any(
        host.endswith(name[1:]) and len(host) > len(name) - 1 if name.startswith("*.") else host == name
        for name in allowed
    )
