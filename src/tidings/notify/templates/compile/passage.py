"""Carries what people write past the MJML compiler, which reads and changes more than it should.

It prints attributes as Rust prints texts for programmers (a zero-width non-joiner becomes `\\u{200c}`), and reads the
HTML inside texts as XML. So it gets a word for each content, and for each attribute in which there is anything but
plain ASCII; the words are swapped back afterwards. Lengths and colours it has to see, and they are plain ASCII.
"""

import re
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from tidings.notify.templates.compile.css import without_comments
from tidings.notify.templates.compile.lexer import Attribute, MarkupPiece, pieces
from tidings.notify.templates.compile.tokens import unused_salt, word_pattern

#: Elements whose content is HTML or text, and is printed as it is.
CONTENTS: Final = frozenset(
    {
        "mj-accordion-text",
        "mj-accordion-title",
        "mj-button",
        "mj-navbar-link",
        "mj-preview",
        "mj-raw",
        "mj-social-element",
        "mj-table",
        "mj-text",
        "mj-title",
    }
)
_SEEN: Final = re.compile(r"[A-Za-z0-9 #%.,:;/()!?=+*@'_-]*")
_NAME: Final = re.compile(r"[a-z_][a-z0-9_.:-]*")
#: The compiler takes a length for one with its unit only.
_ZERO: Final = re.compile(r"(?<![\w.#-])0(?![\w.%])")
#: The compiler takes no attributes of these, and stumbles over some.
_BARE: Final = frozenset({"mj-attributes", "mj-head", "mj-preview", "mj-raw", "mj-title"})
_PICTURES: Final = frozenset({"mj-image", "mj-social-element"})
#: What people read: its blanks are theirs.
_READ: Final = frozenset({"alt", "title"})


@dataclass(slots=True)
class Passage:
    """A markup for the compiler, and what its words stand for."""

    markup: str
    salt: str
    kept: list[str] = field(default_factory=list)
    #: Whether the head says what pictures without an `alt` of their own have.
    words_by_head: bool = False
    #: The rules that are to be set into elements, which are all there only afterwards.
    inline: list[str] = field(default_factory=list)

    def back(self, compiled: str) -> str:
        """The compiler's HTML with everything in its place."""
        # The compiler gives the boxes of all menus one name.
        boxes = count()
        compiled = re.sub(
            r'id="00000000"([\s\S]*?)for="00000000"',
            lambda box: f'id="menu-{(number := next(boxes))}"{box[1]}for="menu-{number}"',
            compiled,
        )
        return word_pattern(self.salt).sub(lambda word: self.kept[int(word[1])], compiled)


def passage(markup: str) -> Passage:
    """MJML as the compiler should see it."""
    defaults = markup.rpartition("</mj-attributes")[0]
    made = Passage("", unused_salt(markup), words_by_head=bool(re.search(r"\salt\s*=", defaults)))
    out: list[str] = []
    inside: list[str] = []
    name, depth, inlined = "", 0, False
    for piece in pieces(markup):
        if piece.name == "mj-style":
            inlined = _inlined(piece) if piece.kind == "open" else inlined and piece.kind == "raw"
            if piece.kind == "raw" and inlined:
                made.inline.append(without_comments(piece.source))
                continue
        if name:
            depth += piece.name == name and (
                (piece.kind == "open" and not piece.empty) - (piece.kind == "close")
            )
            if depth:
                inside.append(piece.source)
                continue
            out.append(_content(made, name, "".join(inside)))
            name, inside = "", []
        if piece.kind == "open":
            out.append(_tag(made, piece))
            if piece.name in CONTENTS and not piece.empty:
                name, depth = piece.name, 1
        elif piece.kind == "close":
            out.append(f"</{piece.name}>")
        elif piece.kind == "raw":
            out.append(without_comments(piece.source))
        elif piece.kind == "comment" or (piece.source.strip() and piece.kind == "text"):
            # Blanks between components mean nothing, and the compiler stumbles over some.
            out.append(piece.source)
    made.markup = "".join(out)
    return made


def _inlined(piece: MarkupPiece) -> bool:
    return any(each.name == "inline" and each.value == "inline" for each in piece.attributes)


def _content(made: Passage, name: str, inside: str) -> str:
    if not inside.strip():
        return inside
    # A title is repeated in an attribute.
    return _word(made, _quotable(inside) if name == "mj-title" else inside)


def _tag(made: Passage, piece: MarkupPiece) -> str:
    first: dict[str, Attribute] = {}
    for attribute in piece.attributes:
        # The compiler would set the rules in too, with a parser that moves our words out of tables.
        if _NAME.fullmatch(attribute.name) and (piece.name, attribute.name) != ("mj-style", "inline"):
            first.setdefault(attribute.name, attribute)
    if piece.name in _BARE:
        first.clear()
    if piece.name in _PICTURES and not made.words_by_head:
        # Without one a screen reader reads the name of the file.
        first.setdefault("alt", Attribute("alt", "", '"'))
    written = "".join(f' {name}="{_value(made, attribute)}"' for name, attribute in first.items())
    return f"<{piece.name}{written}{' /' if piece.empty else ''}>"


def _value(made: Passage, attribute: Attribute) -> str:
    value = attribute.value
    if attribute.name not in _READ:
        value = " ".join(value.split())
    if "padding" in attribute.name:
        value = _ZERO.sub("0px", value)
    return value if _SEEN.fullmatch(value) else _word(made, _quotable(value))


def _word(made: Passage, kept: str) -> str:
    made.kept.append(kept)
    return f"tk{made.salt}n{len(made.kept) - 1}e"


def _quotable(markup: str) -> str:
    return markup.replace('"', "&quot;").replace("<", "&lt;")
