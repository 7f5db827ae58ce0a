"""Cuts a stream of bytes into lines of a CSV or JSON lines file, whatever the stream's own pieces are.

Quotes are read as Python's `csv` reads them: one opens a cell only where the cell begins, elsewhere it is a character
like any other. A quoted cell may run over several lines. A quote that is not closed must not swallow what follows: where
the lines that it joins are no row, or where it stays open for a while, the line that opened it is given up alone, and
reading goes on behind it.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

#: The longest line, in bytes, and the most lines of the file that one quoted cell may run over.
LONGEST = 64 * 1024
MOST_LINES = 100

#: What stands between cells; of several that would do, the first.
DELIMITERS: Final = (",", ";", "\t", "|")
#: Excel's own first line, which says what stands between cells.
_DECLARED: Final = re.compile(rb"(?i)sep=([,;\t|])")
_BOM: Final = b"\xef\xbb\xbf"

Broken = Literal["line_too_long", "unclosed_quote"]


class Record(NamedTuple):
    """One line, or several that a quoted cell joins."""

    #: The number of its first line in the file, from 1.
    line: int
    raw: bytes
    #: Why it can't be read; None for an ordinary one.
    broken: Broken | None = None
    #: How many lines of the file it takes.
    lines: int = 1
    #: How many bytes of the file, with the ends of its lines.
    size: int = 0


def declared_delimiter(raw: bytes) -> str | None:
    """What a first line `sep=;` declares; None for any other line."""
    found = _DECLARED.fullmatch(raw.removeprefix(_BOM).strip())
    return found[1].decode() if found else None


def delimiter_of(text: str) -> str:
    """What stands between the cells of this line: the mark that makes the most of them."""
    return max(DELIMITERS, key=lambda mark: len(cells(text, mark) or ()))


def cells(text: str, delimiter: str, *, strict: bool = False, skip_blanks: bool = False) -> list[str] | None:
    """The cells of one record; None where they are none. `strict`: a closed quote ends its cell."""
    # Not `splitlines`, which also cuts at Unicode's other separators.
    lines = io.StringIO(text, newline="\n") if "\n" in text else [text]
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=skip_blanks))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def stays_open(line: bytes, delimiter: bytes, *, is_open: bool) -> bool:
    """Whether a quoted cell goes on behind this line; `is_open`: one went on before it."""
    at = 0
    while True:
        if is_open:
            at = line.find(b'"', at)
            if at < 0:
                return True
            if line[at + 1 : at + 2] == b'"':
                at += 2
                continue
            is_open = False
        elif line[at : at + 1] == b'"':
            is_open = True
            at += 1
            continue
        # To where the next cell begins.
        at = line.find(delimiter, at) + 1
        if at == 0:
            return False


class _Line(NamedTuple):
    number: int
    text: bytes
    size: int


class Splitter:
    """Takes bytes, gives records."""

    def __init__(self) -> None:
        self._tail = b""
        #: Bytes of a line without an end that were thrown away.
        self._cut = 0
        self._line = 0
        #: The lines of a record whose quote is still open.
        self._open: deque[_Line] = deque()
        self._open_bytes = 0
        #: JSON lines have quotes of another kind; known after the first line, as is what stands between cells.
        self._quotes: bool | None = None
        self._delimiter = ","
        #: How many cells a row has; None until the headings were read.
        self._columns: int | None = None

    def feed(self, piece: bytes) -> Iterator[Record]:
        """The records that end in this piece."""
        lines = piece.split(b"\n")
        lines[0] = self._tail + lines[0]
        self._tail = lines.pop()
        for line in lines:
            yield from self._whole(line, end=1)
        if len(self._tail) > LONGEST:
            # Its end is still to come; what was read of it is not kept.
            self._cut += len(self._tail)
            self._tail = b""

    def end(self) -> Iterator[Record]:
        """What is left when the stream has ended."""
        if self._tail or self._cut:
            last, self._tail = self._tail, b""
            yield from self._whole(last, end=0)
        while self._open:
            yield from self._give_up()

    def _whole(self, line: bytes, *, end: int) -> Iterator[Record]:
        self._line += 1
        size = self._cut + len(line) + end
        if self._cut or len(line) > LONGEST:
            self._cut = 0
            while self._open:
                yield from self._give_up()
            yield Record(self._line, b"", "line_too_long", size=size)
            return
        yield from self._take(_Line(self._line, line[:-1] if line.endswith(b"\r") else line, size))

    def _take(self, line: _Line) -> Iterator[Record]:
        if self._quotes is None and line.text.strip(_BOM + b" \t"):
            self._look_at(line.text.removeprefix(_BOM))
        if self._open:
            self._open.append(line)
            self._open_bytes += line.size
            if stays_open(line.text, self._delimiter.encode(), is_open=True):
                while len(self._open) > MOST_LINES or (len(self._open) > 1 and self._open_bytes > LONGEST):
                    yield from self._give_up()
            else:
                yield from self._close()
        elif self._opens(line.text):
            self._open.append(line)
            self._open_bytes = line.size
        else:
            yield self._record([line])

    def _look_at(self, first: bytes) -> None:
        """What the first line says about all."""
        declared = declared_delimiter(first)
        self._quotes = not first.lstrip(b" \t").startswith((b"{", b"["))
        self._delimiter = declared or delimiter_of(first.decode("utf-8", "replace"))

    def _opens(self, line: bytes) -> bool:
        if not self._quotes or b'"' not in line:
            return False
        return stays_open(line.removeprefix(_BOM), self._delimiter.encode(), is_open=False)

    def _close(self) -> Iterator[Record]:
        """The joined lines, where they are a row; else the first is given up, and so on with the others."""
        last = self._open[-1]
        while self._open:
            if self._open[0] is last:
                # It has closed the quotes of those before it, and opens one of its own.
                return
            raw = b"\n".join(line.text for line in self._open)
            found = cells(raw.removeprefix(_BOM).decode("utf-8", "replace"), self._delimiter, strict=True)
            if found is not None and self._columns in {None, len(found)}:
                lines = list(self._open)
                self._open.clear()
                yield self._record(lines)
                return
            yield from self._give_up()

    def _give_up(self) -> Iterator[Record]:
        """The line that opened the quote. The others are read once, not again: an open quote goes on over all of them."""
        first = self._open.popleft()
        self._open_bytes -= first.size
        yield Record(first.number, b"", "unclosed_quote", size=first.size)
        while self._open and not self._opens(self._open[0].text):
            line = self._open.popleft()
            self._open_bytes -= line.size
            yield self._record([line])

    def _record(self, lines: list[_Line]) -> Record:
        raw = b"\n".join(line.text for line in lines) if len(lines) > 1 else lines[0].text
        if self._quotes and self._columns is None and declared_delimiter(raw) is None:
            found = cells(raw.removeprefix(_BOM).decode("utf-8", "replace"), self._delimiter)
            self._columns = len(found or ())
        return Record(lines[0].number, raw, None, len(lines), sum(line.size for line in lines))
