"""From a window that is due to its digest."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.kernel.bus import Subscription
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.wakeup import DueTimer
from tidings.notify.digest_windows import replan
from tidings.notify.digests.flush import FLUSH_SETTINGS, DigestFlusher
from tidings.notify.digests.flush_store import WindowClaims

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.composition import CompositionStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class DigestsStage:
    """Flushes windows of what was gathered, and moves them when schedules change."""

    def __init__(
        self,
        kernel: "KernelStage",
        access: "AccessStage",
        notify: "NotifyStage",
        accept: "AcceptStage",
        composition: "CompositionStage",
    ) -> None:
        self._kernel = kernel
        self._metrics = metrics = access.metrics
        # Those register the parts that the flusher is made of.
        _ = accept.acceptor, composition.composer
        self.flusher = notify.parts.get(
            DigestFlusher,
            stripe=stripe(Stripe.DIGESTS),
            flushed=lambda result, count: metrics.digests_flushed.labels(result).inc(count),
        )
        self.flushing = notify.parts.make(
            ClaimingJob,
            claims=WindowClaims(metrics.digests_overdue.set),
            work_on_set=self.flusher.flush,
            name="digests",
            due_timer=DueTimer(),
            known=kernel.presence.known,
            settings=FLUSH_SETTINGS,
        )
        self.replanning = kernel.bus.consumer(
            Subscription(
                replan.GROUP,
                replan.SUBJECTS,
                ledger="notification",
                on_tenant_events=replan.handler(kernel.clock),
            )
        )

    async def free_orphans(self, tx: "WorkerTx") -> int:
        """Free windows that no living worker has in hand."""
        return await self.flushing.free_orphans(tx)

    def jobs(self) -> "dict[str, Job]":
        """The flusher, and what hears of changed schedules of tenants."""
        return {"digests": self.flushing, "digest_schedules": self.replanning}

    def sweeps(self) -> "dict[str, Sweep]":
        """Windows that were flushed long ago."""
        from tidings.notify.digests.flush_store import sweep_flushed

        db, clock, count = self._kernel.db, self._kernel.clock, self._metrics.digests_open.set
        return {"digest_windows": lambda most: sweep_flushed(db, clock, limit=most, count=count)}
