"""A mail server in a thread of its own that counts what it was given, and takes its time to say so."""

import asyncio
import contextlib
import random
import re
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

_MESSAGE_ID = re.compile(rb"^Message-ID: <([^@>]+)", re.MULTILINE | re.IGNORECASE)
_EHLO = b"250-vendor\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n"


class CountingVendor:
    """Remembers when each message came, by the id in its Message-ID; its loop may run others' work too."""

    def __init__(self, *, seed: int = 0, hold: float = 0.0) -> None:
        """`hold`: seconds that an answer is held back at most, so that calls are under way when somebody dies."""
        self._luck = random.Random(seed)
        self._hold = hold
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.port = 0
        #: When each came, as `time.monotonic()` has it.
        self.came: dict[str, list[float]] = {}
        #: The same, one after the other.
        self.moments: list[float] = []

    @property
    def count(self) -> int:
        """How many came."""
        return len(self.moments)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = self.run(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self._leave())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run something beside the server."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something beside the server, to its end."""
        return self.begin(work).result(120)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _leave(self) -> None:
        self._server.close()
        ours = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in ours:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.write(b"220 vendor ESMTP\r\n")
            while True:
                verb = (await reader.readuntil(b"\r\n"))[:4].upper()
                if verb == b"EHLO":
                    writer.write(_EHLO)
                elif verb == b"DATA":
                    writer.write(b"354 go ahead\r\n")
                    await self._take(await reader.readuntil(b"\r\n.\r\n"))
                    writer.write(b"250 2.0.0 taken\r\n")
                elif verb == b"QUIT":
                    break
                else:
                    writer.write(b"250 ok\r\n")
        with contextlib.suppress(OSError):
            writer.close()

    async def _take(self, mail: bytes) -> None:
        found = _MESSAGE_ID.search(mail)
        assert found is not None, "a mail without a Message-ID"
        now = time.monotonic()
        self.moments.append(now)
        self.came.setdefault(found[1].decode(), []).append(now)
        if self._hold:
            await asyncio.sleep(self._luck.random() * self._hold)
