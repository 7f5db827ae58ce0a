"""From the queue to the router."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.wakeup import DueTimer
from tidings.notify.dispatch.claim import FairClaimer
from tidings.notify.dispatch.dispatch_batch import Dispatcher
from tidings.notify.dispatch.job import DispatchJob
from tidings.notify.dispatch.schedule import SCHEDULE_SETTINGS, SCHEDULED, ScheduleReleaser

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.composition import CompositionStage
    from tidings.bootstrap.executions import ExecutionsStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class DispatchStage:
    """Takes what was accepted out of the queue, now or at its time."""

    def __init__(
        self,
        kernel: "KernelStage",
        notify: "NotifyStage",
        accept: "AcceptStage",
        composition: "CompositionStage",
        executions: "ExecutionsStage",
    ) -> None:
        self._kernel = kernel
        self.job = DispatchJob(
            db=kernel.db,
            claimer=FairClaimer(kernel.db),
            dispatcher=Dispatcher(
                db=kernel.db,
                loader=composition.facts,
                keyring=kernel.keyring,
                limits=kernel.hot_state.limits,
                steps=composition.steps,
                router=executions.router,
                clock=kernel.clock,
                stripe=stripe(Stripe.DISPATCH),
            ),
            presence=kernel.presence,
            wakeups=kernel.bus.wakeups,
            wake=accept.dispatch_wake,
            express=accept.express_wake,
            metrics=kernel.metrics,
            held_up=lambda: notify.renderer.held_up,
        )
        releaser = ScheduleReleaser(kernel.db, clock=kernel.clock, wake_dispatcher=accept.dispatch_wake.set)
        self.schedule = ClaimingJob(
            kernel.db,
            SCHEDULED,
            releaser.release,
            name="schedule",
            worker_id=kernel.worker_id,
            clock=kernel.clock,
            due_timer=DueTimer(accept.schedule_wake),
            metrics=kernel.metrics,
            settings=SCHEDULE_SETTINGS,
        )

    def jobs(self) -> "dict[str, Job]":
        """The dispatcher, and what is to go out later."""
        return {"dispatch": self.job, "schedule": self.schedule}

    def sweeps(self) -> "dict[str, Sweep]":
        """What was scheduled and is done; bodies that were kept to be shown."""
        from tidings.notify.dispatch.exact_bodies_sweep import BodySweeper
        from tidings.notify.dispatch.schedule import sweep_done

        kernel = self._kernel
        bodies = BodySweeper(kernel.db, lambda: kernel.blobs, kernel.clock)
        return {
            "schedule": lambda most: sweep_done(kernel.db, kernel.clock, limit=most),
            "exact_bodies": bodies.sweep,
            "exact_bodies_unnamed": bodies.sweep_orphans,
        }
