"""Understands records as rows: CSV with headings, CSV without, or a JSON object on each line."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import LineProblem, Row
from tidings.notify.imports.records import Record

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS = (",", ";", "\t")
_MOST_COLUMNS = 200

_BROKEN = {
    "line_too_long": "is longer than 64 KiB",
    "unclosed_quote": "opens a quote that is never closed",
}


class RowReader:
    """Gives each record as a row or as a problem; its first record says how to read the others."""

    def __init__(self, form: Literal["csv", "jsonl"], header: Sequence[str], delimiter: str) -> None:
        self.form = form
        #: The columns in the file's order and spelling; empty for JSON lines.
        self.header = tuple(header)
        self._delimiter = delimiter
        #: Whether the first record is a row itself.
        self.first_is_row = form == "jsonl"

    @classmethod
    def of(cls, first: Record) -> "RowReader":
        """A reader for the file that begins with this record."""
        raw = first.raw.removeprefix(_BOM)
        if first.broken:
            raise UnreadableFileError(f"begins with a line that {_BROKEN[first.broken]}")
        if raw.startswith(_UTF16) or b"\x00" in raw:
            raise UnreadableFileError("must be encoded as UTF-8; save it again as CSV UTF-8")
        if raw.lstrip().startswith(b"{"):
            return cls("jsonl", (), ",")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise UnreadableFileError("must be encoded as UTF-8; save it again as CSV UTF-8") from None
        delimiter = max(_DELIMITERS, key=lambda mark: _cells_or_none(text, mark))
        header = [name.strip() for name in _cells(text, delimiter) or ()]
        if len(header) > _MOST_COLUMNS:
            raise UnreadableFileError(f"must have at most {_MOST_COLUMNS} columns")
        return cls("csv", header, delimiter)

    def without_headings(self, names: Sequence[str]) -> None:
        """The first record is data; these are the names of its columns."""
        self.header = tuple(names[: len(self.header)])
        self.first_is_row = True

    def read(self, record: Record) -> Row | LineProblem | None:
        """The row; None for an empty line."""
        if record.broken:
            return LineProblem(record.line, "", record.broken, _BROKEN[record.broken])
        raw = record.raw.removeprefix(_BOM) if record.line == 1 else record.raw
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return LineProblem(record.line, "", "not_utf8", "is not encoded as UTF-8")
        if "\x00" in text:
            return LineProblem(record.line, "", "zero_character", "holds a zero character")
        if not text or text.isspace():
            return None
        return self._json(record.line, text) if self.form == "jsonl" else self._csv(record.line, text)

    def _csv(self, line: int, text: str) -> Row | LineProblem | None:
        cells = text.split(self._delimiter) if '"' not in text else _cells(text, self._delimiter)
        if cells is None:
            return LineProblem(line, "", "not_csv", "has quotes that are not closed or not doubled")
        if len(cells) != len(self.header):
            if not any(cells):
                return None
            what = f"has {len(cells)} cells where the file has {len(self.header)} columns"
            return LineProblem(line, "", "wrong_cells", what)
        return Row(line=line, values=dict(zip(self.header, cells, strict=True)))

    def _json(self, line: int, text: str) -> Row | LineProblem:
        try:
            values: Mapping[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            return LineProblem(line, "", "not_json", "must be one JSON object on one line")
        if "\\u0000" in text:
            return LineProblem(line, "", "zero_character", "holds a zero character")
        return Row(line=line, values=values)


def _cells(text: str, delimiter: str) -> list[str] | None:
    try:
        rows = list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _cells_or_none(text: str, delimiter: str) -> int:
    return len(_cells(text, delimiter) or ())
