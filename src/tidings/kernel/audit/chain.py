"""Walks one audit stream row by row and says what is wrong with it; no I/O.

It is fed the rows in the order of their numbers, then the head. It knows the anchors' lines of the stream
and which months still have a partition: a gap is an archive only where an anchor signed its end and the
months of the gap are gone as a whole.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from tidings.kernel.audit.record import AuditRow, AuditSchema, hash_of
from tidings.kernel.ids import TenantId

Fault = Literal["altered", "missing", "reordered", "forged", "truncated", "vanished", "head", "anchor"]

#: A row in the wrong place is sought this far from where it stands.
_SEARCH = 1000
#: … and only for so many rows of a stream; the rest are called altered.
_SEARCHES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFinding:
    """One thing that is wrong."""

    log: AuditSchema
    tenant_id: str | None = None
    #: None where the fault is of an anchor as a whole.
    entity_type: str | None = None
    fault: Fault
    #: The number within the stream, or the first of several.
    seq: int | None = None
    #: The row or anchor that is wrong, or beside which something is.
    id: str | None = None
    #: What is wrong, in a sentence.
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """What an anchor says about a stream: this was its last row."""

    anchor_number: int
    anchor_id: str
    seq: int
    record_hash: str
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the database says about a stream: this is its last row."""

    seq: int
    record_hash: str | None


class StreamCheck:
    """The state of one walk."""

    def __init__(
        self,
        *,
        log: AuditSchema,
        tenant_id: TenantId | None,
        entity_type: str,
        lines: Sequence[StreamEnd],
        months: Container[tuple[int, int]],
        after: StreamEnd | None = None,
        cutoff: datetime | None = None,
    ) -> None:
        self._log = log
        self._tenant_id = tenant_id
        self._entity_type = entity_type
        self._lines = sorted(lines, key=lambda line: line.seq)
        self._signed = {line.seq: line for line in lines}
        self._months = months
        #: How far the walk has come.
        self.seq = after.seq if after else 0
        self._hash = after.record_hash if after else None
        self._id: str | None = None
        self._suspect = False
        self._searches = 0
        self._cutoff = cutoff
        #: The last row before the cut-off, for an anchor to sign.
        self.last_before_cutoff: AuditRow | None = None
        #: How many rows were looked at.
        self.rows = 0
        #: How many rows are archived, and under which anchors.
        self.archived_rows = 0
        self.archived_under: set[str] = set()

    def row(self, row: AuditRow) -> Iterator[ChainFinding]:
        """Look at the next row."""
        self.rows += 1
        if row.seq <= self.seq:
            yield self._finding("forged", row.seq, row.id, f"a second row claims number {row.seq}")
            return
        gap = row.seq > self.seq + 1
        if gap:
            yield from self._gap(self.seq + 1, row.seq - 1, row.prev_hash, before=row.id)
        right = hash_of(self._log, row) == row.record_hash
        if not right:
            yield self._misfit(row)
        elif not gap and not self._suspect and row.prev_hash != self._hash:
            yield self._finding(
                "forged",
                row.seq,
                row.id,
                f"does not follow from row {self._id}: one of the two was rewritten or slipped in",
            )
        line = self._signed.get(row.seq)
        if line is not None and right and line.record_hash != row.record_hash:
            yield self._finding(
                "forged", row.seq, row.id, f"is not the row that anchor {line.anchor_id} signed"
            )
        self.seq, self._hash, self._id = row.seq, row.record_hash, row.id
        if self._cutoff is not None and row.occurred_at < self._cutoff:
            self.last_before_cutoff = row
        # What follows a bad row can't be blamed for not fitting it.
        self._suspect = not right

    def end(self, head: Head | None) -> Iterator[ChainFinding]:
        """Look at the head after the last row."""
        signed = self._lines[-1] if self._lines else None
        known = max(head.seq if head else 0, signed.seq if signed else 0)
        if known > self.seq:
            yield from self._cut_off(known, head, signed)
        if head is None:
            if self.rows:
                yield self._finding("head", self.seq, self._id, "the stream has rows and no head")
            return
        if head.seq < self.seq:
            yield self._finding(
                "head", self.seq, self._id, f"the head says that the stream ends at {head.seq}"
            )
        elif head.seq == self.seq and head.record_hash != self._hash and not self._suspect:
            yield self._finding("head", self.seq, self._id, "the head holds another hash than the last row")

    def _cut_off(self, known: int, head: Head | None, signed: StreamEnd | None) -> Iterator[ChainFinding]:
        closing = head.record_hash if head and head.seq == known else signed.record_hash if signed else None
        line = self._archive_of(self.seq + 1, known, closing)
        if line is not None:
            self._note_archive(self.seq + 1, known)
            self.seq, self._hash, self._id, self._suspect = known, line.record_hash, None, False
            return
        fault: Fault = "truncated" if self.seq else "vanished"
        witness = f"anchor {signed.anchor_id}" if signed and signed.seq == known else "the head"
        yield self._finding(
            fault,
            self.seq + 1,
            self._id,
            f"rows {self.seq + 1} to {known} are gone from the end, {witness} knows of them",
        )

    def _gap(self, first: int, last: int, closing: str | None, *, before: str) -> Iterator[ChainFinding]:
        if self._archive_of(first, last, closing) is not None:
            self._note_archive(first, last)
            return
        which = f"row {first} is" if first == last else f"rows {first} to {last} are"
        between = f"between {self._id} and {before}" if self._id else f"before {before}"
        yield self._finding("missing", first, before, f"{which} missing {between}")

    def _archive_of(self, first: int, last: int, closing: str | None) -> StreamEnd | None:
        """The line that vouches for rows `first` to `last`, if they were archived as whole months."""
        line = self._signed.get(last)
        if line is None or line.record_hash != closing:
            return None
        if first > 1 and first - 1 not in self._signed:
            return None
        inside = (other for other in self._lines if first <= other.seq <= last)
        if any((other.last_at.year, other.last_at.month) in self._months for other in inside):
            return None
        return line

    def _note_archive(self, first: int, last: int) -> None:
        self.archived_rows += last - first + 1
        self.archived_under.update(line.anchor_id for line in self._lines if first <= line.seq <= last)

    def _misfit(self, row: AuditRow) -> ChainFinding:
        if self._searches < _SEARCHES:
            self._searches += 1
            for seq in range(max(1, row.seq - _SEARCH), row.seq + _SEARCH + 1):
                if hash_of(self._log, replace(row, seq=seq)) == row.record_hash:
                    return self._finding(
                        "reordered", row.seq, row.id, f"was written as number {seq}, stands at {row.seq}"
                    )
        return self._finding("altered", row.seq, row.id, "its hash does not fit what it says")

    def _finding(self, fault: Fault, seq: int, row_id: str | None, detail: str) -> ChainFinding:
        return ChainFinding(
            log=self._log,
            tenant_id=self._tenant_id,
            entity_type=self._entity_type,
            fault=fault,
            seq=seq,
            id=row_id,
            detail=detail,
        )
