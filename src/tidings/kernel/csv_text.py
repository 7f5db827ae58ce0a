"""Rows as CSV that a spreadsheet opens and does not obey."""

import csv
import io
import re
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
    if isinstance(cell, str) and cell.startswith(_OBEYED) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def untamed(cell: str) -> str:
    """A cell as it was before `csv_lines` wrote it."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_OBEYED) else cell
