"""A vendor's HTTP server that plays a recorded part: one raw answer for every request."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

HANG, CLOSE = b"<hang>", b"<close>"
#: Before an answer: it comes after a tenth of a second.
SLOW = b"<slow>"


def answer(status: str, body: bytes = b"", *, headers: str = "") -> bytes:
    """A whole answer as it goes over the wire."""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    )
    return head.encode() + body


class PlayedHttp:
    """What it answers, and what it heard."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = list(parts)
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        #: Each request: its head as text, and its body.
        self.heard: list[tuple[str, bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                sizes = [line for line in head.lower().split("\r\n") if line.startswith("content-length:")]
                body = await reader.readexactly(int(sizes[0].partition(":")[2])) if sizes else b""
                self.heard.append((head, body))
                part = self._parts.pop(0) if len(self._parts) > 1 else self._parts[0]
                if part == HANG:
                    await asyncio.Event().wait()
                if part.startswith(SLOW):
                    await asyncio.sleep(0.1)
                writer.write(part.removeprefix(SLOW).removesuffix(CLOSE))
                await writer.drain()
                if part.endswith(CLOSE):
                    break
        writer.close()
        self._tasks.discard(task)

    async def stop(self) -> None:
        """End what hangs."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def played_http(*parts: bytes) -> AsyncIterator[PlayedHttp]:
    """A server that gives these answers one after the other, and the last one for good."""
    played = PlayedHttp(list(parts))
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0)
    played.port = server.sockets[0].getsockname()[1]
    try:
        yield played
    finally:
        server.close()
        await played.stop()
