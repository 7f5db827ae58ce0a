"""Understands records as rows: CSV with headings, CSV without, or a JSON object on each line."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import ImportedRow, LineProblem
from tidings.notify.imports.records import LONGEST, Record, cells, delimiter_of

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_COLUMNS = 200

_BROKEN = {
    "line_too_long": "is longer than 64 KiB",
    "unclosed_quote": "opens a quote that is never closed",
}
_HINTS = {
    "line_too_long": "; perhaps its lines end with a carriage return alone: save it again as CSV UTF-8",
    "unclosed_quote": "; close it, or double it inside a cell",
}


class RowReader:
    """Gives each record as a row or as a problem; its first record says how to read the others."""

    def __init__(
        self,
        form: Literal["csv", "jsonl"],
        header: Sequence[str] = (),
        delimiter: str = ",",
        *,
        skip_blanks: bool = False,
    ) -> None:
        """`skip_blanks`: blanks stand behind each delimiter, before a quote too."""
        self.form = form
        #: The columns in the file's order and spelling; empty for JSON lines.
        self.header = tuple(header)
        self._delimiter = delimiter
        self._skip_blanks = skip_blanks
        #: Whether the first record is a row itself.
        self.first_is_row = form == "jsonl"

    @classmethod
    def of(cls, first: Record, delimiter: str | None = None) -> "RowReader":
        """A reader for the file that begins with this record; `delimiter` where the file has declared it."""
        raw = first.raw.removeprefix(_BOM)
        if first.broken:
            raise UnreadableFileError(
                f"begins with a line that {_BROKEN[first.broken]}{_HINTS[first.broken]}"
            )
        if raw.startswith(_UTF16) or b"\x00" in raw:
            raise UnreadableFileError("must be encoded as UTF-8; save it again as CSV UTF-8")
        if b"\r" in raw:
            raise UnreadableFileError(
                "ends its lines with a carriage return alone, as old Macs did; save it again as CSV UTF-8"
            )
        if _is_document(raw.strip()):
            raise UnreadableFileError(
                "is one JSON document; send one object on each line, without brackets and commas around "
                "them, such as `jq -c '.[]' file.json` writes (of SES: `jq -c '.SuppressedDestinationSummaries[] | "
                "{address: .EmailAddress}'`)"
            )
        if raw.lstrip().startswith(b"{"):
            return cls("jsonl")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise UnreadableFileError("must be encoded as UTF-8; save it again as CSV UTF-8") from None
        mark = delimiter or delimiter_of(text)
        found = cells(text, mark) or []
        skip_blanks = any(name.startswith(" ") for name in found)
        if skip_blanks:
            found = cells(text, mark, skip_blanks=True) or []
        if len(found) > _MOST_COLUMNS:
            raise UnreadableFileError(f"must have at most {_MOST_COLUMNS} columns")
        return cls("csv", [name.strip() for name in found], mark, skip_blanks=skip_blanks)

    def without_headings(self, names: Sequence[str]) -> None:
        """The first record is data; these are the names of its columns."""
        self.header = tuple(names[: len(self.header)])
        self.first_is_row = True

    def read(self, record: Record) -> ImportedRow | LineProblem | None:
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

    def _csv(self, line: int, text: str) -> ImportedRow | LineProblem | None:
        found = (
            text.split(self._delimiter)
            if '"' not in text
            else cells(text, self._delimiter, skip_blanks=self._skip_blanks)
        )
        if found is None:
            return LineProblem(line, "", "not_csv", "holds the end of a line outside quotes")
        if len(found) != len(self.header):
            if not any(found):
                return None
            what = f"has {len(found)} cells where the file has {len(self.header)} columns"
            return LineProblem(line, "", "wrong_cells", what)
        return ImportedRow(line=line, values=dict(zip(self.header, found, strict=True)))

    def _json(self, line: int, text: str) -> ImportedRow | LineProblem:
        try:
            values: Mapping[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            return LineProblem(line, "", "not_json", "must be one JSON object on one line")
        if "\\u0000" in text:
            return LineProblem(line, "", "zero_character", "holds a zero character")
        return ImportedRow(line=line, values=values)


def _is_document(line: bytes) -> bool:
    """Whether a file that begins so is JSON that runs over several lines, or a list."""
    if line.startswith(b"["):
        return True
    if not line.startswith(b"{"):
        return False
    return not line.endswith(b"}") and len(line) < LONGEST
