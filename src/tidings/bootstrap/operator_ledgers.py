"""What operators leave behind: exports of the ledgers."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.backoffice.exports.export import Exporter
    from tidings.backoffice.exports.job import ExportJob
    from tidings.bootstrap.kernel import KernelStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.parts import Parts


class OperatorLedgersStage:
    """A part of the back office."""

    def __init__(self, kernel: "KernelStage", parts: "Parts") -> None:
        self._kernel = kernel
        self._parts = parts

    @cached_property
    def exporter(self) -> "Exporter":
        """Writes files."""
        from tidings.backoffice.exports.export import Exporter

        kernel = self._kernel
        return Exporter(db=kernel.db, blobs=lambda: kernel.blobs, clock=kernel.clock)

    @cached_property
    def exports(self) -> "ExportJob":
        """Exports all that is due."""
        from tidings.backoffice.alerts.alerts import Alerts
        from tidings.backoffice.exports.close_month import MonthCloser
        from tidings.backoffice.exports.job import ExportJob
        from tidings.backoffice.metrics import BackofficeMetrics

        kernel = self._kernel
        return ExportJob(
            db=kernel.db,
            exporter=self.exporter,
            closer=MonthCloser(db=kernel.db, exporter=self.exporter, clock=kernel.clock),
            leases=lambda: kernel.hot_state.leases,
            holder=kernel.worker_id,
            alerts=self._parts.get(Alerts),
            metrics=self._parts.get(BackofficeMetrics),
            clock=kernel.clock,
        )

    def jobs(self) -> "dict[str, Job]":
        """What a worker runs."""
        return {"ledger_exports": self.exports}
