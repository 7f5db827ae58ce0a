"""What is said about a stream that is not as it was written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.audit_rows import STREAM_TENANT, make_stream, sealed
from tidings.kernel.audit.chain import ChainFinding, Head, StreamCheck, StreamEnd
from tidings.kernel.audit.record import AuditRow


def check(
    rows: Sequence[AuditRow],
    head: Head | None,
    *,
    lines: Sequence[StreamEnd] = (),
    months: frozenset[tuple[int, int]] = frozenset(),
) -> list[ChainFinding]:
    walk = StreamCheck(
        log="notification", tenant_id=STREAM_TENANT, entity_type="template", lines=lines, months=months
    )
    found = [finding for row in rows for finding in walk.row(row)]
    return [*found, *walk.end(head)]


def head_of(rows: Sequence[AuditRow]) -> Head:
    return Head(seq=rows[-1].seq, record_hash=rows[-1].record_hash)


def line_at(row: AuditRow, number: int = 1) -> StreamEnd:
    return StreamEnd(
        anchor_number=number,
        anchor_id=f"anc_{number}",
        seq=row.seq,
        record_hash=row.record_hash,
        last_at=row.occurred_at,
    )


@given(st.integers(1, 30))
def test_an_honest_stream_has_no_fault(length: int) -> None:
    """Nothing is found where nothing is wrong."""
    rows = make_stream(length)

    assert check(rows, head_of(rows), lines=[line_at(rows[length // 2])]) == []


@given(st.data())
def test_an_altered_row_is_named(data: st.DataObject) -> None:
    """One row, by its id, and no other."""
    rows = make_stream(data.draw(st.integers(1, 12)))
    at = data.draw(st.integers(0, len(rows) - 1))
    change: dict[str, Any] = data.draw(
        st.sampled_from(
            [
                {"actor": "key_2"},
                {"after": "{}"},
                {"reason": ""},
                {"occurred_at": rows[at].occurred_at + timedelta(microseconds=1)},
                {"prev_hash": "f" * 64},
                {"record_hash": "f" * 64},
                {"tenant_id": None},
            ]
        )
    )
    honest = head_of(rows)
    rows[at] = replace(rows[at], **change)

    found = check(rows, honest)

    assert [(finding.fault, finding.id) for finding in found] == [("altered", rows[at].id)]


@given(st.data())
def test_missing_rows_are_named_by_number(data: st.DataObject) -> None:
    """Where they were, and between which rows."""
    rows = make_stream(data.draw(st.integers(3, 12)))
    first = data.draw(st.integers(0, len(rows) - 2))
    last = data.draw(st.integers(first, len(rows) - 2))
    left = rows[:first] + rows[last + 1 :]

    (finding,) = check(left, head_of(rows))

    assert (finding.fault, finding.seq, finding.id) == ("missing", first + 1, rows[last + 1].id)


@given(st.data())
def test_swapped_rows_are_named_both(data: st.DataObject) -> None:
    """Each is told where it was written and where it stands."""
    rows = make_stream(data.draw(st.integers(2, 12)))
    one, other = sorted(
        data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2, unique=True))
    )
    honest = head_of(rows)
    a, b = rows[one], rows[other]
    rows[one], rows[other] = replace(b, seq=a.seq), replace(a, seq=b.seq)

    found = check(rows, honest)

    assert {(finding.fault, finding.id) for finding in found} == {("reordered", a.id), ("reordered", b.id)}


@given(st.data())
def test_a_rewritten_row_breaks_the_link_after_it(data: st.DataObject) -> None:
    """A forger who also mends the row's own hash is betrayed by the next row."""
    rows = make_stream(data.draw(st.integers(2, 12)))
    at = data.draw(st.integers(0, len(rows) - 2))
    honest = head_of(rows)
    rows[at] = sealed(replace(rows[at], actor="key_2"))

    (finding,) = check(rows, honest)

    assert (finding.fault, finding.id) == ("forged", rows[at + 1].id)
    assert rows[at].id in finding.detail


