"""Takes a file in as it arrives: a set of lines, what they ask for, and how far the file was read, in one transaction.

Memory holds one set, however long the file is. An import that was cut off is resumed by sending the same file
with the same key: what was done before is read past, compared by its digest and not done again.
"""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import TooBusyError
from tidings.notify.ids import IMPORT
from tidings.notify.imports import store
from tidings.notify.imports.errors import (
    OtherFileError,
    TakenOverError,
    UnknownImportError,
    UnreadableFileError,
)
from tidings.notify.imports.model import (
    Import,
    ImportProgress,
    ImportRequest,
    ImportStatus,
    LineCounts,
    LineProblem,
    Severity,
)
from tidings.notify.imports.records import Record, Splitter, declared_delimiter
from tidings.notify.imports.rows import RowReader
from tidings.notify.imports.target import Author, RowWithWarning, Target, WriteResult

#: Lines of one transaction.
SET = 2_000
#: Seconds of checking before others have their turn in the loop.
_BREATH = 0.005
#: Bytes of lines of one transaction: long lines make a set of fewer.
_SET_BYTES = 4 * 1024 * 1024
#: Marks of a dry run that are removed in one transaction.
_FORGET = 20_000
#: Problems that the report keeps; the others are only counted.
MOST_PROBLEMS = 100_000
#: A file of which nothing could be taken so far is given up after so many lines.
MOST_NONSENSE = 5_000


