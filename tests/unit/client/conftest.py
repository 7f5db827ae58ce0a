"""A server that plays a part at the transport, and both clients as one, so that every test asks the same of both."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator
from copy import copy
from typing import Any

import httpx2
import pytest

from tidings_client import AsyncTidings, Retries, Tidings

URL = "http://tidings.test"
KEY = "tdk_key_secret"


class PlayedServer:
    """What it answers, one after the other and the last one for good; and what it heard."""

    def __init__(self) -> None:
        self.parts: list[httpx2.Response | Exception] = []
        self.heard: list[httpx2.Request] = []

    def answers(self, *parts: httpx2.Response | Exception) -> None:
        """From now on these."""
        self.parts = list(parts)

    def take(self, request: httpx2.Request) -> httpx2.Response:
        """One request."""
        self.heard.append(request)
        part = self.parts.pop(0) if len(self.parts) > 1 else self.parts[0]
        if isinstance(part, Exception):
            raise part
        return httpx2.Response(part.status_code, headers=part.headers, content=part.content)

    @property
    def bodies(self) -> list[Any]:
        """What was sent."""
        return [json.loads(request.content) for request in self.heard]


class Caller:
    """Either client, called in the same way."""

    def __init__(self, make: Callable[..., Any], server: PlayedServer, **more: Any) -> None:
        self._loop = asyncio.new_event_loop()
        quick = Retries(first_pause=0.001)
        given = {"retries": quick, "transport": httpx2.MockTransport(server.take), **more}
        self.client = make(URL, KEY, **given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*values: Any, **named: Any) -> Any:
            found = getattr(self.client, name)(*values, **named)
            if inspect.isawaitable(found):
                return self._loop.run_until_complete(found)
            if isinstance(found, AsyncIterator):
                return self._loop.run_until_complete(_all(found))
            return list(found) if isinstance(found, Iterator) else found

        return call

    def of(self, resource: str) -> "Caller":
        """The calls of a resource, in the same way."""
        same = copy(self)
        same.client = getattr(self.client, resource)
        return same

    def leave(self) -> None:
        """Close it."""
        self.close()
        self._loop.close()


async def _all(found: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in found]


@pytest.fixture
def server() -> PlayedServer:
    """The other side."""
    return PlayedServer()


@pytest.fixture(params=[Tidings, AsyncTidings])
def call(request: pytest.FixtureRequest, server: PlayedServer) -> Iterator[Caller]:
    """A client of that server; every test runs with both."""
    caller = Caller(request.param, server)
    yield caller
    caller.leave()
