"""Whether what a markup opens is closed again, looked at as the tool that reads it nests."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tidings.notify.templates.compile.lexer import VOID, MarkupPiece, pieces
from tidings.notify.templates.faults import Fault

#: The tools call themselves for every level, and a mail has a few dozen.
DEEPEST: Final = 100
#: Elements that an HTML parser opens again in what follows, until their own end tag comes.
_FORMATTING: Final = frozenset("a b big code em font i nobr s small strike strong tt u".split())  # noqa: SIM905
#: Elements that end a paragraph by beginning.
_END_PARAGRAPHS: Final = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 "  # noqa: SIM905
    "h4 h5 h6 header hgroup hr li listing dd dt main menu nav ol p plaintext pre search section summary table ul xmp".split()
)
#: Elements that a paragraph or an item outside does not reach into.
_SCOPES: Final = frozenset("applet button caption html marquee object table td template th".split())  # noqa: SIM905
#: Parts of a table, and what may stand open around each; whatever else is open ends.
_TABLE_PARTS: Final = {
    "caption": {"table"},
    "colgroup": {"table"},
    "tbody": {"table"},
    "thead": {"table"},
    "tfoot": {"table"},
    "tr": {"table", "tbody", "thead", "tfoot"},
    "td": {"table", "tbody", "thead", "tfoot", "tr"},
    "th": {"table", "tbody", "thead", "tfoot", "tr"},
}
#: Elements that an item outside does not reach into, beside those.
_LISTS: Final = (_END_PARAGRAPHS | frozenset(_TABLE_PARTS)) - {"address", "div", "p"}
_ITEMS: Final = {"li": {"li"}, "dd": {"dd", "dt"}, "dt": {"dd", "dt"}}


def nesting_faults(markup: str, *, mjml: bool) -> Iterator[Fault]:
    """What is not closed or nests too deeply. MJML is XML, where everything has to be closed."""
    reader = _Xml(markup) if mjml else _Html(markup)
    at = 0
    for piece in pieces(markup):
        if piece.kind == "open":
            reader.open(piece, at)
        elif piece.kind == "close" and piece.name not in VOID:
            reader.close(piece, at)
        at += len(piece.source)
        yield from reader.found
        reader.found.clear()
        if len(reader.stack) > DEEPEST:
            yield Fault.at(
                markup, reader.stack[-1][1], f"elements nest more than {DEEPEST} deep", "are all tags closed?"
            )
            return
    reader.end()
    yield from reader.found


@dataclass(slots=True)
class _Xml:
    markup: str
    #: Open elements, and where each was opened.
    stack: list[tuple[str, int]] = field(default_factory=list)
    found: list[Fault] = field(default_factory=list)

    def open(self, piece: MarkupPiece, at: int) -> None:
        if not piece.empty:
            self.stack.append((piece.name, at))

    def close(self, piece: MarkupPiece, at: int) -> None:
        if not any(name == piece.name for name, _ in self.stack):
            what = f"</{piece.name}> closes nothing"
            self.found.append(Fault.at(self.markup, at, what, "take it away, or open it before"))
            return
        while (top := self.stack.pop())[0] != piece.name:
            self._unclosed(*top, f"</{piece.name}>")

    def end(self) -> None:
        while self.stack:
            self._unclosed(*self.stack.pop(), "the end")

    def _unclosed(self, name: str, at: int, before: str) -> None:
        what = f"<{name}> is not closed in the same element, before {before}"
        self.found.append(Fault.at(self.markup, at, what, self._remedy(name)))

    def _remedy(self, name: str) -> str:
        return f"close it with </{name}>, or write <{name} … /> where it has no content"


@dataclass(slots=True)
class _Html(_Xml):
    def open(self, piece: MarkupPiece, at: int) -> None:
        name = piece.name
        if name in _END_PARAGRAPHS:
            self._end({"p"}, f"<{name}>")
        if name in _ITEMS:
            self._end(_ITEMS[name], f"<{name}>", within=_SCOPES | _LISTS)
        if name == "a":
            self._end({"a"}, "the next <a>")
        if name in _TABLE_PARTS:
            self._back_to(_TABLE_PARTS[name], f"<{name}>")
        # A slash at the end of a tag means nothing in HTML, except in drawings and formulas.
        foreign = any(each in ("svg", "math") for each, _ in (*self.stack, (name, at)))
        if name not in VOID and not (piece.empty and foreign):
            self.stack.append((name, at))

    def close(self, piece: MarkupPiece, at: int) -> None:  # noqa: ARG002
        if any(name == piece.name for name, _ in self.stack):
            while (top := self.stack.pop())[0] != piece.name:
                self._ended(*top, f"</{piece.name}>")

    def end(self) -> None:
        while self.stack:
            self._ended(*self.stack.pop(), "the end")

    def _end(self, names: set[str], by: str, within: frozenset[str] = _SCOPES) -> None:
        """End an open element of these names, where one can be reached."""
        for depth in range(len(self.stack) - 1, -1, -1):
            name = self.stack[depth][0]
            if name in names:
                while len(self.stack) > depth:
                    self._ended(*self.stack.pop(), by)
                return
            if name in within:
                return

    def _back_to(self, names: set[str], by: str) -> None:
        if any(name in names for name, _ in self.stack):
            while self.stack[-1][0] not in names:
                self._ended(*self.stack.pop(), by)

    def _ended(self, name: str, at: int, by: str) -> None:
        """Something was ended by another; of what the parser opens again a few lines make thousands of elements."""
        if name in _FORMATTING:
            self._unclosed(name, at, by)

    def _remedy(self, name: str) -> str:
        return f"close it with </{name}>"
