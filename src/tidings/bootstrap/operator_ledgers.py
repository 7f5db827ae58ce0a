"""What operators leave behind: lock actions with their audit, exports of the ledgers."""

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidings.backoffice.exports.export import Exporter
    from tidings.backoffice.exports.job import ExportJob
    from tidings.backoffice.lock_actions.settle import LockSettler
    from tidings.bootstrap.kernel import KernelStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.parts import Parts

_KEYS_KEPT: Final = timedelta(hours=48)


class OperatorLedgersStage:
    """A part of the back office."""

    def __init__(self, kernel: "KernelStage", parts: "Parts") -> None:
        self._kernel = kernel
        self._parts = parts

    @staticmethod
    def register(kernel: "KernelStage", parts: "Parts") -> None:
        """Let handlers name what acts on locks."""
        from tidings.backoffice.lock_actions.ledger import LockLedger
        from tidings.kernel.idempotency import Idempotency

        # Longer than anybody asks what came of an action: until then its key is taken, and it is asked for once.
        keys = Idempotency("bff_backoffice", kernel.clock, kept_for=_KEYS_KEPT, locked_for=_KEYS_KEPT)
        parts.get(LockLedger, idempotency=keys)

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

    @cached_property
    def settler(self) -> "LockSettler":
        """Learns what came of lock actions that were not answered."""
        from tidings.backoffice.lock_actions.settle import LockSettler

        return self._parts.get(LockSettler)

    def jobs(self) -> "dict[str, Job]":
        """What a worker runs."""
        return {"ledger_exports": self.exports, "lock_actions": self.settler}
