"""A receiver of webhooks, as a tenant's own service is one: it hears on loopback, and answers as it is told."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HeardCall:
    """One call."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """What `webhook-id` says."""
        return self.headers["webhook-id"]

    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


@dataclass(slots=True, eq=False)
class WebhookReceiver:
    """Answers each call with `status`, or that of its path, unless it hangs."""

    port: int = 0
    scheme: str = "http"
    status: int = 204
    #: More of an answer, for every call.
    answer_headers: dict[str, str] = field(default_factory=dict)
    answer_body: bytes = b""
    #: Of some paths.
    statuses: dict[str, int] = field(default_factory=dict)
    #: Paths that are never answered.
    hanging: set[str] = field(default_factory=set)
    heard: list[HeardCall] = field(default_factory=list)
    #: Calls that are being answered, and the most that there were at once, of each path.
    under_way: dict[str, int] = field(default_factory=dict)
    most_at_once: dict[str, int] = field(default_factory=dict)
    #: While it is set, answers wait.
    held: asyncio.Event | None = None
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)

    def url(self, path: str = "/") -> str:
        """Where it hears."""
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"

    def ids(self) -> list[str]:
        """What was heard, in its order."""
        return [call.id for call in self.heard]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                await self._answer(await self._read(reader), writer)
        writer.close()
        self._tasks.discard(task)

    async def _read(self, reader: asyncio.StreamReader) -> HeardCall:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = [line for line in head.split("\r\n") if line]
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return HeardCall(first.split(" ")[1], headers, body)

    async def _answer(self, call: HeardCall, writer: asyncio.StreamWriter) -> None:
        self.heard.append(call)
        now = self.under_way[call.path] = self.under_way.get(call.path, 0) + 1
        self.most_at_once[call.path] = max(self.most_at_once.get(call.path, 0), now)
        try:
            if call.path in self.hanging:
                await asyncio.Event().wait()
            if self.held is not None:
                await self.held.wait()
            status = self.statuses.get(call.path, self.status)
            more = "".join(f"{name}: {value}\r\n" for name, value in self.answer_headers.items())
            size = f"Content-Length: {len(self.answer_body)}\r\n"
            writer.write(f"HTTP/1.1 {status} Said\r\n{size}{more}\r\n".encode() + self.answer_body)
            await writer.drain()
        finally:
            self.under_way[call.path] -= 1

    async def stop(self) -> None:
        """End what hangs."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def webhook_receiver(context: ssl.SSLContext | None = None) -> AsyncIterator[WebhookReceiver]:
    """A receiver on a port of its own."""
    receiver = WebhookReceiver(scheme="http" if context is None else "https")
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=context)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        await receiver.stop()
        await server.wait_closed()
