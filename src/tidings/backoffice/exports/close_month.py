"""Closes a month of a ledger: all its rows stand in files, each once, and the owner may drop it.

Rows are counted once more, part by part. Where there are others than its file holds, because some came late from a journal, the file is
written anew; what stands between two parts gets one of its own.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.backoffice.exports import store
from tidings.backoffice.exports.export import Exporter
from tidings.backoffice.exports.ledgers import LEDGERS, Ledger
from tidings.backoffice.exports.plan import Window, end_of_month, gaps
from tidings.backoffice.exports.store import Export
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger

#: More than any month has.
_ALL: Final = 2**62

_log = get_logger("backoffice")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MonthCloser:
    """Closes months, long after their end."""

    db: Database
    exporter: Exporter
    clock: Clock

    async def close(self, ledger: Ledger, month: datetime) -> int:
        """Count, mend, and say that it may be dropped; how many rows it has."""
        async with self.db.worker() as tx:
            owners: list[TenantId | None] = [*await store.tenants_with_rows(tx, ledger)]
        if ledger.of_platform:
            owners.append(None)
        rows = 0
        for tenant_id in owners:
            rows += await self._settle(tenant_id, ledger, month)
        async with self.db.worker() as tx:
            await store.note_exported_month(tx, ledger, month.date(), rows=rows, now=self.clock.now())
        _log.info("ledger_month_closed", ledger=ledger.name, month=f"{month:%Y-%m}", rows=rows)
        return rows

    async def mend_alert_acks(self, *, since: datetime) -> None:
        """An acknowledgement is taken back, or made again, as long as its alert is open: the files that held it are written anew."""
        async with self.db.worker() as tx:
            changed = await store.changed_alert_acks(tx, since=since)
        for part in changed:
            await self._write_anew(part, LEDGERS["alert_ack_log"])

    async def _settle(self, tenant_id: TenantId | None, ledger: Ledger, month: datetime) -> int:
        async with self.db.scoped(tenant_id) as tx:
            oldest = await store.oldest_row(tx, ledger, month)
            parts = await store.exports_of_month(tx, ledger, month.date())
        if not parts and (oldest is None or oldest >= end_of_month(month)):
            return 0
        rows = 0
        for part in parts:
            count = await self._count(tenant_id, ledger, part.window)
            if part.verified_at is None or count != part.rows:
                _log.warning("ledger_export_mended", export_id=part.id, rows=count, were=part.rows)
                await self._write_anew(part, ledger)
            rows += count
        for gap in gaps(month, [part.window for part in parts]):
            count = await self._count(tenant_id, ledger, gap)
            if count:
                begun = await self.exporter.begin(tenant_id, ledger, gap)
                await self.exporter.write(begun, ledger)
            rows += count
        return rows

    async def _write_anew(self, part: Export, ledger: Ledger) -> None:
        async with self.db.scoped(part.tenant_id) as tx:
            await store.reopen_export(tx, part.id)
        await self.exporter.write(part, ledger)

    async def _count(self, tenant_id: TenantId | None, ledger: Ledger, window: Window) -> int:
        async with self.db.scoped(tenant_id) as tx:
            return (await store.measure(tx, ledger, window, most=_ALL)).rows
