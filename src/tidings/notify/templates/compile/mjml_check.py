"""Checks a body against the table of MJML's components, as the author wrote it."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from tidings.notify.templates.compile.lexer import MarkupPiece, pieces
from tidings.notify.templates.compile.mjml_schema import (
    ATTRIBUTES,
    CHILDREN,
    EMPTY,
    EVERYWHERE,
    NOT_COMPILED,
    REFUSED,
    STRUCTURE,
)
from tidings.notify.templates.compile.passage import CONTENTS
from tidings.notify.templates.faults import Fault

#: Places that are no advice.
_NOT_SHOWN: Final = frozenset({"", "mj-attributes"})
#: Take the attributes of all components.
_ANY: Final = frozenset({"mj-all", "mj-class"})
#: Are said by the checks of markup, with their own words.
_SAID: Final = frozenset({"mj-font", "mj-include"})
#: Fields for a reader to fill in; the compiler writes some of its own, and those are kept.
_FIELDS: Final = frozenset({"button", "input", "label", "select", "textarea"})


def mjml_faults(markup: str, *, tokens: re.Pattern[str]) -> Iterator[Fault]:
    """Elements that MJML does not know or that stand in the wrong place, and a body with nothing in it."""
    stack: list[str] = []
    at, seen, once = 0, False, set[str]()
    for piece in pieces(markup):
        start, at = at, at + len(piece.source)
        parent = stack[-1] if stack else ""
        if piece.kind == "open":
            if found := _misplaced(piece, parent, stack):
                what, _, how = found.partition("; ")
                yield Fault.at(markup, start, f"<{piece.name}> {what}", how)
            if piece.name in ("mj-body", "mj-head") and parent == "mjml":
                if piece.name in once:
                    yield Fault.at(markup, start, f"there is a second <{piece.name}>", "put both into one")
                once.add(piece.name)
            seen |= parent == "mj-body"
            if not piece.empty:
                stack.append(piece.name)
        elif piece.kind == "close" and piece.name in stack:
            while stack.pop() != piece.name:
                pass
        elif piece.kind in ("text", "declaration") and piece.source.strip():
            start += len(piece.source) - len(piece.source.lstrip())
            if found := _stray(piece.source, parent, stack, tokens):
                what, _, how = found.partition("; ")
                yield Fault.at(markup, start, what, how)
    if not seen:
        yield Fault(
            "the mail is empty: it has no <mj-body> with something in it",
            "write <mjml><mj-body><mj-section>…</mj-section></mj-body></mjml>",
            line=1,
        )


def attribute_warnings(markup: str) -> Iterator[Fault]:
    """Attributes that a component does not have, and those that are written twice."""
    at = 0
    for piece in pieces(markup):
        start, at = at, at + len(piece.source)
        known = ATTRIBUTES.get(piece.name)
        if piece.kind != "open" or known is None:
            continue
        names = [attribute.name for attribute in piece.attributes]
        if any((each.name, each.value) == ("mode", "fluid-height") for each in piece.attributes):
            what = f"mode of <{piece.name}> is compiled as fixed-height"
            yield Fault.at(markup, start, what, "give it a height", severity="warning")
        for name in dict.fromkeys(names):
            if name not in known | EVERYWHERE:
                like = get_close_matches(name, known, 1)
                how = f"write {like[0]}" if like else "take it away"
                what = f"<{piece.name}> has no attribute {name[:40]}"
                yield Fault.at(markup, start, what, how, severity="warning")
            elif (piece.name, name) in NOT_COMPILED:
                what = f"{name} of <{piece.name}> is not compiled"
                yield Fault.at(markup, start, what, NOT_COMPILED[piece.name, name], severity="warning")
            elif names.count(name) > 1:
                what = f"{name} of <{piece.name}> is written {names.count(name)} times, and the first counts"
                yield Fault.at(markup, start, what, "take the others away", severity="warning")


def _stray(text: str, parent: str, stack: list[str], tokens: re.Pattern[str]) -> str | None:
    """What is wrong with a text where it stands, with a remedy."""
    if parent in EMPTY or (parent in CONTENTS and "mj-attributes" in stack):
        return f"<{parent}> has no content; write <{parent} … />"
    if parent == "mj-accordion-element" and tokens.search(text):
        return f"no expression can stand directly in <{parent}>; set it around the element, or put it into a text"
    if parent in STRUCTURE and not text.startswith("<") and tokens.sub("", text).strip():
        where = f"directly in <{parent}>" if parent else "outside <mjml>"
        return f"text can't stand {where}; put it into <mj-text> or <mj-raw>"
    return None


def _misplaced(piece: MarkupPiece, parent: str, stack: list[str]) -> str | None:
    """What is wrong with an element where it stands, with a remedy."""
    name = piece.name
    content = next((each for each in stack if each in CONTENTS), None)
    if "mj-attributes" in stack and parent != "mj-attributes":
        return f"can't stand in <{parent}> inside <mj-attributes>; write <{parent} … />"
    if name in REFUSED:
        return REFUSED[name]
    if name in _SAID:
        return None
    if name in _FIELDS:
        return "is not allowed in a mail; link to a page with the form"
    if name == "mj-class" and not any(each.name == "name" for each in piece.attributes):
        return 'has no name; write <mj-class name="…" />'
    if parent in EMPTY and parent not in STRUCTURE:
        return f"can't stand in <{parent}>, which has no content; close it before: <{parent} … />"
    if not (name.startswith("mj-") or name == "mjml"):
        if content or parent not in STRUCTURE:
            return None
        return f"can't stand directly in <{parent}>; put it into <mj-text> or <mj-raw>" if parent else _ROOT
    if name not in ATTRIBUTES and name not in _ANY:
        like = get_close_matches(name, ATTRIBUTES, 1)
        return f"is no element of MJML; {f'write <{like[0]}>' if like else 'take it away'}"
    if content:
        return f"can't stand in <{content}>; close <{content}> before it"
    if parent in CHILDREN and name in CHILDREN[parent]:
        return None
    places = [f"<{each}>" for each in CHILDREN if each not in _NOT_SHOWN and name in CHILDREN[each]]
    where = f"in <{parent}>" if parent else "outside <mjml>"
    return f"can't stand {where}; put it into {' or '.join(places) or 'the first line'}"


_ROOT: Final = "can't stand outside <mjml>; begin with <mjml><mj-body>"