def test_a_stream_rewritten_to_its_end_is_betrayed_by_an_anchor() -> None:
    """Hashes can be made by anybody; a signature can't."""
    rows = make_stream(5)
    line = line_at(rows[2])
    forged = rows[:1]
    for row in rows[1:]:
        forged.append(sealed(replace(row, actor="key_2", prev_hash=forged[-1].record_hash)))

    found = check(forged, head_of(forged), lines=[line])

    assert [(finding.fault, finding.seq) for finding in found] == [("forged", 3)]
    assert "anc_1" in found[0].detail


def test_a_number_used_twice_is_named() -> None:
    """Somebody slipped a row in."""
    rows = make_stream(3)
    second = sealed(replace(rows[1], id=rows[2].id, actor="key_2"))

    found = check([rows[0], rows[1], second, rows[2]], head_of(rows))

    assert [(finding.fault, finding.seq) for finding in found] == [("forged", 2)]


@given(st.integers(2, 10), st.data())
def test_a_cut_off_tail_is_named(length: int, data: st.DataObject) -> None:
    """The head knows how long the stream was."""
    rows = make_stream(length)
    kept = data.draw(st.integers(1, length - 1))

    (finding,) = check(rows[:kept], head_of(rows))

    assert (finding.fault, finding.seq) == ("truncated", kept + 1)


def test_a_tail_cut_off_together_with_its_head_is_betrayed_by_an_anchor() -> None:
    """What was signed was there."""
    rows = make_stream(5)

    found = check(rows[:2], head_of(rows[:2]), lines=[line_at(rows[4])], months=frozenset({(2026, 11)}))

    assert [finding.fault for finding in found] == ["truncated"]
    assert "anc_1" in found[0].detail


def test_a_vanished_stream_is_betrayed_by_an_anchor() -> None:
    """Rows and head are gone; the signature remembers them."""
    rows = make_stream(5)

    (finding,) = check([], None, lines=[line_at(rows[4])], months=frozenset({(2026, 11)}))

    assert finding.fault == "vanished"


def test_a_tampered_head_is_named() -> None:
    """It says another end, another hash, or is gone."""
    rows = make_stream(3)

    for head in (Head(seq=2, record_hash=rows[1].record_hash), Head(seq=3, record_hash="0" * 64), None):
        assert [finding.fault for finding in check(rows, head)] == ["head"]


def _over_three_months() -> tuple[list[AuditRow], list[StreamEnd]]:
    rows = make_stream(9, step=timedelta(days=10))  # four rows to December, two more of it, the rest after
    ends = [
        max(
            (row for row in rows if (row.occurred_at.year, row.occurred_at.month) == month),
            key=lambda row: row.seq,
        )
        for month in ((2026, 11), (2026, 12), (2027, 1))
    ]
    return rows, [line_at(row, number) for number, row in enumerate(ends, start=1)]


def test_months_that_are_gone_as_a_whole_are_archived() -> None:
    """The anchor at their end vouches for them."""
    rows, lines = _over_three_months()
    left = [row for row in rows if row.seq > lines[1].seq]

    assert check(left, head_of(rows), lines=lines, months=frozenset({(2027, 1), (2027, 2)})) == []


def test_a_stream_that_is_archived_to_its_end_is_whole() -> None:
    """Nothing happened since."""
    rows, lines = _over_three_months()
    last = lines[-1]
    old = [row for row in rows if row.seq <= last.seq]

    assert check([], head_of(old), lines=lines, months=frozenset({(2027, 2)})) == []


def test_rows_missing_from_a_month_that_is_still_there_are_no_archive() -> None:
    """An archive takes the partition, not its rows."""
    rows, lines = _over_three_months()
    left = [row for row in rows if row.seq > lines[1].seq]

    (finding,) = check(left, head_of(rows), lines=lines, months=frozenset({(2026, 12), (2027, 1)}))

    assert (finding.fault, finding.seq) == ("missing", 1)


def test_part_of_a_month_is_no_archive() -> None:
    """Nobody archives to the middle of a month."""
    rows, lines = _over_three_months()
    left = [row for row in rows if row.seq >= lines[1].seq]

    (finding,) = check(left, head_of(rows), lines=lines)

    assert (finding.fault, finding.seq) == ("missing", 1)
