"""Finds what keeps MJML from being read besides its nesting: attributes without quotes, stray brackets, texts outside."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from tidings.notify.templates.compile.lexer import MarkupPiece, pieces
from tidings.notify.templates.faults import Fault

_BARE: Final = re.compile(r"([^\s=\"'<>/]+)\s*=\s*(?![\"'\s])([^\s\"'<>]+)")
_NO_VALUE: Final = re.compile(r"\s([A-Za-z][\w:-]*)(?=\s*/?>|\s+[^\s=])")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_MOST: Final = 20


def form_faults(markup: str) -> list[Fault]:
    """What is wrong with the form of an MJML document; its expressions are blotted out."""
    return list(islice(_faults(markup), _MOST))


def _faults(markup: str) -> Iterator[Fault]:
    at = depth = 0
    began = False
    for piece in pieces(markup):
        start, at = at, at + len(piece.source)
        if piece.kind == "text":
            if depth <= 0 and piece.source.strip():
                offset = start + len(piece.source) - len(piece.source.lstrip())
                where = "after </mjml>" if began else "before <mjml>"
                yield Fault.at(
                    markup, offset, f"a text stands {where}", "write everything inside <mjml>…</mjml>"
                )
            stray = piece.source.find("<")
            if stray != -1:
                yield _stray(markup, start + stray)
        elif piece.kind == "open":
            if depth <= 0 and (began or piece.name != "mjml"):
                what = f"<{piece.name}> stands outside <mjml>"
                yield Fault.at(markup, start, what, "a body in MJML is one <mjml>…</mjml>")
                return
            began = True
            depth += not piece.empty
            if piece.name.startswith("mj"):
                # HTML inside a content is never read by the compiler.
                yield from _attributes(markup, piece, start)
        elif piece.kind == "close":
            depth -= 1


def _stray(markup: str, start: int) -> Fault:
    ends = (markup.find("<", start + 1), markup.find("\n", start + 1))
    end = min((at for at in ends if at != -1), default=len(markup))
    tag = re.match(r"</?([A-Za-z][\w:.-]*)", markup[start:end])
    if tag is None:
        return Fault.at(markup, start, "a < stands in the text", "write &lt; for the character itself")
    if markup.count('"', start, end) % 2:
        what = f"an attribute of <{tag[1]}> has no closing quotation mark"
        return Fault.at(markup, start, what, 'write the second "')
    return Fault.at(markup, start, f"the tag <{tag[1]} has no end", "write > after it")


def _attributes(markup: str, piece: MarkupPiece, start: int) -> Iterator[Fault]:
    # What stands in quotes is blotted out, each as long as it was.
    plain = _QUOTED.sub(lambda text: f'"{"x" * (len(text[0]) - 2)}"', piece.source)
    for bare in _BARE.finditer(plain):
        value = bare[2].removesuffix("/")
        what = f"the value of {bare[1]} stands without quotes"
        yield Fault.at(markup, start + bare.start(), what, f'write {bare[1]}="{value}"')
    for alone in _NO_VALUE.finditer(plain):
        what = f"the attribute {alone[1]} has no value"
        yield Fault.at(markup, start + alone.start(1), what, f'write {alone[1]}="…"')
