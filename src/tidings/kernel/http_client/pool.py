"""One pool of connections over HTTP: the guard on each address that is connected to, one clock for a request and its hops."""

import asyncio
import math
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from tidings.kernel.egress import Guard, NotAllowedThereError
from tidings.kernel.http_client.answer import HttpAnswer

if TYPE_CHECKING:
    # Heavy (10 MB): only those who send over HTTP pay for it.
    import aiohttp

    from tidings.kernel.http_client.isolated_resolver import IsolatedResolver

_MOST_ANSWER_BYTES: Final = 256 * 1024
#: The part of a request's time in which the host must be reached: who was not has certainly not been asked.
_TO_REACH_IT: Final = 0.9
#: Seconds; less than none would mean no end at all.
_LEAST: Final = 0.001
#: Of a request that was sent on too often.
_TOO_MANY_HOPS: Final = 310


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request."""

    method: str = "POST"
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)

    @classmethod
    def json(
        cls, url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> "HttpRequest":
        """A POST of JSON."""
        kind = {"Content-Type": "application/json"}
        return cls(url=url, headers={**(headers or {}), **kind}, body=msgspec.json.encode(body))


class HttpPool:
    """Connections that are opened to allowed addresses only, and used again."""

    def __init__(
        self,
        *,
        guard: Guard,
        connections: int,
        connect_seconds: float,
        timeout_seconds: float,
        context: ssl.SSLContext | bool = True,
        names_apart: bool = False,
        most_hops: int = 0,
        most_answer_bytes: int = _MOST_ANSWER_BYTES,
    ) -> None:
        """`connections` 0: as many as are asked for. `names_apart`: hosts are strangers' and are looked up in threads of their own.

        `most_hops`: redirects that are followed, where they keep the method and stay at the same scheme, host and port.
        `most_answer_bytes`: of a longer answer the rest is left.
        """
        self._guard = guard
        self._connections = connections
        self._connect_seconds = connect_seconds
        self._timeout_seconds = timeout_seconds
        self._context = context
        self._names_apart = names_apart
        self._most_hops = most_hops
        self._most_answer_bytes = most_answer_bytes
        self._session: aiohttp.ClientSession | None = None
        self._names: IsolatedResolver | None = None
        self._closed = False

    async def ask(
        self,
        request: HttpRequest,
        *,
        within: float | None = None,
        context: ssl.SSLContext | None = None,
    ) -> HttpAnswer:
        """One request; raises what the connection raises (`failure_of` knows what that means).

        With one clock, however many hops it takes. `context`: other certificates than the pool's, for this request.
        """
        if self._closed:
            raise ConnectionAbortedError("the pool is closed")
        session = self._session or self._open()
        usual = self._timeout_seconds
        seconds = usual if within is None else min(within, usual)
        timeout = session.timeout if seconds == usual else self._timeout(seconds)
        ends = asyncio.get_running_loop().time() + seconds
        url = request.url
        for hop in range(self._most_hops + 1):
            async with session.request(
                request.method,
                url,
                data=request.body,
                headers=request.headers,
                allow_redirects=False,
                timeout=timeout,
                ssl=self._context if context is None else context,
            ) as response:
                onward = _same_place(url, response.status, response.headers.get("Location"))
                if onward is None or not self._most_hops:
                    return HttpAnswer(
                        status=response.status,
                        retry_after=response.headers.get("Retry-After"),
                        content=await _whole(response, self._most_answer_bytes),
                        headers=response.headers,
                    )
                url = onward
            if hop < self._most_hops:
                timeout = self._timeout(ends - asyncio.get_running_loop().time())
        return HttpAnswer(status=_TOO_MANY_HOPS, retry_after=None, content=b"")

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
        if self._names is not None:
            await self._names.close()

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._names_apart:
            from tidings.kernel.http_client.isolated_resolver import IsolatedResolver

            self._names = IsolatedResolver()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._connections,
                resolver=self._names,
                ssl=self._context,
                # Shorter than most servers': a request must not meet a connection that is just being closed.
                keepalive_timeout=10,
                socket_factory=self._socket,
            ),
            timeout=self._timeout(self._timeout_seconds),
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers={"User-Agent"},
            headers={"User-Agent": "tidings"},
            trust_env=False,
        )
        return self._session

    def _timeout(self, seconds: float) -> "aiohttp.ClientTimeout":
        import aiohttp

        seconds = max(seconds, _LEAST)
        return aiohttp.ClientTimeout(
            total=seconds,
            connect=min(self._connect_seconds, _TO_REACH_IT * seconds),
            # To the moment: two ends that are rounded up can become one.
            ceil_threshold=math.inf,
        )

    def _socket(self, info: Any) -> socket.socket:
        """Called for the address that is really connected to: no name can be looked up twice in two ways."""
        family, kind, protocol, _, address = info
        if not self._guard(str(address[0])):
            raise NotAllowedThereError("the host's address is not one that we may connect to")
        return socket.socket(family, kind, protocol)


async def _whole(response: "aiohttp.ClientResponse", most: int) -> bytes:
    """What was answered, in however many pieces it comes; of an endless answer the beginning."""
    content = bytearray()
    async for piece in response.content.iter_any():
        content += piece
        if len(content) >= most:
            break
    return bytes(content[:most])


def _same_place(url: str, status: int, location: str | None) -> str | None:
    """Where to go on, if the redirect keeps the method and stays at the same scheme, host and port."""
    if status not in {307, 308} or not location:
        return None
    here, there = urlsplit(url), urlsplit(location)
    if not there.netloc and location.startswith("/") and not location.startswith("//"):
        return f"{here.scheme}://{here.netloc}{location}"
    return location if (here.scheme, here.netloc) == (there.scheme, there.netloc) else None
