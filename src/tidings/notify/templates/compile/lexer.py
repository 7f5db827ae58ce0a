"""Reads HTML and MJML as a sequence of tags, texts and comments, without judging them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
#: Their content is text, whatever it looks like.
RAW = frozenset({"style", "script", "mj-style"})

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]*)(?P<attributes>(?:\"[^\"]*+\"|'[^']*+'|[^\"'<>])*)>"
)
_DECLARATION = re.compile(r"<[!?][^<>]*>")
_ATTRIBUTE = re.compile(
    r"(?P<name>[^\s=/>\"']+)(?:\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'>]+)))?"
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name and a value; where the value begins in the markup, and whether it stood in quotes."""

    name: str
    value: str
    quote: str


@dataclass(frozen=True, slots=True)
class MarkupPiece:
    """One piece of markup as it was written."""

    kind: Literal["open", "close", "text", "raw", "comment", "declaration"]
    source: str
    #: The tag in lower case; empty for anything else.
    name: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    #: Whether it has no content: `<br>`, `<mj-image />`.
    empty: bool = False


def pieces(markup: str) -> Iterator[MarkupPiece]:
    """The pieces in their order; joined, their sources are the markup."""
    at = start = 0
    while (start := markup.find("<", start)) != -1:
        if markup.startswith("<!--", start):
            close = markup.find("-->", start + 4)
            found = MarkupPiece("comment", markup[start:] if close == -1 else markup[start : close + 3])
        elif tag := _TAG.match(markup, start):
            found = _tag(tag)
        elif declaration := _DECLARATION.match(markup, start):
            found = MarkupPiece("declaration", declaration[0])
        else:
            # A bracket that opens nothing is a character like others.
            start += 1
            continue
        if start > at:
            yield MarkupPiece("text", markup[at:start])
        yield found
        at = start = start + len(found.source)
        if found.kind == "open" and found.name in RAW and not found.empty:
            end = re.compile(rf"</{found.name}\s*>", re.IGNORECASE).search(markup, at)
            stop = end.start() if end else len(markup)
            if stop > at:
                yield MarkupPiece("raw", markup[at:stop], name=found.name)
            at = start = stop
    if at < len(markup):
        yield MarkupPiece("text", markup[at:])


def _tag(found: re.Match[str]) -> MarkupPiece:
    name, inside = found["name"].lower(), found["attributes"]
    if found["close"]:
        return MarkupPiece("close", found[0], name=name)
    return MarkupPiece(
        "open",
        found[0],
        name=name,
        attributes=attributes(inside),
        empty=name in VOID or inside.rstrip().endswith("/"),
    )


def attributes(inside: str) -> list[Attribute]:
    """The attributes in the inside of a tag."""
    found: list[Attribute] = []
    for match in _ATTRIBUTE.finditer(inside):
        value = next((match[g] for g in ("double", "single", "bare") if match[g] is not None), "")
        quote = '"' if match["double"] is not None else "'" if match["single"] is not None else ""
        found.append(Attribute(name=match["name"].lower(), value=value, quote=quote))
    return found
