"""A text made of pieces, each of which knows the file and the line that it came from."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A place in what an author wrote."""

    #: In the layout of the files.
    file: str
    #: In the body of the request: `locales.en.body`.
    field: str
    locale: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class MappedPiece:
    """A run of text from one place."""

    text: str
    place: SourcePosition
    #: Whether it was made by us, or stands in a file whose lines are not its own: all of it is at one place.
    whole: bool = False


class Lines:
    """Where the lines of a text begin; looked for once, however often it is asked."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def start(self, line: int) -> int:
        """Where a line begins; the last one for any after it."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1]

    def at(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character, counted from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class MappedText:
    """The pieces as one text."""

    def __init__(self, pieces: Iterable[MappedPiece], fallback: SourcePosition) -> None:
        self._pieces = [piece for piece in pieces if piece.text]
        self._fallback = fallback
        self.text = "".join(piece.text for piece in self._pieces)
        self._lines = Lines(self.text)
        self._ends = list(accumulate(len(piece.text) for piece in self._pieces))

    def place_of(self, line: int | None, column: int | None = None) -> SourcePosition:
        """Where a line of the whole was written."""
        if line is None or not self._pieces:
            return self._fallback
        offset = min(self._lines.start(line) + (column or 1) - 1, len(self.text) - 1)
        index = min(bisect_right(self._ends, offset), len(self._pieces) - 1)
        piece = self._pieces[index]
        if piece.whole or piece.place.line is None:
            return piece.place
        before = piece.text[: offset - (self._ends[index] - len(piece.text))]
        at_line = piece.place.line + before.count("\n")
        at_column = (
            len(before) - before.rfind("\n") if "\n" in before else (piece.place.column or 1) + len(before)
        )
        return SourcePosition(
            piece.place.file,
            piece.place.field,
            piece.place.locale,
            at_line,
            at_column if column is not None else None,
        )
