"""Events that come from other systems, and that they hear."""

from typing import TYPE_CHECKING

from tidings.kernel.bus import EventFeed
from tidings.notify.event_feed.read import FeedReader
from tidings.notify.received_events.intake import EventIntake

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class EventsStage:
    """Takes events in, and lets readers outside hear them."""

    def __init__(self, kernel: "KernelStage", notify: "NotifyStage") -> None:
        self._kernel = kernel
        self._parts = notify.parts
        notify.parts.add_late(EventFeed, lambda: kernel.bus.feed)
        self.intake = notify.parts.get(EventIntake)
        kernel.closing.push_async_callback(self.intake.close)

    def jobs(self) -> "dict[str, Job]":
        """Of a process that serves the API as well."""
        return self.api_jobs()

    def api_jobs(self) -> "dict[str, Job]":
        """What ends the waiting for events when the process ends."""
        return {"event_feed": self._parts.get(FeedReader)}

    def sweeps(self) -> "dict[str, Sweep]":
        """Entries of events that may come again."""
        from tidings.notify.received_events.store import sweep_ledger

        async def sweep_received_events(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                return await sweep_ledger(tx, now=self._kernel.clock.now(), limit=most)

        return {"received_event_ledger": sweep_received_events}
