"""What is to be said of texts beside their compiling: what a body would lose, and where plain texts lead."""

import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from tidings.notify.templates.compile.lexer import MarkupPiece, pieces
from tidings.notify.templates.compile.links import text_link_faults
from tidings.notify.templates.compile.locale_content import MASKED, masked
from tidings.notify.templates.compile.mjml_check import attribute_warnings
from tidings.notify.templates.compile.sanitise import dropped_declarations, keeps
from tidings.notify.templates.faults import Fault
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source

_MOST: Final = 50
_MARKUP: Final = frozenset({BodyFormat.HTML, BodyFormat.MJML, BodyFormat.MARKDOWN})
#: Are read and set into the frame, which has attributes of its own.
_FRAME: Final = frozenset({"html", "head", "body", "title", "meta", "style"})
_REMEDY: Final = "take it away"


def remarks(source: Source, parts: Mapping[str, str], links: LinkPolicy) -> list[tuple[str, Fault]]:
    """What is to be said of the parts of a locale, each with the name of its part."""
    markup = source.format in _MARKUP
    found = [("body", fault) for fault in lost_in(source)]
    for part, text in parts.items():
        if part != "body" or not markup:
            faults = text_link_faults(masked(text), links=links, tokens=MASKED)
            found += ((part, fault) for fault in islice(faults, _MOST))
    return found


def lost_in(source: Source) -> list[Fault]:
    """Warnings of everything that a body would lose."""
    if source.format not in (BodyFormat.HTML, BodyFormat.MJML):
        return []
    shape = masked(source.body)
    found = list(islice(_dropped(shape), _MOST))
    if source.format is BodyFormat.MJML:
        found += islice(attribute_warnings(shape), _MOST)
    return found


def _dropped(shape: str) -> Iterator[Fault]:
    at = 0
    for piece in pieces(shape):
        start, at = at, at + len(piece.source)
        if piece.kind == "open" and not piece.name.startswith("mj") and not MASKED.search(piece.name):
            for what in _lost(piece):
                yield Fault.at(shape, start, what, _REMEDY, severity="warning")


def _lost(piece: MarkupPiece) -> Iterator[str]:
    if piece.name not in _FRAME and not keeps(piece.name):
        yield f"<{piece.name}> is not kept in a mail; only what stands in it is"
        return
    for attribute in piece.attributes:
        if attribute.name == "style":
            for dropped in dropped_declarations(html.unescape(attribute.value)):
                if not MASKED.search(dropped):
                    shown = re.sub(r"\s+", " ", dropped)[:60]
                    yield f"{shown} in style of <{piece.name}> is not kept in a mail"
        elif piece.name not in _FRAME and not keeps(piece.name, attribute.name):
            yield f"{attribute.name[:40]} of <{piece.name}> is not kept in a mail"
