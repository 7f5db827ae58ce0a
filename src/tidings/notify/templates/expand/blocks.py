"""Reads a text as Handlebars nests it: what stands inside which block, and which blocks are not closed.

Each text is read by itself. A partial that closes what another text opens is refused here, as handlebars.js refuses it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from tidings.notify.templates.compile.expressions import HandlebarsExpression, written
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.expand.source_map import Lines
from tidings.notify.templates.faults import Fault

Sort = Literal["text", "comment", "partial", "value", "open", "inverted", "else", "else_if", "close"]

_SORTS: Final[tuple[tuple[Sort, re.Pattern[str]], ...]] = (
    ("else", re.compile(r"\{\{~?(?:\^\s*|\s*else\s*)~?\}\}")),
    ("inverted", re.compile(r"\{\{~?\^")),
    ("else_if", re.compile(r"\{\{~?\s*else\b")),
    ("open", re.compile(r"\{\{~?#[>*]?")),
    ("close", re.compile(r"\{\{~?/")),
    ("partial", re.compile(r"\{\{~?>")),
)
#: Blocks within blocks; beyond it the template is hostile: the tools call themselves for every level.
_DEEPEST: Final = 100
_MOST_FAULTS: Final = 50
_APART: Final = re.compile(r"\{\{~?\s+([#/^>&])")
_NAME: Final = re.compile(r"\s*([^\s}~|()=]*)")


@dataclass(slots=True, eq=False)
class SourcePiece:
    """One piece of a text as it was written: a run of text, or something in braces."""

    sort: Sort
    start: int
    written: str
    #: A text without the blanks that belong to the tags beside it; where what is left begins.
    shown: str = ""
    skipped: int = 0
    left_stripped: bool = False
    right_stripped: bool = False

    @property
    def strips_left(self) -> bool:
        """Whether it eats the blanks before it: `{{~`."""
        return self.sort != "text" and self.written.startswith("{{~")

    @property
    def strips_right(self) -> bool:
        """Whether it eats the blanks after it: `~}}`."""
        return self.sort != "text" and self.written.endswith("~}}")

    @property
    def bare(self) -> str:
        """As it was written, without its tildes."""
        text = f"{{{{{self.written[3:]}" if self.strips_left else self.written
        return f"{text[:-3]}}}}}" if self.strips_right else text

    @property
    def name(self) -> str:
        """Of a block: the word after its sign."""
        for sort, pattern in _SORTS:
            if sort == self.sort and (found := pattern.match(self.written)):
                word = _NAME.match(self.written, found.end())
                return word[1] if word else ""
        return ""


@dataclass(slots=True, eq=False)
class Block:
    """A block: what it holds, and what it holds otherwise. The tags are those that its blanks belong to."""

    open: SourcePiece
    program: "Program | None"
    inverse: "Program | None" = None
    #: The tags whose tildes count where the halves part, and where it ends.
    divide: SourcePiece | None = None
    close: SourcePiece | None = None


@dataclass(slots=True, eq=False)
class Program:
    """What stands between two tags."""

    body: list["SourcePiece | Block"] = field(default_factory=list)
    #: Made by `{{else if}}`: holds one block and nothing else.
    chained: bool = False


def pieces_of(text: str) -> list[SourcePiece]:
    """The pieces in their order; a `CompileError` where braces are not closed."""
    found: list[SourcePiece] = []
    for start, piece in written(text):
        if isinstance(piece, HandlebarsExpression):
            end = start + len(piece.text)
            if fault := _misread(piece, closed_by_three=text.startswith("}", end)):
                raise CompileError(faults=[fault])
            found.append(SourcePiece(_sort(piece), start, piece.text))
        elif found and found[-1].sort == "text" and found[-1].written.startswith("\\{{"):
            # Escaped braces and the text after them are one text to Handlebars.
            found[-1].written += piece
        else:
            found.append(SourcePiece("text", start, piece))
    for one in found:
        if one.sort == "text":
            one.shown = one.written
    return found


def _misread(piece: HandlebarsExpression, *, closed_by_three: bool) -> Fault | None:
    """What handlebars.js would not read as it looks."""
    shown = " ".join(piece.text.split())[:60]
    if apart := _APART.match(piece.text):
        what, how = f"{shown} has a blank before {apart[1]}", f"write {{{{{apart[1]}"
    elif closed_by_three and piece.kind != "comment" and not piece.text.startswith(("{{{", "{{~{", "\\")):
        what = f"{shown}}} is opened by two braces and closed by three"
        how = "write two on both sides; before a brace of the text leave a blank: {{n}} }"
    else:
        return None
    return Fault(what, how, line=piece.line, column=piece.column)


def _sort(piece: HandlebarsExpression) -> Sort:
    if piece.kind == "comment":
        return "comment"
    if piece.text.startswith("\\"):
        return "text"
    return next((sort for sort, pattern in _SORTS if pattern.match(piece.text)), "value")


class Nesting:
    """The pieces of a text as a tree, or what stands in the way of one."""

    def __init__(self, pieces: list[SourcePiece], lines: Lines) -> None:
        self._pieces = pieces
        self._at = 0
        self._lines = lines
        #: The names of the blocks that are open.
        self._open: list[str] = []
        self.faults: list[Fault] = []
        self.root = Program(list(self._until_end()))

    def _until_end(self) -> Iterator[SourcePiece | Block]:
        while self._at < len(self._pieces):
            yield from self._body(None).body
            if self._at < len(self._pieces):
                stray = self._pieces[self._at]
                self._at += 1
                if stray.sort == "close":
                    how = f"take it away, or open the block before it: {{{{#{stray.name or 'if'} …}}}}"
                    self._note(stray, f"{_told(stray)} closes no block of this text", how)
                else:
                    self._note(
                        stray,
                        f"{_told(stray)} stands in no block",
                        "take it away, or set it inside {{#if …}}",
                    )

    def _body(self, inside: SourcePiece | None) -> Program:
        """Up to the tag that divides or closes the block."""
        made = Program()
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            if piece.sort in ("else", "else_if", "close"):
                return made
            self._at += 1
            made.body.append(self._block(piece) if piece.sort in ("open", "inverted") else piece)
        if inside is not None:
            how = f"write {{{{/{inside.name}}}}} where it ends"
            self._note(inside, f"{_told(inside)} is not closed", how)
        return made

    def _block(self, opening: SourcePiece) -> Block:
        if opening.written.startswith(("{{#>", "{{~#>")):
            how = "call the partial and give it a value: {{> row title=…}}; or make a layout that says {{> body}}"
            self._note(opening, f"partial blocks are not supported: {_told(opening)}", how)
        if len(self._open) == _DEEPEST:
            what = f"blocks are nested more than {_DEEPEST} deep"
            raise CompileError(faults=[_placed(Fault(what, "take some out"), self._lines, opening.start)])
        self._open.append(opening.name)
        first = self._body(opening)
        dividers: list[SourcePiece] = []
        programs = [first]
        while self._at < len(self._pieces) and self._pieces[self._at].sort in ("else", "else_if"):
            divider = self._pieces[self._at]
            self._at += 1
            if opening.sort == "inverted" and divider.sort == "else_if":
                how = (
                    f"write {{{{#unless …}}}}, or {{{{#{opening.name}}}}} with the halves the other way round"
                )
                self._note(divider, f"the inverted section {_told(opening)} has no {{{{else if}}}}", how)
            if dividers and dividers[-1].sort == "else":
                self._second_else(divider, dividers[-1], opening)
            dividers.append(divider)
            programs.append(self._body(opening))
        self._open.pop()
        closing = self._pieces[self._at] if self._at < len(self._pieces) else None
        if closing is not None and not self._match(opening, closing):
            self._at += 1
        if len(dividers) > _DEEPEST:
            what = f"{_told(opening)} has more than {_DEEPEST} {{{{else if}}}}"
            raise CompileError(faults=[_placed(Fault(what, "take some out"), self._lines, opening.start)])
        return _linked(opening, programs, dividers, closing)

    def _second_else(self, second: SourcePiece, first: SourcePiece, opening: SourcePiece) -> None:
        self._note(
            second,
            f"{_told(opening)} has an {_told(first)} already, in line {self._lines.at(first.start)[0]}",
            "keep one of them; what has a condition of its own is {{else if …}}, before {{else}}",
        )

    def _match(self, opening: SourcePiece, closing: SourcePiece) -> bool:
        """Whether the tag closes a block further out, so that this one is not closed at all."""
        decorates = opening.written.startswith(("{{#*", "{{~#*"))
        if opening.name == closing.name or (decorates and closing.name == "inline"):
            return False
        outer = closing.name in self._open
        where = f"{_told(closing)} in line {self._lines.at(closing.start)[0]}"
        if outer:
            how = f"write {{{{/{opening.name}}}}} before it"
            self._note(opening, f"{_told(opening)} is not closed before {where}", how)
        else:
            how = f"write {{{{/{opening.name}}}}} there, or close the blocks inside it first"
            self._note(opening, f"{_told(opening)} is closed by {where}", how)
        return outer

    def _note(self, piece: SourcePiece, what: str, how: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(_placed(Fault(what, how), self._lines, piece.start))


def _placed(fault: Fault, lines: Lines, start: int) -> Fault:
    line, column = lines.at(start)
    return replace(fault, line=line, column=column)


def _told(piece: SourcePiece) -> str:
    return piece.written if len(piece.written) <= 60 else f"{piece.written[:58]}…}}}}"


def _linked(
    opening: SourcePiece, programs: list[Program], dividers: list[SourcePiece], closing: SourcePiece | None
) -> Block:
    """The halves of a block, as handlebars.js links them: an `{{else if}}` is a block inside the other half."""
    inverse: Program | None = None
    following: SourcePiece | None = closing
    for program, divider in zip(reversed(programs[1:]), reversed(dividers), strict=True):
        if divider.sort == "else":
            inverse, following = program, divider
            continue
        # Each takes the tildes of the tag after it for those of its end.
        inner = Block(
            divider,
            program,
            inverse,
            divide=following if inverse else None,
            close=following if inverse else None,
        )
        if inverse is not None and inverse.chained and isinstance(within := inverse.body[0], Block):
            within.close = following
        inverse, following = Program([inner], chained=True), divider
    block = Block(opening, programs[0], inverse, divide=following if inverse else None, close=closing)
    if inverse is not None and inverse.chained and isinstance(within := inverse.body[0], Block):
        within.close = closing
    if opening.sort == "inverted":
        block.program, block.inverse = block.inverse, block.program
    return block
