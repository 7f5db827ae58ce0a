"""What a worker runs: a reader for each subscription that is enabled, and the end of those that are deleted.

Any number of processes may run it; a lease for each subscription says which of them reads. A change of a subscription is
announced, and its readers begin anew with what it says now.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup, run_on_wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger, why
from tidings.notify.event_subscriptions import store
from tidings.notify.event_subscriptions.model import EventSubscription
from tidings.notify.event_subscriptions.reader import ReadingParts, SubscriptionReader
from tidings.notify.ids import EventSubscriptionId

_log = get_logger("event_subscriptions")
_TABLE: Final = "notification_platform.event_subscriptions"
#: Seconds between two looks while changes are announced, and while they are not.
_SLOW: Final = 30.0
_FAST: Final = 0.9


@dataclass(slots=True)
class _Running:
    """A reader at work."""

    version: int
    stop: asyncio.Event
    task: asyncio.Task[None]


class SubscriptionReaders:
    """Keeps a reader for each subscription."""

    def __init__(self, parts: ReadingParts, changes: AnnouncedChanges) -> None:
        self._parts = parts
        self._changes = changes
        self._running: dict[EventSubscriptionId, _Running] = {}
        self._wake = Wakeup()
        changes.on(_TABLE, lambda _: self._wake.set())

    async def run(self, stop: asyncio.Event) -> None:
        """Have them read until `stop`."""
        try:
            await run_on_wakeup(
                self._wake, stop, turn=self._turn, failed=self._failed, backoff=Backoff(longest=5.0)
            )
        finally:
            await self._end(list(self._running))

    async def _turn(self) -> float:
        async with self._parts.db.platform() as tx:
            found = await store.all_subscriptions(tx)
        wanted = {one.id: one for one in found if one.enabled and one.deleted_at is None}
        await self._end(
            [id_ for id_, running in self._running.items() if not _is_of(running, wanted.get(id_))]
        )
        for one in found:
            if one.deleted_at is not None:
                await self._forget(one)
        for id_, one in wanted.items():
            if id_ not in self._running:
                ended = asyncio.Event()
                reader = SubscriptionReader(one, self._parts)
                self._running[id_] = _Running(one.version, ended, asyncio.create_task(reader.run(ended)))
        return _SLOW if self._changes.live else _FAST

    async def _end(self, ids: list[EventSubscriptionId]) -> None:
        ending = [self._running.pop(id_) for id_ in ids]
        for one in ending:
            one.stop.set()
        await asyncio.gather(*(one.task for one in ending), return_exceptions=True)

    async def _forget(self, subscription: EventSubscription) -> None:
        """First on the broker, then here: until then it is tried again."""
        async with self._parts.db.platform() as tx:
            known = (await store.find_progress(tx, [subscription.id])).get(subscription.id)
        await self._parts.subjects.remove(subscription.interest(known))
        async with self._parts.db.platform() as tx:
            await store.forget_subscription(tx, subscription.id)
        _log.info("subscription_forgotten", subscription_id=subscription.id)

    def _failed(self, error: TidingsError, pause: float) -> None:
        _log.warning("subscriptions_not_looked_up", retry_seconds=pause, **why(error))


def _is_of(running: _Running, wanted: EventSubscription | None) -> bool:
    return wanted is not None and running.version == wanted.version and not running.task.done()
