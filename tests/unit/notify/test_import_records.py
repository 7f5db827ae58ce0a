"""Lines come out of a stream the same, however it is cut; a bad one costs no other."""

import csv
import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.notify.imports import records
from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import ImportedRow, LineProblem
from tidings.notify.imports.records import (
    LONGEST,
    MOST_LINES,
    Record,
    Splitter,
    declared_delimiter,
    stays_open,
)
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
        # A quote inside a cell is a character like any other.
        (b'a,5" pipe\nb,7" pipe\n', [(1, b'a,5" pipe'), (2, b'b,7" pipe')]),
        (b'a\tb\n5"\tx\n"6\n7"\ty\n', [(1, b"a\tb"), (2, b'5"\tx'), (3, b'"6\n7"\ty')]),
        # What a quote joins and is no row is given up by its first line alone.
        (b'a,b\nx,"y\nz,1\nw,2" or so\n', [(1, b"a,b"), (2, b""), (3, b"z,1"), (4, b'w,2" or so')]),
        (b'a,b\n"x\ny",1,2\n', [(1, b"a,b"), (2, b""), (3, b'y",1,2')]),
        (b'sep=;\na;b\n"x;y";1\n', [(1, b"sep=;"), (2, b"a;b"), (3, b'"x;y";1')]),
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


@pytest.mark.parametrize("line", [b'a","', b"a" + b'","' * 50, b'a","' + b'""' * 100])
def test_a_line_is_looked_at_twice_at_most_however_many_quotes_stay_open(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these lines opens a quote, and none of them closes one: what follows is not read again for each."""
    looks = 0

    def counted(text: bytes, delimiter: bytes, *, is_open: bool) -> bool:
        nonlocal looks
        looks += 1
        return stays_open(text, delimiter, is_open=is_open)

    monkeypatch.setattr(records, "stays_open", counted)
    whole = b"a,b\n" + (line + b"\n") * 1000

    found = split(whole)

    assert [record.broken for record in found] == [None] + ["unclosed_quote"] * 1000
    assert looks <= 2 * 1000


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_feed_ends_a_line(mark: str) -> None:
    """Word and Excel write the others inside cells."""
    raw = f'a,b\nx{mark}y,"one\ntwo"\n'.encode()

    head, row = split(raw)

    assert RowReader.of(head).read(row) == ImportedRow(line=2, values={"a": f"x{mark}y", "b": "one\ntwo"})


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
        for line, raw in enumerate((b"one", b'"a";b\rc', b"\xff;x", b"a\x00;x", b"  "), start=3)
    ]

    assert isinstance(row, ImportedRow)
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
    assert isinstance(row, ImportedRow)
    assert row.values == {"a": 1}
    for bad in (b"[1]", b"{", b'{"a": "\\u0000"}'):
        assert isinstance(reader.read(Record(2, bad)), LineProblem)


@pytest.mark.parametrize(
    ("first", "says"),
    [
        (b"address\rchannel\rreason", "carriage return alone"),
        (b"[", "one JSON document"),
        (b'[{"address": "a@b.test"}]', "one JSON document"),
        (b"{", "one JSON document"),
        (b'{ "SuppressedDestinationSummaries": [', "one JSON document"),
    ],
)
def test_what_is_wrong_with_the_whole_file_is_named(first: bytes, says: str) -> None:
    with pytest.raises(UnreadableFileError) as refused:
        RowReader.of(Record(1, first))

    assert says in refused.value.errors[0].remedy


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (b"address|channel", b"a@b.test|sms"),
        (b"address, channel", b"a@b.test, sms"),
        (b'"address", "channel"', b'"a@b.test", "sms"'),
    ],
)
def test_other_ways_to_write_a_table(head: bytes, line: bytes) -> None:
    row = RowReader.of(Record(1, head)).read(Record(2, line))

    assert isinstance(row, ImportedRow)
    assert {name: value.strip() for name, value in row.values.items()} == {
        "address": "a@b.test",
        "channel": "sms",
    }


def test_a_declared_delimiter_wins() -> None:
    assert declared_delimiter(b"\xef\xbb\xbfsep=;") == ";"
    assert declared_delimiter(b"separate") is None
    row = RowReader.of(Record(2, b"a,b;c"), ";").read(Record(3, b"1,2;3"))
    assert isinstance(row, ImportedRow)
    assert row.values == {"a,b": "1,2", "c": "3"}


_CELL = st.text(alphabet="ab\"\n ;,'", max_size=6)


@given(rows=st.lists(st.tuples(_CELL, _CELL, _CELL), max_size=12), cut=st.integers(1, 9))
def test_what_python_writes_as_csv_is_read_as_it_was(rows: list[tuple[str, str, str]], cut: int) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("h1", "h2", "h3"), *rows])
    raw = text.getvalue().encode()

    records = split(raw, *range(cut, len(raw), cut))
    reader = RowReader.of(records[0])
    found = [reader.read(record) for record in records[1:]]

    assert [tuple(row.values.values()) for row in found if isinstance(row, ImportedRow)] == rows


@given(lines=st.lists(st.text(alphabet='ab",;\t ', max_size=12), max_size=60), cut=st.integers(1, 9))
def test_every_line_and_every_byte_is_in_one_record(lines: list[str], cut: int) -> None:
    raw = "".join(f"{line}\n" for line in ["a,b", *lines]).encode()

    records = split(raw, *range(cut, len(raw), cut))

    assert sum(record.lines for record in records) == len(lines) + 1
    assert sum(record.size for record in records) == len(raw)
    at = 1
    for record in records:
        assert record.line == at
        at += record.lines
