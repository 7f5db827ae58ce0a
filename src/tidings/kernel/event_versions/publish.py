"""Publishes the older version of an event beside the newer one, and knows when that may end.

The newer one is published where it happens. A consumer group of our own hears it and writes the older one into the outbox, in the
transaction that notes the newer one as consumed: it is made once, and in the order of its lane, on every engine of the bus.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.bus import SubjectFilter, Subscription
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantsTx, WorkerTx
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import DatabaseError
from tidings.kernel.event_versions import store
from tidings.kernel.event_versions.model import NOTICE, PublishedVersions, Successor, VersionWindow
from tidings.kernel.events import Event
from tidings.kernel.logs import get_logger
from tidings.kernel.outbox import Outbox

#: The group that makes older versions of newer ones.
GROUP: Final = "kernel.event_versions"
#: A group that was not seen for so long, and never said anything, is no more.
_FORGOTTEN_AFTER: Final = timedelta(days=7)
_EVERY: Final = timedelta(minutes=1)
_log = get_logger("event_versions")

#: Names the groups that there are, with what they read.
KnownGroups = Callable[[WorkerTx], Awaitable[Mapping[str, SubjectFilter]]]


class EventVersions:
    """The versions that are published side by side, as this process knows them."""

    def __init__(
        self,
        successors: Iterable[Successor],
        *,
        db: Database,
        outbox: Outbox,
        clock: Clock,
        groups: Sequence[KnownGroups] = (),
    ) -> None:
        self._successors = {one.subject: one for one in successors}
        #: As they stood at the last look. Until we have looked, all older versions are published.
        self._published = PublishedVersions(self._successors.values())
        self._looked = False
        self._db = db
        self._outbox = outbox
        self._clock = clock
        self._groups = tuple(groups)

    def subscription(self) -> Subscription | None:
        """What makes the older versions; None where no event has a newer one."""
        if not self._successors:
            return None
        return Subscription(
            GROUP,
            tuple(self._successors),
            ledger="notification",
            on_tenants_events=self._publish,
            on_platform_events=self._publish,
        )

    async def _publish(self, tx: TenantsTx | PlatformTx, events: Sequence[Event]) -> None:
        older = [
            successor.older(event)
            for event in events
            if self._published.publishes_older(successor := self._successors[event.subject], event.time)
        ]
        await self._outbox.append(tx, older)

    async def run(self, stop: asyncio.Event) -> None:
        """Look who still reads older versions, until told to stop."""
        while not stop.is_set():
            try:
                await self.look()
            except DatabaseError as error:
                _log.warning("event_versions_not_checked", code=error.code)
            await wait_for_stop(stop, _EVERY.total_seconds())

    async def look(self) -> list[VersionWindow]:
        """One look: note who reads what, and close what nobody needs any more."""
        now, successors = self._clock.now(), list(self._successors.values())
        async with self._db.worker() as tx:
            if successors:
                await store.begin_windows(tx, successors, now=now)
                readers = [
                    (one.replaces, name)
                    for known in self._groups
                    for name, wanted in (await known(tx)).items()
                    for one in successors
                    if name != GROUP and wanted.takes(one.replaces)
                ]
                await store.note_readers(tx, readers, now=now)
                await store.forget_readers(tx, before=now - _FORGOTTEN_AFTER)
            windows = await store.list_windows(tx)
            over = [one.subject for one in windows if one.closed_at is None and one.is_over(now)]
            if over:
                # By the time of each event, and not by when a process learns of it: those who make older versions and those who
                # wait for them agree.
                await store.close_windows(tx, over, at=now + NOTICE)
                _log.info("older_versions_ended", subjects=over)
                windows = await store.list_windows(tx)
        self._published = PublishedVersions(successors, windows)
        self._looked = True
        return windows

    async def published(self) -> PublishedVersions:
        """What is published side by side, at most a minute old."""
        if self._successors and not self._looked:
            await self.look()
        return self._published