class _Undo(Exception):  # noqa: N818  # no error: the end of a dry run
    """What a dry run wrote is taken back."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Importer:
    """Runs imports, a few at a time."""

    db: Database
    keyring: Keyring
    audit: AuditLog
    clock: Clock
    #: In this process, of which one tenant may have `most_of_a_tenant`.
    most_at_once: int = 8
    most_of_a_tenant: int = 2
    _running: Counter[TenantId] = field(init=False, default_factory=Counter)

    async def run(self, order: ImportRequest, target: Target, body: AsyncIterator[bytes]) -> Import:
        """The import, when all of the file was taken in."""
        mine = self._running[order.tenant_id]
        if self._running.total() >= self.most_at_once or mine >= self.most_of_a_tenant:
            raise TooBusyError("as many imports as may run at once are running; try again when one has ended")
        self._running[order.tenant_id] += 1
        try:
            return await self._run(order, target, body)
        finally:
            self._running[order.tenant_id] -= 1
            if not self._running[order.tenant_id]:
                del self._running[order.tenant_id]

    async def _run(self, order: ImportRequest, target: Target, body: AsyncIterator[bytes]) -> Import:
        known, secret = await self._begin(order)
        reading = _Reading(self, order, known, target, secret)
        try:
            await reading.read(body)
            async with self._tenant(order) as tx:
                await self._end(tx, order, known)
                ended = await store.find_import(tx, known.id)
            if known.dry_run:
                await self._forget_seen(order, known)
        except BaseException as error:
            if not isinstance(error, TakenOverError) and known.status is not ImportStatus.COMPLETED:
                await self._interrupt(order, known)
            raise
        if ended is None:
            raise UnknownImportError
        return ended

    async def _begin(self, order: ImportRequest) -> tuple[Import, bytes]:
        now = self.clock.now()
        import_id, runner = IMPORT.new(now), uuid4().hex
        async with self._tenant(order) as tx:
            made = await store.begin_import(tx, import_id, order, runner=runner)
            known = (
                await store.find_import(tx, import_id)
                if made
                else await store.take_over(
                    tx, idempotency_key=order.idempotency_key or "", runner=runner, now=now
                )
            )
            if known is None:
                raise UnknownImportError
            if (known.kind, known.options) != (order.kind, order.options):
                raise OtherFileError(
                    "the import with this Idempotency-Key was begun with other parameters; repeat those, or send a new key"
                )
            pepper = await self.keyring.pepper(tx)
        # Lines are addresses: a digest without a key would let its reader try addresses out.
        return known, pepper.hash(f"import:{known.id}").encode()[:64]

    async def _end(self, tx: TenantTx, order: ImportRequest, known: Import) -> None:
        now = self.clock.now()
        if known.status is ImportStatus.COMPLETED:
            return
        if not await store.end_import(tx, known, ImportStatus.COMPLETED, now=now):
            raise TakenOverError
        done = await store.find_import(tx, known.id)
        if done is not None and not done.dry_run:
            entry = Entry(
                entity_type="import",
                entity_id=known.id,
                action="completed",
                actor=order.actor,
                after={
                    "kind": done.kind.value,
                    "format": done.format,
                    "emit_events": done.emit_events,
                    **attributes(done.tally, "added changed unchanged refused"),
                },
            )
            await self.audit.append(tx, [entry])

    async def _interrupt(self, order: ImportRequest, known: Import) -> None:
        """Mark it as interrupted; where even that fails the row shows it by its age."""
        try:
            async with asyncio.timeout(5), self._tenant(order) as tx:
                await store.end_import(tx, known, ImportStatus.INTERRUPTED, now=self.clock.now())
        except Exception:  # noqa: BLE001, S110  # the first error is the one to tell
            pass

    def _tenant(self, order: ImportRequest) -> AbstractAsyncContextManager[TenantTx]:
        return self.db.tenant(order.tenant_id, caller_role=order.role, by_index=True)

    async def write_set(
        self,
        order: ImportRequest,
        known: Import,
        target: Target,
        checked: "_Checked",
        progress: ImportProgress,
    ) -> Import:
        """One set, whole or not at all; the import as it stands after it."""
        async with self._tenant(order) as tx:
            written = await self._written(tx, order, known, target, checked)
            problems = sorted([*checked.problems, *written.problems])
            errors = [p for p in problems if p.severity is Severity.ERROR]
            tally = checked.accounted(written.tally, {p.line for p in errors}, progress.lines)
            count = await store.advance_import(
                tx,
                known,
                progress,
                tally,
                problems=len(problems),
                warnings=len(problems) - len(errors),
                now=self.clock.now(),
            )
            if count is None:
                raise TakenOverError
            before = count - len(problems)
            kept = problems[: max(0, MOST_PROBLEMS - before)]
            if kept:
                await store.add_problems(tx, known.id, kept, first=before)
        done = attributes(progress, "records_done bytes_done digest")
        return replace(known, **done, tally=known.tally + tally)

    async def _written(
        self, tx: TenantTx, order: ImportRequest, known: Import, target: Target, checked: "_Checked"
    ) -> WriteResult:
        if not checked.specs:
            return WriteResult(tally=LineCounts())
        if not known.dry_run:
            return await target.write(tx, checked.specs, Author(import_id=known.id, actor=order.actor))
        # The same statements, taken back: a dry run can't say anything else than the real one would.
        written = WriteResult(tally=LineCounts())
        fresh = await self._unseen(tx, known, checked)
        again = len(checked.specs) - len(fresh)
        try:
            async with tx.savepoint():
                if fresh:
                    written = await target.write(tx, fresh, Author(import_id=known.id, actor=order.actor))
                raise _Undo  # noqa: TRY301  # out of the savepoint, and no further
        except _Undo:
            return replace(written, tally=replace(written.tally, unchanged=written.tally.unchanged + again))

    async def _unseen(self, tx: TenantTx, known: Import, checked: "_Checked") -> Sequence[tuple[int, Any]]:
        """Those that no earlier set was about: what that one wrote was taken back, and can't be met any more."""
        named = [mark for mark in checked.marks if mark is not None]
        new = await store.mark_seen(tx, known.id, named) if named else set()
        return [
            line
            for line, mark in zip(checked.specs, checked.marks, strict=True)
            if mark is None or mark in new
        ]

    async def _forget_seen(self, order: ImportRequest, known: Import) -> None:
        gone = _FORGET
        while gone == _FORGET:
            async with self._tenant(order) as tx:
                gone = await store.forget_seen(tx, known.id, limit=_FORGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """A set of lines: what they ask for, each with its number, and what is wrong with the others."""

    specs: Sequence[tuple[int, Any]]
    #: Of a dry run: what each spec is about, unreadable to others; None where a second one may change something.
    marks: Sequence[bytes | None]
    problems: Sequence[LineProblem]
    #: Lines that ask for nothing: headings and empty ones.
    empty: int
    #: By the first line of a record that takes several: how many.
    spans: Mapping[int, int]

    def accounted(self, tally: LineCounts, refused: Set[int], lines: int) -> LineCounts:
        """What came of the lines. Each is taken, refused or skipped: an import that can't say which writes nothing."""
        taken = [line for line, _ in self.specs if line not in refused]
        found = replace(
            tally,
            refused=sum(self.spans.get(line, 1) for line in refused),
            # A cell that runs over several lines makes one row of them.
            skipped=self.empty + sum(self.spans.get(line, 1) - 1 for line in taken),
        )
        if found.lines != lines:
            raise AssertionError(f"{lines} lines were read and {found.lines} are accounted for")
        return found


class _Reading:
    """One pass over a body."""

    def __init__(
        self, importer: Importer, order: ImportRequest, known: Import, target: Target, secret: bytes
    ) -> None:
        self._importer = importer
        self._order = order
        self._known = known
        self._target = target
        self._secret = secret
        self._digest = hashlib.blake2b(key=secret, digest_size=32)
        self._skip = known.records_done
        self._records = 0
        self._bytes = 0
        self._format = known.format
        self._rows: RowReader | None = None
        self._delimiter: str | None = None
        #: Lines read since the last set was written, and those of them that ask for nothing.
        self._lines = 0
        self._empty = 0
        self._pending: list[Record] = []
        self._pending_bytes = 0

    async def read(self, body: AsyncIterator[bytes]) -> None:
        """All of it."""
        splitter = Splitter()
        async for piece in body:
            for record in splitter.feed(piece):
                await self._take(record)
        for record in splitter.end():
            await self._take(record)
        await self._flush()
        if self._records < self._skip or (
            self._known.status is ImportStatus.COMPLETED and self._records != self._known.records_done
        ):
            raise OtherFileError
        if self._rows is None:
            raise UnreadableFileError("is empty; send a file with headings and lines")

    async def _take(self, record: Record) -> None:
        if self._rows is None and record.raw.strip(b" \t\xef\xbb\xbf") == b"" and record.broken is None:
            # Empty lines before the headings; they count, so that going on finds the same place.
            self._pass_over(record)
            return
        if self._rows is None and self._delimiter is None:
            self._delimiter = declared_delimiter(record.raw)
            if self._delimiter is not None:
                self._pass_over(record)
                return
        if self._rows is None:
            self._rows = RowReader.of(record, self._delimiter)
            self._format = self._target.begin(self._rows)
            if not self._rows.first_is_row:
                self._pass_over(record)
                return
        self._pending.append(record)
        self._pending_bytes += len(record.raw)
        # Never over the place where the new lines begin: a set is read past as a whole, or written as a whole.
        full = len(self._pending) >= SET or self._pending_bytes >= _SET_BYTES
        if full or self._records + len(self._pending) == self._skip:
            await self._flush()

    async def _flush(self) -> None:
        records, self._pending, self._pending_bytes = self._pending, [], 0
        past = self._records < self._skip
        for record in records:
            self._count(record)
        if past:
            self._compare()
            return
        if self._known.status is ImportStatus.COMPLETED:
            if records:
                raise OtherFileError
            return
        if not records and self._records == self._known.records_done:
            return
        checked = await self._checked(records)
        lines, self._lines = self._lines, 0
        self._known = await self._importer.write_set(
            self._order,
            self._known,
            self._target,
            checked,
            ImportProgress(
                format=self._format,
                records_done=self._records,
                bytes_done=self._bytes,
                lines=lines,
                digest=self._digest.copy().hexdigest(),
            ),
        )
        self._give_up_nonsense()

    def _give_up_nonsense(self) -> None:
        """A file that is something else costs time for each of its lines, and its report is of no use."""
        tally = self._known.tally
        if not tally.taken and tally.refused >= MOST_NONSENSE:
            raise UnreadableFileError(
                f"has no line that could be taken among its first {tally.refused:,}; "
                f"the report of {self._known.id} says what is wrong with them"
            )

    async def _checked(self, records: Sequence[Record]) -> "_Checked":
        specs: list[tuple[int, Any]] = []
        problems: list[LineProblem] = []
        empty, self._empty = self._empty, 0
        assert self._rows is not None or not records  # noqa: S101
        since = time.perf_counter()
        for record in records:
            if time.perf_counter() - since > _BREATH:
                await asyncio.sleep(0)
                since = time.perf_counter()
            row = self._rows.read(record) if self._rows else None
            if row is None:
                empty += record.lines
                continue
            if isinstance(row, LineProblem):
                problems.append(row)
                continue
            checked = self._target.check(row)
            if isinstance(checked, list):
                problems += checked
            elif isinstance(checked, RowWithWarning):
                problems += checked.problems
                specs.append((row.line, checked.spec))
            else:
                specs.append((row.line, checked))
        marks = [self._mark(spec) for _, spec in specs] if self._known.dry_run else []
        spans = {record.line: record.lines for record in records if record.lines > 1}
        return _Checked(specs=specs, marks=marks, problems=problems, empty=empty, spans=spans)

    def _mark(self, spec: Any) -> bytes | None:
        about = self._target.about(spec)
        if about is None:
            return None
        return hashlib.blake2b(about.encode(), key=self._secret, digest_size=16).digest()

    def _pass_over(self, record: Record) -> None:
        """A line before the first row."""
        self._count(record)
        if self._records > self._skip:
            self._empty += record.lines
        self._compare()

    def _count(self, record: Record) -> None:
        self._records += 1
        self._bytes += record.size
        if self._records > self._skip:
            self._lines += record.lines
        self._digest.update(record.raw)
        self._digest.update(b"\n" if record.broken is None else record.broken.encode())

    def _compare(self) -> None:
        """Whether what was read past is what was read the first time."""
        if self._records == self._skip and self._digest.copy().hexdigest() != self._known.digest:
            raise OtherFileError
