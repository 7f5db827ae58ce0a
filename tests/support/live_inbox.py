"""Live streams of inboxes over loopback: a process that serves them, and clients that keep what they hear."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.support.pipeline import Sender
from tidings.bootstrap import System
from tidings.kernel.durable.jobs import Job
from tidings.kernel.http.serve import HttpServer, address_of, listen

#: Long enough for a slow and busy machine; nothing is asserted about it.
DEADLINE = 60.0


@dataclass(frozen=True, kw_only=True)
class LiveProcess:
    """A process whose streams are told what happens."""

    system: System
    url: str
    #: Ends it as a stop of the process does.
    stop: asyncio.Event

    @property
    def socket_url(self) -> str:
        return self.url.replace("http:", "ws:") + "/api/v1/inbox/ws"


@asynccontextmanager
async def live_process(system: System) -> AsyncIterator[LiveProcess]:
    """The system's application on a port, its hub, and the connection that hears of changes."""
    listener, stop = listen("127.0.0.1", 0), asyncio.Event()
    server = HttpServer(system.app, listener=listener, drain_seconds=1)
    await server.start()
    jobs: list[Job] = [system.kernel.bus.wakeups, system.inbox.live]
    running = [asyncio.create_task(job.run(stop)) for job in jobs]
    try:
        async with asyncio.timeout(DEADLINE):
            await system.kernel.bus.wakeups.listening.wait()
        yield LiveProcess(system=system, url=address_of(listener), stop=stop)
    finally:
        stop.set()
        await asyncio.gather(*running)
        await server.stop()


async def token_of(sender: Sender, recipient_id: str, **wish: Any) -> str:
    """A new inbox token."""
    made = await sender.client.post(f"/api/v1/recipients/{recipient_id}/inbox-tokens", json=wish)
    assert made.status_code == 201, made.text
    return str(made.json()["token"])


@dataclass(kw_only=True)
class Hearer:
    """A client and the messages that it has heard, signs of life left out."""

    heard: list[dict[str, Any]] = field(default_factory=list)
    beats: int = 0
    #: Set when the other side has ended it.
    over: asyncio.Event = field(default_factory=asyncio.Event)
    closed: tuple[int | None, str] | None = None
    retries: list[int] = field(default_factory=list)
    socket: ClientConnection | None = None
    _came: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def last_id(self) -> int | None:
        ids = [one["id"] for one in self.heard if "id" in one]
        return ids[-1] if ids else None

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [one for one in self.heard if one["type"] in kinds]

    async def until(self, condition: Any) -> Self:
        """Wait until what was heard is as the condition wants it."""
        async with asyncio.timeout(DEADLINE), self._came:
            await self._came.wait_for(lambda: condition(self))
        return self

    async def until_told(self, count: int, *kinds: str) -> list[dict[str, Any]]:
        """So many messages of these kinds."""
        await self.until(lambda it: len(it.of(*kinds)) >= count)
        return self.of(*kinds)

    async def until_over(self) -> tuple[int | None, str] | None:
        async with asyncio.timeout(DEADLINE):
            await self.over.wait()
        return self.closed

    async def take(self, message: dict[str, Any]) -> None:
        async with self._came:
            if message["type"] == "heartbeat":
                self.beats += 1
            else:
                self.heard.append(message)
            self._came.notify_all()

    async def say(self, **what: str) -> None:
        assert self.socket is not None
        await self.socket.send(json.dumps(what))


@asynccontextmanager
async def by_socket(
    process: LiveProcess, token: str, *, after: int | None = None, as_browser: bool = True, **options: Any
) -> AsyncIterator[Hearer]:
    """A WebSocket: as a browser opens it, or with a header."""
    if as_browser:
        options |= {"subprotocols": [Subprotocol("tidings.inbox"), Subprotocol(token)]}
    else:
        options |= {"additional_headers": {"Authorization": f"Bearer {token}"}}
    query = "" if after is None else f"?after={after}"
    hearer = Hearer()
    async with connect(process.socket_url + query, compression=None, **options) as socket:
        hearer.socket = socket
        listening = asyncio.create_task(_hear_socket(socket, hearer))
        try:
            yield hearer
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def _hear_socket(socket: ClientConnection, hearer: Hearer) -> None:
    try:
        async for message in socket:
            await hearer.take(json.loads(message))
    except ConnectionClosed:
        pass
    hearer.closed = socket.close_code, socket.close_reason or ""
    hearer.over.set()


@asynccontextmanager
async def by_sse(process: LiveProcess, token: str, *, after: int | None = None) -> AsyncIterator[Hearer]:
    """Server-sent events; what they hold has to be what a socket would have said."""
    headers = {"Authorization": f"Bearer {token}"} | ({} if after is None else {"Last-Event-ID": str(after)})
    hearer = Hearer()
    async with (
        httpx2.AsyncClient(base_url=process.url, headers=headers, timeout=DEADLINE) as client,
        client.stream("GET", "/api/v1/inbox/stream") as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        listening = asyncio.create_task(_hear_until_over(answer, hearer))
        try:
            yield hearer
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def _hear_until_over(answer: httpx2.Response, hearer: Hearer) -> None:
    await hear_events(answer, hearer)
    hearer.over.set()


async def hear_events(answer: httpx2.Response, hearer: Hearer) -> None:
    """Server-sent events until they end; what came only in part was not heard."""
    event: dict[str, str] = {}
    with suppress(httpx2.HTTPError):
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if line.startswith(":"):
                await hearer.take({"type": "heartbeat"})
            elif line.startswith("retry"):
                hearer.retries.append(int(value))
            elif line:
                event[name] = value
            elif event:
                message = json.loads(event["data"])
                assert message["type"] == event["event"]
                assert str(message.get("id", "")) == event.get("id", "")
                event = {}
                await hearer.take(message)
