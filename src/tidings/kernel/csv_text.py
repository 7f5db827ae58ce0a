"""Rows as CSV that a spreadsheet opens and does not obey."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

#: A cell that begins like this is a formula to a spreadsheet.
_OBEYED = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(rows: Iterable[Sequence[Any]], *, exact: bool = False) -> bytes:
    """The rows as UTF-8.

    `exact`: cells are written as they are, for a file that is read again: `+93…` stays a telephone number.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(row if exact else [_tame(cell) for cell in row])
    return text.getvalue().encode()


def _tame(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_OBEYED) else cell
