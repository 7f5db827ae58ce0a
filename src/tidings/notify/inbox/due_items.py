"""Items that something becomes of by itself: a snooze that ends brings its item back on top, and what has expired is removed."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import groupby

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.locked_sets import LockedSetJob, LockedSetSettings, SetTurn
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger
from tidings.kernel.metrics import Metrics
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox import store
from tidings.notify.inbox.change import InboxChanger
from tidings.notify.inbox.model import InboxItem, InboxKey
from tidings.notify.metrics import NotifyMetrics

_log = get_logger("inbox")


@dataclass(slots=True, eq=False, repr=False)
class DueItems:
    """Deals with sets of them, inbox by inbox under its lock; who finds an item that another process has dealt with leaves it."""

    db: Database
    _: KW_ONLY
    changer: InboxChanger
    clock: Clock
    metrics: NotifyMetrics

    async def deal_with(self, key: InboxKey, ids: Sequence[InboxItemId]) -> int:
        """What is due of one inbox; how many items were changed."""
        now = self.clock.now()
        async with self.db.tenant(key.tenant_id, by_index=True) as tx:
            inbox, items = await self.changer.open(tx, key, ids)
            due = [item for item in items if item.due_at is not None and item.due_at <= now]
            # In the order in which they came, so that the newest is on top again.
            due.sort(key=lambda item: item.place)
            places = {item.id: inbox.latest + number for number, item in enumerate(due, start=1)}

            def dealt_with(item: InboxItem) -> InboxItem:
                return item.removed(now) if item.expires_at <= now else item.returned(places[item.id])

            done = await self.changer.write(tx, key, inbox, due, dealt_with)
        expired = sum(item.expires_at <= now for item in due)
        self.metrics.inbox_items.labels("expired").inc(expired)
        self.metrics.inbox_items.labels("returned").inc(len(due) - expired)
        return done.changed


class DueItemsJob(LockedSetJob):
    """Looks for what is due, and sleeps until the next item is."""

    def __init__(
        self,
        due: DueItems,
        *,
        db: Database,
        clock: Clock,
        observed: Metrics,
        settings: LockedSetSettings | None = None,
    ) -> None:
        self._settings = settings or LockedSetSettings()
        super().__init__(wakeup=Wakeup(), clock=clock, settings=self._settings)
        self._due = due
        self._db = db
        self._metrics = observed

    async def turn(self) -> SetTurn:
        """One set of items."""
        async with self._db.worker() as tx:
            found = await store.find_due(tx, now=self._clock.now(), limit=self._settings.limit)
            next_at = await store.next_due(tx) if not found else None
        if not found:
            return self.sleep_until(next_at)
        ordered = sorted(found, key=lambda one: (store.name_of(one[0]), one[1]))
        done = 0
        for _, some in groupby(ordered, key=lambda one: store.name_of(one[0])):
            of_inbox = list(some)
            done += await self._due.deal_with(of_inbox[0][0], [id_ for _, id_ in of_inbox])
        return SetTurn(done=done)

    def failed(self, error: TidingsError, seconds: float) -> None:
        """It goes on after a pause."""
        self._metrics.job_failures.labels("inbox_due").inc()
        _log.error("inbox_due_failed", code=error.code, retry_seconds=seconds)
