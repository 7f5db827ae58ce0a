"""Rows as CSV that a spreadsheet opens and does not obey."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

#: A cell that begins like this is a formula to a spreadsheet.
_OBEYED = ("=", "+", "-", "@", "\t", "\r", "\n")
#: A telephone number is only a number, and has to be read again as it is.
_NUMBER = re.compile(r"\+[0-9]{1,20}")


def csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
    """The rows as UTF-8.

    `+93…` stays a telephone number, so that the file can be read again.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([_tame(cell) for cell in row])
    return text.getvalue().encode()


def _tame(cell: Any) -> Any:
    if isinstance(cell, str) and _obeyed(cell.lstrip("'")) and not _NUMBER.fullmatch(cell):
        # Also where an apostrophe is there already: taking one off again must give back what was there.
        return f"'{cell}"
    return cell


def _obeyed(cell: str) -> bool:
    """Whether a spreadsheet takes it for a formula; some take the wide forms of these characters too."""
    return unicodedata.normalize("NFKC", cell[:1]).startswith(_OBEYED)


def untamed(cell: str) -> str:
    """A cell as it was before `csv_lines` wrote it."""
    return cell[1:] if cell.startswith("'") and _obeyed(cell.lstrip("'")) else cell
