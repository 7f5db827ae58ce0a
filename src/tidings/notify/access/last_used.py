"""Writes down when a key was last used, away from the request and at most once a minute per key."""

import asyncio
from datetime import datetime, timedelta

from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import DatabaseError
from tidings.kernel.logs import get_logger
from tidings.notify.access import store
from tidings.notify.access.model import ApiKey
from tidings.notify.ids import ApiKeyId

INTERVAL = timedelta(minutes=1)
_EVERY_SECONDS = 5.0
_MOST_PENDING = 50_000
_log = get_logger("access")


class LastUsed:
    """Collects uses in memory; its job writes them in sets. What is lost in a crash is a time stamp."""

    def __init__(self, db: Database, *, every_seconds: float = _EVERY_SECONDS) -> None:
        self._db = db
        self._every = every_seconds
        self._pending: dict[ApiKeyId, datetime] = {}

    def note(self, key: ApiKey, at: datetime) -> None:
        """The key was used."""
        if key.last_used_at is not None and at - key.last_used_at < INTERVAL:
            return
        if len(self._pending) < _MOST_PENDING or key.id in self._pending:
            self._pending.setdefault(key.id, at)

    async def flush(self) -> int:
        """Write what was collected; how many keys were touched."""
        pending, self._pending = self._pending, {}
        if not pending:
            return 0
        async with self._db.platform() as tx:
            return await store.touch_keys(tx, dict(sorted(pending.items())), interval=INTERVAL)

    async def run(self, stop: asyncio.Event) -> None:
        """Write every few seconds, and once more at the end."""
        stopping = False
        while not stopping:
            stopping = await wait_for_stop(stop, self._every)
            try:
                await self.flush()
            except DatabaseError as error:
                # A time stamp is not worth an alarm; the next use writes it.
                _log.warning("last_used_not_written", code=error.code)
