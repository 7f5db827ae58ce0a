"""Cuts a stream of bytes into lines of a CSV or JSON lines file, whatever the stream's own pieces are.

A quoted cell may run over several lines. A quote that nobody closes must not swallow the rest of the file: after a
while the line that opened it is given up, and reading goes on behind it.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

#: The longest line, in bytes, and the most lines of the file that one quoted cell may run over.
LONGEST = 64 * 1024
MOST_LINES = 100

Broken = Literal["line_too_long", "unclosed_quote"]


class Record(NamedTuple):
    """One line, or several that a quoted cell joins."""

    #: The number of its first line in the file, from 1.
    line: int
    raw: bytes
    #: Why it can't be read; None for an ordinary one.
    broken: Broken | None = None


class Splitter:
    """Takes bytes, gives records."""

    def __init__(self) -> None:
        self._tail = b""
        self._cut = False
        self._line = 0
        #: The lines of a record whose quote is still open.
        self._open: list[tuple[int, bytes]] = []
        self._open_bytes = 0
        #: JSON lines have quotes of another kind; known after the first line.
        self._quotes: bool | None = None

    def feed(self, piece: bytes) -> Iterator[Record]:
        """The records that end in this piece."""
        lines = piece.split(b"\n")
        lines[0] = self._tail + lines[0]
        self._tail = lines.pop()
        for line in lines:
            yield from self._whole(line)
        if len(self._tail) > LONGEST:
            # Its end is still to come; what was read of it is not kept.
            self._tail, self._cut = b"", True

    def end(self) -> Iterator[Record]:
        """What is left when the stream has ended."""
        if self._tail or self._cut:
            last, self._tail = self._tail, b""
            yield from self._whole(last)
        while self._open:
            yield from self._give_up()

    def _whole(self, line: bytes) -> Iterator[Record]:
        self._line += 1
        if self._cut or len(line) > LONGEST:
            self._cut = False
            yield from self._close_open()
            yield Record(self._line, b"", "line_too_long")
            return
        yield from self._take(self._line, line[:-1] if line.endswith(b"\r") else line)

    def _take(self, number: int, line: bytes) -> Iterator[Record]:
        if self._quotes is None and line.strip():
            self._quotes = not line.lstrip(b"\xef\xbb\xbf \t").startswith(b"{")
        odd = bool(self._quotes) and line.count(b'"') % 2 == 1
        if not self._open:
            if odd:
                self._open, self._open_bytes = [(number, line)], len(line)
            else:
                yield Record(number, line)
            return
        self._open.append((number, line))
        self._open_bytes += len(line)
        if odd:
            first, self._open = self._open, []
            yield Record(first[0][0], b"\n".join(text for _, text in first))
        elif len(self._open) > MOST_LINES or self._open_bytes > LONGEST:
            yield from self._give_up()

    def _give_up(self) -> Iterator[Record]:
        (number, _), *rest = self._open
        self._open = []
        yield Record(number, b"", "unclosed_quote")
        for later, line in rest:
            yield from self._take(later, line)

    def _close_open(self) -> Iterator[Record]:
        while self._open:
            yield from self._give_up()
