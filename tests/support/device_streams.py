"""Streams of operators' devices for tests: opened by the cookies of a browser, and read as they go."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.bus import DEADLINE
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn
from tidings.bootstrap import System


@dataclass(frozen=True)
class Said:
    """One event of a stream."""

    kind: str
    id: int | None
    data: Any


@dataclass
class HeardStream:
    """What a stream has said so far."""

    task: "asyncio.Task[Any]"
    status: int = 0
    text: str = ""
    came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def said(self) -> list[Said]:
        """Its events, without the greeting and signs of life."""
        found = []
        for block in self.text.split("\n\n")[:-1]:
            lines = dict(line.partition(": ")[::2] for line in block.split("\n") if not line.startswith(":"))
            if "event" in lines:
                place = int(lines["id"]) if "id" in lines else None
                found.append(Said(lines["event"], place, json.loads(lines["data"])))
        return found

    @property
    def told(self) -> list[Said]:
        """What it was told besides the greeting."""
        return [one for one in self.said if one.kind != "hello"]

    @property
    def place(self) -> int:
        """The id that a client would come back with."""
        return max(int(line[4:]) for line in self.text.split("\n") if line.startswith("id: "))

    async def until(self, holds: Callable[["HeardStream"], bool]) -> None:
        """Wait until something holds of what it said."""
        async with asyncio.timeout(DEADLINE):
            while not holds(self):
                self.came.clear()
                await self.came.wait()


@asynccontextmanager
async def live(*systems: System, hears: bool = False) -> AsyncIterator[None]:
    """Processes that tell their streams; where none `hears` what others commit, they look."""
    stop = asyncio.Event()
    jobs = [asyncio.ensure_future(one.backoffice.devices.streams.run(stop)) for one in systems]
    wakeups = [one.kernel.bus.wakeups for one in systems] if hears else []
    jobs += [asyncio.ensure_future(one.run(stop)) for one in wakeups]
    try:
        async with asyncio.timeout(DEADLINE):
            for one in wakeups:
                await one.listening.wait()
        yield
    finally:
        stop.set()
        await asyncio.gather(*jobs)


@asynccontextmanager
async def hearing(
    world: HttpWorld,
    who: SignedIn,
    *,
    after: int | None = None,
    query: str = "",
    headers: dict[str, str] | None = None,
) -> AsyncIterator[HeardStream]:
    """A stream of this device, from its greeting on."""
    cookies = "; ".join(
        f"{name}={who.browser.cookie(name)}" for name in ("tidings_session", "tidings_device")
    )
    given = {"host": "localhost", "cookie": cookies, **(headers or {})}
    if after is not None:
        given["last-event-id"] = str(after)
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/bff/v1/stream",
        "raw_path": b"/bff/v1/stream",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    asked = 0

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == 1:
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        heard.status = message.get("status", heard.status)
        heard.text += message.get("body", b"").decode()
        heard.came.set()

    task = asyncio.ensure_future(world.app(scope, receive, send))
    heard = HeardStream(task)
    task.add_done_callback(lambda _: heard.came.set())
    try:
        await heard.until(lambda one: "event: hello" in one.text or task.done())
        yield heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
