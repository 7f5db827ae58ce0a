"""Stands an opaque token in for every expression, of a kind that no tool touches at that place.

A block between table rows becomes a comment, because a parser moves texts out of tables and leaves
comments. A value in a text becomes a word, and so does a value inside an attribute. A link becomes one word
as a whole, so that no tool takes its pieces for a scheme; so does an attribute with a condition in it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from tidings.notify.templates.compile.expressions import HandlebarsExpression, split
from tidings.notify.templates.compile.lexer import Attribute, MarkupPiece, pieces
from tidings.notify.templates.compile.nesting import DEEPEST
from tidings.notify.templates.errors import CompileError

#: Where an HTML parser takes no text.
_TABLES = frozenset({"table", "thead", "tbody", "tfoot", "tr", "colgroup", "mj-table"})
#: Where MJML takes elements only.
_STRUCTURE = frozenset(
    {
        "mjml",
        "mj-body",
        "mj-wrapper",
        "mj-section",
        "mj-group",
        "mj-column",
        "mj-hero",
        "mj-social",
        "mj-navbar",
    }
)
#: Where markup is text.
_PLAIN = frozenset({"title", "textarea", "mj-title", "mj-preview"})
#: Attributes that are links: in HTML, and those that MJML makes into links.
LINKS = {
    "href": "href",
    "action": "href",
    "src": "src",
    "background": "src",
    "background-url": "src",
    "thumbnails-src": "src",
    "poster": "src",
}
#: An element that ends when another of these begins.
_ENDS = {"tr": {"tr", "td", "th"}, "td": {"td", "th"}, "th": {"td", "th"}, "li": {"li"}}

#: Prints markup, and that can't stand inside a tag.
_LINK_HELPER = re.compile(r"\{\{~?\s*link\s")

Role = Literal["content", "attribute"]
#: Where a line of the body was written, as `file:line`.
Where = Callable[[int], str]
#: The first expression of a value, and what of it can be quoted anywhere.
_EXPRESSION = re.compile(r"\{\{\{?~?([^{}]*)")
_UNQUOTABLE = re.compile(r"[^\w@#./ -]+")


@dataclass(frozen=True, slots=True)
class Token:
    """One expression and where it stood."""

    number: int
    expression: HandlebarsExpression
    role: Role
    #: The attribute or the element that it stood in, for messages.
    place: str
    #: Whether it stood in a title, which the tools repeat in attributes.
    repeatable: bool = False


@dataclass(slots=True)
class TokenisedSource:
    """Markup without a single brace, and what its tokens stand for."""

    markup: str
    salt: str
    #: By their numbers; those that were taken up into a larger one are gone.
    tokens: dict[int, Token] = field(default_factory=dict)
    #: None: checks don't say where their value was written.
    where: Where | None = None

    def checked(self, value: str, kind: str, first: int) -> str:
        """A value inside the check that runs at every render; one that fails says where its first token stood for what."""
        at = ""
        if self.where is not None:
            expression = self.expression(first)
            found = _EXPRESSION.search(expression.text)
            name = _UNQUOTABLE.sub("", found[1]).strip()[:60] if found else ""
            at = f' at="{self.where(expression.line)}" of="{name}"'
        return f"{{{{#tidings_{kind}{at}}}}}{value}{{{{/tidings_{kind}}}}}"

    def pattern(self) -> re.Pattern[str]:
        """Finds the tokens' words."""
        return word_pattern(self.salt)

    def expression(self, number: int) -> HandlebarsExpression:
        """What a token stands for."""
        return self.tokens[number].expression


def word_pattern(salt: str) -> re.Pattern[str]:
    """Finds words made with this salt; the group is the token's number."""
    return re.compile(rf"tk{salt}n([0-9]+)e")


def tokenise(source: str, *, mjml: bool) -> TokenisedSource:
    """Swap every expression for a token; a `CompileError` where one stands where none can."""
    salt = unused_salt(source)
    found: list[HandlebarsExpression] = []
    flat: list[str] = []
    for piece in split(source):
        if isinstance(piece, HandlebarsExpression):
            flat.append(f"tk{salt}n{len(found)}e")
            found.append(piece)
        else:
            flat.append(piece)
    return _Swapper(found, salt, mjml=mjml).swap("".join(flat))


def unused_salt(source: str) -> str:
    """What makes the words of tokens unlike anything in the source."""
    used = set(re.findall(r"tk([0-9]+)n", source))
    return next(salt for salt in map(str, count()) if salt not in used)


