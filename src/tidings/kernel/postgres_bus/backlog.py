"""Looks at what waits: events that no relay has moved, and events that a group has not read.

What moves is counted by the relay or consumer that moves it. Only an observer apart from them sees that nothing does.
"""

import asyncio
from functools import cache
from typing import LiteralString

from tidings.kernel.bus import BusObserver
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import DatabaseError
from tidings.kernel.sql import Queries


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


class Backlog:
    """Tells the observer how long the oldest event has waited, in each outbox and for each group."""

    def __init__(self, db: Database, observer: BusObserver, *, every_seconds: float) -> None:
        self._db = db
        self._observer = observer
        self._every = every_seconds
        self._outboxes: dict[LiteralString, Queries] = {}
        self._groups: set[str] = set()

    def watch_outbox(self, schema: LiteralString) -> None:
        """Look at this one from now on."""
        self._outboxes[schema] = _queries(schema)

    def watch_group(self, group: str) -> None:
        """Look at this one from now on."""
        self._groups.add(group)

    async def run(self, stop: asyncio.Event) -> None:
        """Look until told to stop; while the database is away there is nothing to see."""
        while not await wait_for_stop(stop, self._every):
            try:
                await self.look()
            except DatabaseError:
                continue

    async def look(self) -> None:
        """One look."""
        async with self._db.worker() as tx:
            waiting = {
                schema: await tx.fetch_value(queries.oldest_in_outbox)
                for schema, queries in self._outboxes.items()
            }
            # The schema does not matter to a query that does not name it.
            unread = _queries("notification").oldest_unread
            behind = {group: await tx.fetch_value(unread, group=group) for group in sorted(self._groups)}
        for schema, seconds in waiting.items():
            self._observer.waiting(schema, max(seconds or 0.0, 0.0))
        for group, seconds in behind.items():
            self._observer.behind(group, max(seconds or 0.0, 0.0))
