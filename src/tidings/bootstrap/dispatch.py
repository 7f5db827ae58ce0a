"""From the queue to the router."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.contracts.delivery import InProcessRouter
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.wakeup import DueTimer
from tidings.notify.dispatch.dispatch_batch import Dispatcher
from tidings.notify.dispatch.job import DispatchJob
from tidings.notify.schedule.release import SCHEDULE_SETTINGS, SCHEDULED, ScheduleReleaser

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.notify.dispatch.untaken import UntakenSweeper


class DispatchStage:
    """Takes what was accepted out of the queue, now or at its time."""

    def __init__(
        self,
        kernel: "KernelStage",
        notify: "NotifyStage",
        accept: "AcceptStage",
        *,
        router: InProcessRouter,
        untaken: "UntakenSweeper",
    ) -> None:
        self._kernel = kernel
        self._parts = parts = notify.parts
        self._untaken = untaken
        dispatcher = parts.get(Dispatcher, router=router, stripe=stripe(Stripe.DISPATCH))
        self.job = parts.get(
            DispatchJob,
            wake=accept.dispatch_wake,
            express=accept.express_wake,
            held_up=lambda: notify.renderer.held_up | dispatcher.waiting,
            apart=lambda tenant: notify.renderer.slow_lately(tenant) or tenant in dispatcher.waiting,
        )
        releaser = parts.get(
            ScheduleReleaser,
            acceptor=accept.acceptor_of(Stripe.SCHEDULE),
            wake_dispatcher=accept.wake_dispatchers,
        )
        self.schedule = parts.make(
            ClaimingJob,
            claims=SCHEDULED,
            work_on_set=releaser.release,
            name="schedule",
            due_timer=DueTimer(accept.schedule_wake),
            settings=SCHEDULE_SETTINGS,
        )

    def jobs(self) -> "dict[str, Job]":
        """The dispatcher, and what is to go out later."""
        return {"dispatch": self.job, "schedule": self.schedule}

    def sweeps(self) -> "dict[str, Sweep]":
        """What was scheduled and is done; bodies that were kept to be shown; hand-overs that no router has taken."""
        from tidings.notify.dispatch.exact_bodies_sweep import BodySweeper
        from tidings.notify.schedule.release import sweep_done

        kernel, bodies = self._kernel, self._parts.get(BodySweeper)
        return {
            "schedule": lambda most: sweep_done(kernel.db, kernel.clock, limit=most),
            "exact_bodies": bodies.sweep,
            "exact_bodies_unnamed": bodies.sweep_orphans,
            "untaken_hand_overs": self._untaken.sweep,
        }