class _Swapper:
    def __init__(self, found: list[HandlebarsExpression], salt: str, *, mjml: bool) -> None:
        self._found = found
        self._words = word_pattern(salt)
        self._mjml = mjml
        self._out: list[str] = []
        #: Open elements, and whether we wrote them ourselves.
        self._stack: list[tuple[str, bool]] = []
        self._tokens: dict[int, Token] = {}
        self._salt = salt

    def swap(self, flat: str) -> TokenisedSource:
        found = list(pieces(flat))
        for piece, following in zip(found, _following(found), strict=True):
            match piece.kind:
                case "comment":
                    self._refuse_within(piece.source, "a comment; take the comment away")
                case "raw":
                    self._refuse_within(piece.source, f"<{piece.name}>; use a style attribute")
                    self._out.append(piece.source)
                case "declaration":
                    self._refuse_within(piece.source, "a declaration")
                    self._out.append(piece.source)
                case "open":
                    self._open(piece)
                case "close":
                    self._close(piece)
                case "text":
                    self._text(piece.source, following)
        while self._stack:
            self._pop()
        return TokenisedSource(markup="".join(self._out), salt=self._salt, tokens=self._tokens)

    @property
    def _parent(self) -> str:
        return self._stack[-1][0] if self._stack else ""

    def _open(self, piece: MarkupPiece) -> None:
        self._refuse_within(piece.name, "the name of a tag; write the tags out, each in a condition")
        self._begin(piece.name)
        written, within = piece.source, set[int]()
        for attribute in piece.attributes:
            numbers = [int(number) for number in self._words.findall(attribute.value)]
            if numbers:
                within |= set(numbers)
                written = self._attribute(piece, attribute, numbers, written)
        for number in map(int, self._words.findall(piece.source)):
            if number not in within:
                self._refuse(number, f"the tag <{piece.name}>; put it inside an attribute's value")
        if self._mjml and piece.empty and not written.rstrip(">").rstrip().endswith("/"):
            # MJML is XML; authors write <br> all the same.
            written = written[:-1] + "/>"
        self._out.append(written)
        if not piece.empty:
            self._stack.append((piece.name, False))
            if len(self._stack) > DEEPEST:
                raise CompileError(f"elements nest more than {DEEPEST} deep; are all tags closed?")

    def _attribute(self, piece: MarkupPiece, attribute: Attribute, numbers: list[int], written: str) -> str:
        place = f"{attribute.name} of <{piece.name}>"
        blocks = [number for number in numbers if self._found[number].kind == "block"]
        for number in numbers:
            if _LINK_HELPER.match(self._found[number].text):
                self._refuse(number, f"{place}; print the address itself")
        if blocks and attribute.name == "style":
            self._refuse(blocks[0], f"{place}; set the condition around the element")
        if not blocks and attribute.name not in LINKS:
            for number in numbers:
                self._tokens[number] = Token(number, self._found[number], "attribute", place)
            return written
        # Texts in an attribute are markup already; only the quotes it may have held need to be said otherwise.
        value = self._words.sub(
            lambda word: self._found[int(word[1])].text, attribute.value.replace('"', "&quot;")
        )
        number = len(self._found)
        self._found.append(
            HandlebarsExpression(
                text=value,
                kind="value",
                line=self._found[numbers[0]].line,
                column=self._found[numbers[0]].column,
            )
        )
        self._tokens[number] = Token(number, self._found[number], "attribute", place)
        quote = attribute.quote
        return written.replace(f"{quote}{attribute.value}{quote}", f'"tk{self._salt}n{number}e"', 1)

    def _begin(self, name: str) -> None:
        """End what `name` ends by itself, and open what a parser would open before it."""
        # MJML is XML, where nothing ends by itself.
        while not self._mjml and self._stack and self._parent in _ENDS.get(name, ()):
            self._stack.pop()
        if name == "tr" and self._parent in ("table", "mj-table"):
            self._write_tbody()

    def _write_tbody(self) -> None:
        self._out.append("<tbody>")
        self._stack.append(("tbody", True))

    def _close(self, piece: MarkupPiece) -> None:
        self._refuse_within(piece.source, "a closing tag")
        if any(name == piece.name for name, _ in self._stack):
            while self._parent != piece.name:
                self._pop()
            self._stack.pop()
        self._out.append(piece.source)

    def _pop(self) -> None:
        name, ours = self._stack.pop()
        if ours:
            self._out.append(f"</{name}>")

    def _text(self, text: str, following: str) -> None:
        at = 0
        for found in self._words.finditer(text):
            self._out.append(text[at : found.start()])
            at = found.end()
            number = int(found[1])
            if self._parent in ("table", "mj-table") and following == "tr":
                self._write_tbody()
            place = f"<{self._parent}>" if self._parent else "the body"
            self._tokens[number] = Token(
                number, self._found[number], "content", place, repeatable=self._parent in _PLAIN
            )
            self._out.append(self._content_token(number, found[0]))
        self._out.append(text[at:])

    def _content_token(self, number: int, word: str) -> str:
        if self._parent in _PLAIN:
            return word
        if any(name == "mj-head" for name, _ in self._stack) or self._parent == "head":
            self._refuse(number, "the head; put it into the body")
        if self._parent in _STRUCTURE or self._parent in _TABLES or self._found[number].kind == "block":
            return f"<!--{word}-->"
        return word

    def _refuse_within(self, text: str, where: str) -> None:
        found = self._words.search(text)
        if found:
            self._refuse(int(found[1]), where)

    def _refuse(self, number: int, where: str) -> None:
        expression = self._found[number]
        raise CompileError(f"line {expression.at}: {expression.text} can't stand in {where}")


def _following(found: list[MarkupPiece]) -> list[str]:
    """For each piece the name of the next tag after it."""
    names, name = [""] * len(found), ""
    for index in range(len(found) - 1, -1, -1):
        names[index] = name
        if found[index].kind in ("open", "close"):
            name = found[index].name
    return names
