"""One template to many people."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.notify.batches.routes import BatchWake

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.claims import ClaimingJob
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.notify.batches.runner import BatchRunner
    from tidings.notify.ids import BatchId


class BatchesStage:
    """Makes the messages of batches, and sees how they end."""

    def __init__(self, kernel: "KernelStage", notify: "NotifyStage", accept: "AcceptStage") -> None:
        self._kernel = kernel
        self._parts = notify.parts
        # It registers its parts when it is made.
        self._accept = accept
        self.wake = BatchWake()
        notify.parts.add(BatchWake, self.wake)

    @cached_property
    def runner(self) -> "BatchRunner":
        """Works on a batch, a chunk of people at a time."""
        from tidings.notify.batches.runner import BatchRunner

        return self._parts.get(BatchRunner, stripe=stripe(Stripe.BATCHES))

    @cached_property
    def job(self) -> "ClaimingJob[BatchId]":
        """Takes up batches that are due."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.kernel.durable.wakeup import DueTimer
        from tidings.notify.batches.runner import CLAIM_SETTINGS
        from tidings.notify.batches.store import BATCH_CLAIMS

        return self._parts.make(
            ClaimingJob,
            claims=BATCH_CLAIMS,
            work=self.runner.run,
            name="batches",
            due_timer=DueTimer(self.wake),
            known=self._kernel.presence.known,
            settings=CLAIM_SETTINGS,
        )

    async def free_orphans(self, tx: "WorkerTx") -> int:
        """Free what no living worker has in hand."""
        return await self.job.free_orphans(tx)

    def jobs(self) -> "dict[str, Job]":
        """The runner."""
        return {"batches": self.job}

    def sweeps(self) -> "dict[str, Sweep]":
        """Ledgers of batches that ended long ago."""
        from tidings.notify.batches.store import sweep_ledgers

        async def sweep(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                return await sweep_ledgers(tx, now=self._kernel.clock.now(), limit=most)

        return {"batch_ledgers": sweep}
