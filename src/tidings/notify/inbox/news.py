"""Tells those who wait for it, in this process, that something has changed in an inbox: the seam of live streams.

It names no change: who is told looks at the inbox. What is missed while the connection to the database was away costs a look
in vain, because then everybody is told.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tidings.kernel.postgres_bus.wakeups import Wakeups
from tidings.kernel.refusals import TooBusyError
from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox.store import name_of

#: Where transactions that change inboxes say which.
CHANNEL: Final = "tidings_inbox"


class InboxNews:
    """Hears of changes of all processes, and calls those who wait for one of these inboxes."""

    def __init__(self, wakeups: Wakeups, *, most: int = 2000) -> None:
        """`most`: listeners of this process."""
        self._most = most
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._count = 0
        self._stopping = False
        wakeups.hear(CHANNEL, self._hear)

    @property
    def stopping(self) -> bool:
        """The process is about to end: whoever waits should come back elsewhere."""
        return self._stopping

    async def run(self, stop: asyncio.Event) -> None:
        """When the process ends, so do all streams: whoever listens is called for the last time."""
        await stop.wait()
        self._stopping = True
        self._hear(None)

    @contextmanager
    def listening(self, key: InboxKey) -> Iterator[asyncio.Event]:
        """An event that is set at every change of this inbox; a `TooBusyError` where too many listen already."""
        if self._count >= self._most:
            raise TooBusyError(
                f"{self._most} listen for news of inboxes here, as many as may; ask for the feed from time to time"
            )
        name, called = name_of(key), asyncio.Event()
        self._waiting.setdefault(name, set()).add(called)
        self._count += 1
        try:
            yield called
        finally:
            self._count -= 1
            mine = self._waiting[name]
            mine.discard(called)
            if not mine:
                del self._waiting[name]

    def _hear(self, payload: str | None) -> None:
        for name in list(self._waiting) if payload is None else payload.split("\n"):
            for called in self._waiting.get(name, ()):
                called.set()
