"""Exports all ledgers once a day, closes months and prunes what is exported; one process at a time."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.exports import store
from tidings.backoffice.exports.close_month import MonthCloser
from tidings.backoffice.exports.export import Exporter
from tidings.backoffice.exports.ledgers import LEDGERS, Ledger
from tidings.backoffice.exports.plan import complete_until, end_of_month, midnight, month_of
from tidings.backoffice.metrics import BackofficeMetrics
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.job_watch import turn_is_over
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import NotConfiguredError, TidingsError
from tidings.kernel.hot_state import Lease, Leases
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger

#: How long rows of acknowledgements are kept here.
ALERT_ACKS_KEPT: Final = timedelta(days=365)
#: A month is closed a week after its end: what a journal held is written by then.
CLOSED_AFTER: Final = timedelta(days=7)
#: Between two looks; a day that is exported is not looked at again.
_EVERY: Final = timedelta(hours=1)
#: Another process may go on so long after one was killed.
HOLDS: Final = timedelta(seconds=20)
_MOST: Final = 5_000
_CATEGORY: Final = "ledger_export_failed"
_LEASE: Final = "backoffice.exports"

_log = get_logger("backoffice")


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ExportJob:
    """A worker runs it; so does `tidings exports run`."""

    db: Database
    exporter: Exporter
    closer: MonthCloser
    leases: Callable[[], Leases]
    holder: Callable[[], str]
    alerts: Alerts
    metrics: BackofficeMetrics
    clock: Clock
    _done_until: datetime | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        # There before the first failure: Prometheus sees no increase in a counter that is new to it.
        for ledger in LEDGERS:
            self.metrics.export_failures.labels(ledger)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; what fails is tried again in the next hour."""
        while not stop.is_set():
            if self._done_until != complete_until(self.clock.now()):
                try:
                    await self.run_once(stop)
                except TidingsError as error:
                    _log.error("exports_failed", code=error.code)
            await wait_for_stop(stop, _EVERY.total_seconds())

    async def run_once(self, stop: asyncio.Event | None = None, *, until: datetime | None = None) -> bool:
        """Export all that is due; False where another process does, or something failed."""
        cutoff = complete_until(self.clock.now())
        lease = await self.leases().acquire(None, _LEASE, self.holder(), HOLDS)
        if lease is None:
            return False
        whole, holding = True, asyncio.create_task(self._hold(lease))
        try:
            for ledger in LEDGERS.values():
                whole = await self._ledger(ledger, stop, until) and whole
        finally:
            holding.cancel()
            await self.leases().release(lease)
        if whole and until is None and not (stop and stop.is_set()):
            self._done_until = cutoff
        return whole

    async def _hold(self, lease: Lease) -> None:
        """Where it is lost, two export at once for a while: each part is begun by one of them, and written alike by both."""
        while True:
            await asyncio.sleep(HOLDS.total_seconds() / 4)
            with contextlib.suppress(TidingsError):
                await self.leases().renew(lease, HOLDS)

    async def _ledger(self, ledger: Ledger, stop: asyncio.Event | None, until: datetime | None) -> bool:
        try:
            for tenant_id in await self._owners(ledger):
                if stop is not None and stop.is_set():
                    return True
                turn_is_over()
                made = await self.exporter.export(tenant_id, ledger, until=until)
                self.metrics.exports.labels(ledger.name).inc(len(made))
            if ledger.by_month:
                await self._close_months(ledger)
            else:
                await self._prune()
        except NotConfiguredError as error:
            # Rows stay where they are; nobody has to be woken for it.
            _log.warning("exports_not_installed", ledger=ledger.name, reason=str(error))
            return False
        except TidingsError as error:
            self.metrics.export_failures.labels(ledger.name).inc()
            _log.error("ledger_not_exported", ledger=ledger.name, code=error.code, reason=str(error))
            await self._tell(ledger, error.code)
            return False
        await self._tell(ledger, None)
        return True

    async def _owners(self, ledger: Ledger) -> list[TenantId | None]:
        async with self.db.worker() as tx:
            tenants: list[TenantId | None] = [*await store.tenants_with_rows(tx, ledger)]
        return [*tenants, None] if ledger.of_platform else tenants

    async def _close_months(self, ledger: Ledger) -> None:
        """From the oldest row's month on, those that ended long enough ago."""
        async with self.db.worker() as tx:
            known = await store.exported_months(tx, ledger)
            owners = await store.owners_of_exports(tx)
        if not owners:
            return
        oldest = await self._oldest_month(ledger, owners)
        now = self.clock.now()
        while oldest is not None and end_of_month(oldest) + CLOSED_AFTER <= now:
            if oldest.date() not in known:
                await self.closer.close(ledger, oldest)
            oldest = end_of_month(oldest)

    async def _oldest_month(self, ledger: Ledger, owners: list[TenantId | None]) -> datetime | None:
        found: list[datetime] = []
        for tenant_id in owners:
            if tenant_id is None and not ledger.of_platform:
                continue
            async with self.db.scoped(tenant_id) as tx:
                at = await store.oldest_row(tx, ledger, datetime(2000, 1, 1, tzinfo=UTC))
            if at is not None:
                found.append(month_of(at))
        return min(found, default=None)

    async def _prune(self) -> None:
        before = midnight(self.clock.now() - ALERT_ACKS_KEPT)
        await self.closer.mend_alert_acks(since=before)
        while True:
            async with self.db.worker() as tx:
                gone = await store.prune_alert_ack_log(tx, before=before, limit=_MOST)
            if gone < _MOST:
                return

    async def _tell(self, ledger: Ledger, code: str | None) -> None:
        """Raise the alert of the platform, or resolve it."""
        key = f"{_CATEGORY}:{ledger.name}"
        async with self.db.platform() as tx:
            if code is None:
                await self.alerts.resolve(tx, [key])
                return
            alert = NewAlert(
                dedup_key=key,
                category=_CATEGORY,
                severity="critical",
                property_id=None,
                source="exports",
                facts={"ledger": ledger.name, "code": code},
            )
            await self.alerts.raise_(tx, [alert])
