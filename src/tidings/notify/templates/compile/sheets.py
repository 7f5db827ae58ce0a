"""Style sheets: without comments, and for the devices that their `media` names."""

import html
import re
from collections.abc import Iterator
from typing import Final

from tidings.notify.templates.compile.css import without_comments
from tidings.notify.templates.compile.lexer import MarkupPiece, pieces

#: A media query that can stand before braces.
_QUERY: Final = re.compile(r"[\w\s():.,/=-]+")


def query_of(piece: MarkupPiece) -> str:
    """What a `<style>` says in `media`; empty for all devices."""
    media = next((each.value for each in piece.attributes if each.name == "media"), "")
    query = " ".join(html.unescape(media).split())
    return "" if query.lower() == "all" else query


def query_fault(piece: MarkupPiece) -> str | None:
    """What is wrong with it, as a sentence with a remedy."""
    query = query_of(piece)
    if query and not _QUERY.fullmatch(query):
        return (
            f"media of <{piece.name}> can't be read; write a query such as only screen and (max-width:480px)"
        )
    return None


def for_all_devices(markup: str) -> str:
    """The same document, whose sheets say inside for which devices they are: the inliner does not look at `media`."""
    out: list[str] = []
    for query, piece in _with_queries(markup):
        if piece.kind == "raw":
            out.append(_wrapped(query, piece.source))
        elif piece.kind == "open" and piece.name == "style":
            out.append("<style>")
        else:
            out.append(piece.source)
    return "".join(out)


def sheets(head: str) -> str:
    """The rules of all sheets of a head; those inside comments are for one mail program, and harm the others."""
    found = (_wrapped(query, piece.source) for query, piece in _with_queries(head) if piece.kind == "raw")
    return "\n".join(sheet for sheet in found if sheet)


def _with_queries(markup: str) -> Iterator[tuple[str, MarkupPiece]]:
    query = ""
    for piece in pieces(markup):
        if piece.kind == "open":
            query = query_of(piece) if piece.name == "style" else ""
        yield query, piece


def _wrapped(query: str, sheet: str) -> str:
    rules = without_comments(sheet).strip()
    return f"@media {query} {{ {rules} }}" if query and rules else rules
