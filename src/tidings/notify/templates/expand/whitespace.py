"""Takes away the blanks that belong to tags: those that a tilde eats, and those of a tag that has a line to itself.

The rules are those of handlebars.js, applied to each text by itself, as it would compile it. They can't be left to it:
partials, strings and layouts are set into one text, in which the beginning of a partial is no beginning any more. What
comes out is marked as settled, and the engine leaves the lines of a settled text alone.
"""

from typing import Final

from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.expand.blocks import Block, Nesting, Program, SourcePiece, pieces_of
from tidings.notify.templates.expand.source_map import Lines

#: Begins a compiled text whose blanks have been taken away already; to Handlebars it is a comment.
SETTLED: Final = "{{!tidings:settled}}"

#: What JavaScript takes for a blank.
_BLANKS: Final = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
Body = list[SourcePiece | Block]


def settled(text: str, lines: Lines, *, tags: bool) -> list[SourcePiece]:
    """The pieces of a text, its blanks taken away; a `CompileError` where its blocks are not closed.

    Without `tags` only the blanks around comments and partials are taken away.
    """
    found = pieces_of(text)
    nesting = Nesting(found, lines)
    if nesting.faults:
        raise CompileError(faults=nesting.faults)
    _Settling(tags=tags).program(nesting.root, root=True)
    return found


def settled_text(text: str, *, tags: bool) -> str:
    """The same as one text, without comments and tildes."""
    found = settled(text, Lines(text), tags=tags)
    return "".join(
        piece.shown if piece.sort == "text" else piece.bare if tags else piece.written
        for piece in found
        if piece.sort != "comment"
    )


class _Settling:
    def __init__(self, *, tags: bool) -> None:
        self._tags = tags

    def program(self, program: Program | None, *, root: bool = False) -> None:
        if program is None:
            return
        body = program.body
        for at, current in enumerate(body):
            if isinstance(current, Block):
                self._block(current, body, at, root=root)
            elif current.sort in ("comment", "partial"):
                alone = _blank_before(body, at, root=root) and _blank_after(body, at, root=root)
                self._tildes(current, current, body, at)
                if alone:
                    _trim_right(body, at + 1)
                    if current.sort == "comment":
                        # The blanks before a partial are printed: its lines are not indented by them.
                        _trim_left(body, at - 1)
            elif current.sort == "value" and self._tags:
                self._tildes(current, current, body, at)

    def _tildes(self, first: SourcePiece, last: SourcePiece | None, body: Body, at: int) -> None:
        if last is not None and last.strips_right:
            _trim_right(body, at + 1, everything=True)
        if first.strips_left:
            _trim_left(body, at - 1, everything=True)

    def _block(self, block: Block, body: Body, at: int, *, root: bool) -> None:
        self.program(block.program)
        self.program(block.inverse)
        if not self._tags:
            return
        opens, closes = _inside(block)
        before, after = _blank_before(body, at, root=root), _blank_after(body, at, root=root)
        self._tildes(block.open, block.close, body, at)
        if opens and before:
            _trim_right((block.program or block.inverse or Program()).body, 0)
            _trim_left(body, at - 1)
        if closes and after:
            _trim_right(body, at + 1)
            last = (block.inverse or block.program or Program()).body
            _trim_left(last, len(last) - 1)


def _inside(block: Block) -> tuple[bool, bool]:
    """Settle the inner sides of a block's tags; whether its first and its last tag end and begin a line inside."""
    program = block.program or block.inverse or Program()
    inverse = block.inverse if block.program else None
    first, last = _halves(inverse)
    opens = _blank_after(program.body, -1)
    closes = _blank_before(first.body if first else program.body, None)
    if block.open.strips_right:
        _trim_right(program.body, 0, everything=True)
    ends = block.close is not None and block.close.strips_left
    if first is not None and last is not None:
        if block.divide is not None and block.divide.strips_left:
            _trim_left(program.body, len(program.body) - 1, everything=True)
        if block.divide is not None and block.divide.strips_right:
            _trim_right(first.body, 0, everything=True)
        if ends:
            _trim_left(last.body, len(last.body) - 1, everything=True)
        if _blank_before(program.body, None) and _blank_after(first.body, -1):
            _trim_left(program.body, len(program.body) - 1)
            _trim_right(first.body, 0)
    elif ends:
        _trim_left(program.body, len(program.body) - 1, everything=True)
    return opens, closes


def _halves(inverse: Program | None) -> tuple[Program | None, Program | None]:
    """The first and the last of what a block holds otherwise, through its `{{else if}}`."""
    first = last = inverse
    if inverse is not None and inverse.chained:
        first = _chained(inverse, 0)
    while last is not None and last.chained:
        last = _chained(last, -1)
    return first, last


def _chained(program: Program, at: int) -> Program | None:
    inner = program.body[at]
    return inner.program if isinstance(inner, Block) else None


def _text(body: Body, at: int) -> SourcePiece | None:
    found = body[at] if 0 <= at < len(body) else None
    return found if isinstance(found, SourcePiece) and found.sort == "text" else None


def _blank_before(body: Body, at: int | None, *, root: bool = False) -> bool:
    at = len(body) if at is None else at
    if at == 0:
        return root
    text = _text(body, at - 1)
    if text is None:
        return False
    rest = text.written.rstrip(_BLANKS)
    return "\n" in text.written[len(rest) :] or (at == 1 and root and not rest)


def _blank_after(body: Body, at: int, *, root: bool = False) -> bool:
    if at + 1 >= len(body):
        return root
    text = _text(body, at + 1)
    if text is None:
        return False
    rest = text.written.lstrip(_BLANKS)
    return "\n" in text.written[: len(text.written) - len(rest)] or (
        at + 2 == len(body) and root and not rest
    )


def _trim_right(body: Body, at: int, *, everything: bool = False) -> None:
    """The blanks at the beginning of the text after a tag."""
    text = _text(body, at)
    if text is None or (text.right_stripped and not everything):
        return
    rest = text.shown.lstrip(_BLANKS) if everything else _without_line(text.shown)
    size = len(text.shown) - len(rest)
    text.shown = rest
    text.skipped += size
    text.right_stripped = size > 0


def _trim_left(body: Body, at: int, *, everything: bool = False) -> None:
    """The blanks at the end of the text before a tag."""
    text = _text(body, at)
    if text is None or (text.left_stripped and not everything):
        return
    rest = text.shown.rstrip(_BLANKS if everything else " \t")
    text.left_stripped = len(rest) < len(text.shown)
    text.shown = rest


def _without_line(text: str) -> str:
    rest = text.lstrip(" \t")
    return rest.removeprefix("\r\n") if rest.startswith("\r\n") else rest.removeprefix("\n")
