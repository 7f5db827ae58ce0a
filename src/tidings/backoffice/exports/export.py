"""Exports ledgers: part by part, each row in one file, whatever is killed between two steps.

A part is begun in the manifest with the stretch of time that it holds; its file is written and read back; then the manifest
says that it is verified. A part that was begun and not verified is done anew, into the same object. What days hold does
not change any more when they are exported, but for rows that came late from a journal: those are found when the month is
closed (`close_month.py`).
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tidings.backoffice.exports import store
from tidings.backoffice.exports.ledgers import Ledger
from tidings.backoffice.exports.parquet_file import ParquetFile, count_rows
from tidings.backoffice.exports.plan import MOST_ROWS, Window, complete_until, next_window
from tidings.backoffice.exports.store import Export, ExportPlace
from tidings.backoffice.ids import EXPORT
from tidings.kernel.blobs.envelope import BlobDamagedError, BlobRef
from tidings.kernel.blobs.keys import BlobKey, key_of
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import AlreadyExistsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger

#: Rows of one query, and of one group in a file.
_SET: Final = 20_000
_CHUNK: Final = 1024 * 1024
_BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)

_log = get_logger("backoffice")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Exporter:
    """Exports what one tenant, or the platform, has in one ledger."""

    db: Database
    #: Opened at the first use.
    blobs: Callable[[], BlobStore]
    clock: Clock
    most_rows: int = MOST_ROWS

    async def export(
        self, tenant_id: TenantId | None, ledger: Ledger, *, until: datetime | None = None
    ) -> list[Export]:
        """Export all days that have ended, or those before `until`; the parts that were written."""
        cutoff = complete_until(self.clock.now())
        if until is not None:
            cutoff = min(cutoff, until)
        made = []
        async with self.db.scoped(tenant_id) as tx:
            unfinished = await store.unfinished_exports(tx, ledger)
        for part in unfinished:
            made.append(await self.write(part, ledger))
        while (begun := await self._begin_next(tenant_id, ledger, cutoff)) is not None:
            made.append(await self.write(begun, ledger))
        return made

    async def begin(self, tenant_id: TenantId | None, ledger: Ledger, window: Window) -> Export:
        """Say in the manifest that a part is being written."""
        now = self.clock.now()
        async with self.db.scoped(tenant_id) as tx:
            return await store.insert_export(tx, ledger, EXPORT.new(now), window, now=now)

    async def write(self, part: Export, ledger: Ledger) -> Export:
        """Write the file of a part, read it back, and say so."""
        key = key_of(
            part.tenant_id,
            "exports",
            f"ledger={ledger.name}",
            f"month={part.month:%Y-%m}",
            f"{part.id}.parquet",
        )
        with tempfile.TemporaryDirectory(prefix="tidings-export-") as folder:
            written = Path(folder) / "written.parquet"
            rows = await self._read_into(written, part, ledger)
            ref = await self.blobs().put_stream(key, _pieces(written), owner_id=part.id)
            found = await self.read_back(ref, ledger, Path(folder))
        if found != rows:
            raise BlobDamagedError(f"{part.id} holds {found} rows, and {rows} were written")
        async with self.db.scoped(part.tenant_id) as tx:
            await store.finish_export(tx, part.id, ref, rows=rows, now=self.clock.now())
        _log.info(
            "ledger_exported", export_id=part.id, ledger=ledger.name, tenant_id=part.tenant_id, rows=rows
        )
        return part

    async def read_back(self, ref: BlobRef, ledger: Ledger, folder: Path) -> int:
        """How many rows the file in the store holds; a `BlobError` where it is not what was put there."""
        copy = folder / "read.parquet"
        await self.fetch(ref.key, ref.checksum, copy)
        try:
            return await asyncio.to_thread(count_rows, copy, ledger)
        except ValueError as error:
            raise BlobDamagedError(
                f"the export {ref.key.rpartition('/')[2]} can't be read: {error}"
            ) from None

    async def fetch(self, key: BlobKey, checksum: str | None, place: Path) -> None:
        """The file as Parquet, out of its envelope."""
        with place.open("wb") as copy:
            async for piece in self.blobs().get_stream(key, checksum=checksum):
                await asyncio.to_thread(copy.write, piece)

    async def _begin_next(
        self, tenant_id: TenantId | None, ledger: Ledger, cutoff: datetime
    ) -> Export | None:
        async with self.db.scoped(tenant_id) as tx:
            reached = await store.exported_until(tx, ledger)
            oldest = await store.oldest_row(tx, ledger, reached or _BEGINNING)
            window = next_window(reached, oldest, cutoff) if oldest is not None else None
            if window is None:
                return None
            # One more than a file holds: that one begins the next.
            size = await store.measure(tx, ledger, window, most=self.most_rows + 1)
        if size.rows > self.most_rows and size.last_at is not None and size.last_at > window.from_at:
            window = Window(window.from_at, size.last_at)
        try:
            return await self.begin(tenant_id, ledger, window)
        except AlreadyExistsError:
            # Another process is at it.
            return None

    async def _read_into(self, path: Path, part: Export, ledger: Ledger) -> int:
        file = ParquetFile(path, ledger)
        after = ExportPlace(part.from_at, "")
        try:
            while True:
                async with self.db.scoped(part.tenant_id) as tx:
                    rows = await store.read_rows(tx, ledger, part.window, after=after, limit=_SET)
                if rows:
                    await asyncio.to_thread(file.write, rows)
                    after = store.keys_of(rows, ledger)
                if len(rows) < _SET:
                    return file.rows
        finally:
            file.close()


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _CHUNK):
            yield piece
