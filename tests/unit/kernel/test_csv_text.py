"""A spreadsheet obeys no cell of ours, and what is written can be read again as it was."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.csv_text import csv_lines, untamed


def written(cell: str) -> str:
    [row] = csv.reader(io.StringIO(csv_lines([[cell, "x"]]).decode(), newline=""))
    return row[0]


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-1", "@x", "\t=1", "＝1+1", "＋1", "＠x", "'=1", "''=1"])
def test_what_a_spreadsheet_would_obey_gets_an_apostrophe(cell: str) -> None:
    assert written(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["+93701234567", "plain", "'s-Gravenhage", "a=b", ""])
def test_the_rest_stays(cell: str) -> None:
    assert written(cell) == cell


@given(st.text(alphabet="'=+-@＝ab1\t", max_size=6))
def test_reading_gives_back_what_was_written(cell: str) -> None:
    assert untamed(written(cell)) == cell or (cell.startswith("'") and written(cell) == cell)
