"""Lines come out of a stream the same, however it is cut; a bad one costs no other."""

import random

import pytest

from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import LineProblem, Row
from tidings.notify.imports.records import LONGEST, MOST_LINES, Record, Splitter
from tidings.notify.imports.rows import RowReader


def split(raw: bytes, *cuts: int) -> list[Record]:
    """The records of `raw`, sent in pieces that end at these places."""
    splitter, found, start = Splitter(), list[Record](), 0
    for cut in (*cuts, len(raw)):
        found += splitter.feed(raw[start:cut])
        start = cut
    return [*found, *splitter.end()]


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (b"", []),
        (b"a\nb\n", [(1, b"a"), (2, b"b")]),
        (b"a\r\nb", [(1, b"a"), (2, b"b")]),
        (b"a\n\nb", [(1, b"a"), (2, b""), (3, b"b")]),
        (b'x,"two\nlines"\nb\n', [(1, b'x,"two\nlines"'), (3, b"b")]),
        (b'{"a": "it\\"s"}\n{}\n', [(1, b'{"a": "it\\"s"}'), (2, b"{}")]),
        (b'a,b\n"open\nc\nd', [(1, b"a,b"), (2, b""), (3, b"c"), (4, b"d")]),
    ],
)
def test_lines_and_their_numbers(raw: bytes, wanted: list[tuple[int, bytes]]) -> None:
    assert [(record.line, record.raw) for record in split(raw)] == wanted


def test_it_does_not_matter_how_the_stream_is_cut() -> None:
    luck = random.Random(4)
    raw = b'h1,h2\r\n1,"a\nb"\r\n' + b"x,y\n" * 50 + b'"stray,1\n' + b"later,2\n" * 30
    whole = split(raw)

    for _ in range(200):
        cuts = sorted(luck.sample(range(len(raw)), luck.randint(1, 12)))
        assert split(raw, *cuts) == whole


def test_a_quote_that_nobody_closes_costs_one_line() -> None:
    raw = b'a,b\n"open,1\n' + b"fine,2\n" * (MOST_LINES * 3)

    records = split(raw)

    assert [record.line for record in records if record.broken] == [2]
    assert records[1].broken == "unclosed_quote"
    assert len(records) == MOST_LINES * 3 + 2


def test_a_line_without_an_end_is_not_kept() -> None:
    splitter = Splitter()
    found = list(splitter.feed(b"head\n"))
    for _ in range(100):
        found += splitter.feed(b"x" * 16_384)
    held = len(splitter._tail)
    found += splitter.feed(b"\nnext\n")

    assert held <= LONGEST
    assert [(record.line, record.broken) for record in found] == [(1, None), (2, "line_too_long"), (3, None)]


def test_rows_by_their_headings() -> None:
    reader = RowReader.of(Record(1, b"\xef\xbb\xbfEmail;Why"))

    row = reader.read(Record(2, b'a@example.test;"so; it is"'))
    problems = [
        reader.read(Record(line, raw))
        for line, raw in enumerate((b"one", b'a;"b"c', b"\xff;x", b"a\x00;x", b"  "), start=3)
    ]

    assert isinstance(row, Row)
    assert row.values == {"Email": "a@example.test", "Why": "so; it is"}
    assert "example" not in repr(row)
    codes = [problem.code if isinstance(problem, LineProblem) else None for problem in problems]
    assert codes == ["wrong_cells", "not_csv", "not_utf8", "zero_character", None]


@pytest.mark.parametrize("first", [b"\xff\xfea\x00", b"\xff", b"a" + b",b" * 300])
def test_what_can_not_be_a_table(first: bytes) -> None:
    with pytest.raises(UnreadableFileError):
        RowReader.of(Record(1, first))


def test_json_lines() -> None:
    reader = RowReader.of(Record(1, b'{"a": 1}'))

    assert reader.first_is_row
    row = reader.read(Record(1, b'{"a": 1}'))
    assert isinstance(row, Row)
    assert row.values == {"a": 1}
    for bad in (b"[1]", b"{", b'{"a": "\\u0000"}'):
        assert isinstance(reader.read(Record(2, bad)), LineProblem)
