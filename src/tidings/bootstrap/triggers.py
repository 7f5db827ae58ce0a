"""From an event to what it sends, now or at its time."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.kernel.bus import Subscription
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.triggers import heard_events
from tidings.notify.triggers.make_messages import MessageMaker
from tidings.notify.triggers.plan import TriggerPlanner
from tidings.notify.triggers.registry import TriggerRegistry

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class TriggersStage:
    """Hears events, and makes what triggers say of them."""

    def __init__(self, kernel: "KernelStage", notify: "NotifyStage", accept: "AcceptStage") -> None:
        self._kernel = kernel
        self.registry = notify.parts.get(TriggerRegistry)
        self.planner = notify.parts.get(
            TriggerPlanner,
            maker=notify.parts.make(MessageMaker, acceptor=accept.acceptor_of(Stripe.TRIGGERS)),
            canceller=notify.parts.make(Canceller, stripe=stripe(Stripe.TRIGGERS)),
        )
        self.consumer = kernel.bus.consumer(
            Subscription(
                heard_events.GROUP,
                heard_events.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenants_events=self.planner.handle,
                on_platform_events=heard_events.pass_over,
            )
        )

    def jobs(self) -> "dict[str, Job]":
        """The consumer of events."""
        return {"triggers": self.consumer}

    def sweeps(self) -> "dict[str, Sweep]":
        """What events have led to, and what they were about, when their time is over."""
        from tidings.notify.schedule.firings import sweep_firings
        from tidings.notify.triggers.store import sweep_subjects

        db, clock = self._kernel.db, self._kernel.clock

        async def sweep_old_firings(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_firings(tx, now=clock.now(), limit=most)

        async def sweep_old_subjects(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_subjects(tx, now=clock.now(), limit=most)

        return {"trigger_firings": sweep_old_firings, "trigger_subjects": sweep_old_subjects}
