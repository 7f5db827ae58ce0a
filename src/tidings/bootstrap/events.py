"""Events that come from other systems, and that they hear."""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidings.kernel.bus import EventFeed
from tidings.notify.event_feed.read import FeedReader
from tidings.notify.event_subscriptions.change import Broker
from tidings.notify.event_subscriptions.take import MessageTaker
from tidings.notify.received_events.intake import EventIntake

if TYPE_CHECKING:
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.outside_subjects import OutsideSubjects
    from tidings.notify.event_subscriptions.readers import SubscriptionReaders

#: How long the reader of a subscription may be silent before another process takes over.
READER_LEASE: Final = timedelta(seconds=5)


class EventsStage:
    """Takes events in, and lets readers outside hear them."""

    def __init__(self, kernel: "KernelStage", access: "AccessStage", notify: "NotifyStage") -> None:
        self._kernel = kernel
        self._access = access
        self._parts = notify.parts
        notify.parts.add_late(EventFeed, lambda: kernel.bus.feed)
        notify.parts.add_late(Broker, lambda: Broker(kernel.bus.outside))
        self.intake = notify.parts.get(EventIntake)
        kernel.closing.push_async_callback(self.intake.close)

    def jobs(self) -> "dict[str, Job]":
        """Of a process that serves the API as well, and readers of what others publish, where there is a broker."""
        subjects = self._kernel.bus.outside
        return {**self.api_jobs(), **({"event_subscriptions": self.readers(subjects)} if subjects else {})}

    def readers(
        self, subjects: "OutsideSubjects", *, lease: timedelta = READER_LEASE
    ) -> "SubscriptionReaders":
        """Read what others publish there."""
        from tidings.bootstrap.observers import SubscriptionMetrics
        from tidings.notify.event_subscriptions.reader import ReadingParts
        from tidings.notify.event_subscriptions.readers import SubscriptionReaders

        kernel = self._kernel
        reading = ReadingParts(
            db=kernel.db,
            subjects=subjects,
            leases=kernel.hot_state.leases,
            taker=self._parts.get(MessageTaker),
            keyring=kernel.keyring,
            clock=kernel.clock,
            observer=SubscriptionMetrics(self._access.metrics),
            lease=lease,
        )
        return SubscriptionReaders(reading, kernel.changes)

    def api_jobs(self) -> "dict[str, Job]":
        """What ends the waiting for events when the process ends."""
        return {"event_feed": self._parts.get(FeedReader)}

    def sweeps(self) -> "dict[str, Sweep]":
        """Entries of events that may come again, and messages that were refused."""
        from tidings.notify.event_subscriptions.store import REFUSED_KEPT, sweep_refused
        from tidings.notify.received_events.store import sweep_ledger

        async def sweep_received_events(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                return await sweep_ledger(tx, now=self._kernel.clock.now(), limit=most)

        async def sweep_refused_messages(most: int) -> int:
            async with self._kernel.db.platform() as tx:
                before = self._kernel.clock.now() - REFUSED_KEPT
                return await sweep_refused(tx, before=before, limit=most)

        return {
            "received_event_ledger": sweep_received_events,
            "refused_messages": sweep_refused_messages,
        }
