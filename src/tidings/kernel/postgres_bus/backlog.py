"""Looks at what waits: events that no relay has moved, and events that a group has not read.

What moves is counted by the relay or consumer that moves it. Only an observer apart from them sees that nothing does.
"""

import asyncio
from functools import cache
from typing import LiteralString

from tidings.kernel.bus import BusObserver, BusUnavailableError, Subscription
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import DatabaseError
from tidings.kernel.postgres_bus.event_stream import EventStream
from tidings.kernel.sql import Queries


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


class Backlog:
    """Tells the observer how long the oldest event has waited, in each outbox and for each group."""

    def __init__(
        self, db: Database, stream: EventStream, observer: BusObserver, *, every_seconds: float
    ) -> None:
        self._db = db
        self._stream = stream
        self._observer = observer
        self._every = every_seconds
        self._outboxes: dict[LiteralString, Queries] = {}
        self._groups: dict[str, Subscription] = {}

    def watch_outbox(self, schema: LiteralString) -> None:
        """Look at this one from now on."""
        self._outboxes[schema] = _queries(schema)

    def watch_group(self, subscription: Subscription) -> None:
        """Look at this one from now on."""
        self._groups[subscription.group] = subscription

    async def run(self, stop: asyncio.Event) -> None:
        """Look until told to stop; while the database or the stream is away there is nothing to see."""
        while not await wait_for_stop(stop, self._every):
            try:
                await self.look()
            except (DatabaseError, BusUnavailableError):
                continue

    async def look(self) -> None:
        """One look; what waits in the outboxes is told even while the stream is away."""
        for schema, seconds in (await self.oldest_in_outboxes()).items():
            self._observer.waiting(schema, seconds)
        for group, seconds in (await self.oldest_of_groups()).items():
            self._observer.behind(group, seconds)

    async def oldest_in_outboxes(self) -> dict[str, float]:
        """How many seconds the oldest event of each has waited; 0 where none waits."""
        async with self._db.worker() as tx:
            return {
                schema: max(await tx.fetch_value(queries.oldest_in_outbox) or 0.0, 0.0)
                for schema, queries in self._outboxes.items()
            }

    async def oldest_of_groups(self) -> dict[str, float]:
        """How many seconds ago the oldest event was published that a group has not read; 0 where there is none."""
        groups = [self._groups[group] for group in sorted(self._groups)]
        found = await self._stream.oldest_unread(self._db, groups)
        return {group: max(unread or 0.0, 0.0) for group, unread in found.items()}
