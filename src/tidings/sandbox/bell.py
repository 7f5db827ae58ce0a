"""Tells those who watch that something has changed: what live pages of the sandbox wait for."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

#: A comment of a stream, which keeps its connection alive.
KEEP_ALIVE: Final = b": still here\n\n"
_KEEP_ALIVE_SECONDS: Final = 15.0


class Bell:
    """Rings for everybody who watches."""

    def __init__(self) -> None:
        self._watchers: set[asyncio.Event] = set()

    def ring(self) -> None:
        """Something has changed."""
        for watcher in self._watchers:
            watcher.set()

    def watch(self) -> asyncio.Event:
        """An event that is set whenever something changes; hand it to `unwatch` in the end."""
        watcher = asyncio.Event()
        self._watchers.add(watcher)
        return watcher

    def unwatch(self, watcher: asyncio.Event) -> None:
        """No longer."""
        self._watchers.discard(watcher)

    async def rings(self, closing: asyncio.Event) -> AsyncGenerator[bool]:
        """True at once and after each ring, False after a while without one; it ends with `closing`."""
        rang = self.watch()
        ended = asyncio.create_task(closing.wait())
        heard = True
        try:
            while not closing.is_set():
                rang.clear()
                yield heard
                ringing = asyncio.create_task(rang.wait())
                try:
                    done, _ = await asyncio.wait(
                        {ringing, ended}, timeout=_KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                finally:
                    ringing.cancel()
                heard = bool(done)
        finally:
            ended.cancel()
            self.unwatch(rang)
