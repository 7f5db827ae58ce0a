"""The sandbox over HTTP: the vendor's endpoint, what was received, the faults, and the page.

Its own small server rather than the API's, because it has to be able to hang, to break off and to talk nonsense.
"""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import httptools

from tidings.kernel.errors import TidingsError
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.sandbox.connection_limits import ConnectionLimits, IdleTimer
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse

_MOST_BODY = 25 * 1024 * 1024
_MOST_HEAD = 64 * 1024
_REASONS = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    307: "Temporary Redirect",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    410: "Gone",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_LOCAL_NAMES = frozenset({"localhost", "sandbox", ""})

Handle = Callable[[SandboxRequest], SandboxResponse]


class HttpSandbox:
    """Listens for requests."""

    def __init__(self, handle: Handle, *, welcome: ConnectionLimits | None = None) -> None:
        self.handle = handle
        self.welcome = welcome or ConnectionLimits()
        self.connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; 0 for any free port. The port that it is."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), host, port, backlog=1024)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        """Close all."""
        if self._server is not None:
            self._server.close()
            for connection in list(self.connections):
                connection.drop()
            await self._server.wait_closed()


class _Connection(asyncio.Protocol):
    """One connection; requests one after the other."""

    def __init__(self, server: HttpSandbox) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: list[SandboxRequest] = []
        self._task: asyncio.Task[None] | None = None
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._silence: IdleTimer | None = None
        self._begin()

    def _begin(self) -> None:
        self._target = bytearray()
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._head_bytes = 0

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._server.welcome.has_room(len(self._server.connections)):
            self._write(
                SandboxResponse(status=503, body=b"the sandbox holds no more connections\n"), close=True
            )
            return
        self._server.connections.add(self)
        self._silence = IdleTimer(
            self._server.welcome.silence, self.drop, busy=lambda: self._task is not None
        )

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """They are gone."""
        self._server.connections.discard(self)
        if self._silence is not None:
            self._silence.over()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        """They read slowly."""
        self._can_write.clear()

    def resume_writing(self) -> None:
        """They have caught up."""
        self._can_write.set()

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        if self._silence is None:
            return
        self._silence.heard()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, _TooMuchError):
            self._write(
                SandboxResponse(status=400, body=b"this is not a request that the sandbox can read\n"),
                close=True,
            )

    # --- what the parser calls

    def on_message_begin(self) -> None:
        """A request begins."""
        self._begin()

    def on_url(self, url: bytes) -> None:
        """Its target."""
        self._target += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        self._count(len(name) + len(value))
        self._headers[name.decode("latin-1").lower()] = value.decode("utf-8", "replace")

    def on_body(self, body: bytes) -> None:
        """A piece of its body."""
        self._body += body
        if len(self._body) > _MOST_BODY:
            raise _TooMuchError

    def on_message_complete(self) -> None:
        """It is whole."""
        parts = urlsplit(bytes(self._target).decode("utf-8", "replace"))
        self._waiting.append(
            SandboxRequest(
                method=self._parser.get_method().decode("ascii"),
                path=unquote(parts.path) or "/",
                query=parts.query.encode(),
                headers=self._headers,
                body=bytes(self._body),
            )
        )
        self._next()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > _MOST_HEAD:
            raise _TooMuchError

    # --- answering

    def drop(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.abort()

    def _next(self) -> None:
        while self._waiting and self._task is None:
            request = self._waiting.pop(0)
            found = self._handled(request)
            close = request.headers.get("connection", "").lower() == "close"
            if found.hold is None and found.stream is None and found.later is None:
                self._write(found, close=close)
            else:
                self._task = asyncio.get_running_loop().create_task(
                    self._later(found, request.path, close=close)
                )

    def _handled(self, request: SandboxRequest) -> SandboxResponse:
        try:
            if not _from_here(request.headers, self._transport):
                return SandboxResponse(
                    status=403, body=b"the sandbox answers to its own page and to programs only\n"
                )
            return self._server.handle(request)
        except TidingsError as error:
            return _problem(error, request.path)

    async def _later(self, found: SandboxResponse, path: str, *, close: bool) -> None:
        if found.later is not None:
            try:
                found = await found.later
            except TidingsError as error:
                found = _problem(error, path)
            except Exception:
                self.drop()
                raise
        match found.hold:
            case HeldResponse(kind="hang"):
                await asyncio.sleep(found.hold.seconds or 86400)
                self.drop()
                return
            case HeldResponse(kind="close"):
                self.drop()
                return
            case HeldResponse(kind="slow"):
                await asyncio.sleep(found.hold.seconds or 1)
            case HeldResponse(kind="garbage") if self._transport is not None:
                self._transport.write(b"\x00\xffNOT HTTP AT ALL \xfe\r\n{]}\r\n\r\n")
                self._transport.close()
                return
        if found.stream is not None:
            await self._stream(found, found.stream)
        else:
            self._write(found, close=close)
        self._task = None
        self._next()

    async def _stream(self, found: SandboxResponse, stream: AsyncIterator[bytes]) -> None:
        if self._transport is None:
            return
        self._transport.write(_head(found, {"transfer-encoding": "chunked"}))
        async for piece in stream:
            await self._can_write.wait()
            self._transport.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self._transport.write(b"0\r\n\r\n")

    def _write(self, found: SandboxResponse, *, close: bool) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        extra = {"content-length": str(len(found.body))}
        if close:
            extra["connection"] = "close"
        self._transport.write(_head(found, extra) + found.body)
        if close:
            self._transport.close()


class _TooMuchError(Exception):
    """The request is larger than the sandbox takes."""


def _problem(error: TidingsError, path: str) -> SandboxResponse:
    problem = answer(error, path=path, request_id="")
    return SandboxResponse(status=problem.status, body=problem.body, media_type=MEDIA_TYPE)


def _head(found: SandboxResponse, extra: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {found.status} {_REASONS.get(found.status, 'Answer')}"]
    named = {
        "content-type": found.media_type,
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        **found.headers,
        **extra,
    }
    lines += [f"{name}: {value}" for name, value in named.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _from_here(headers: Mapping[str, str], transport: Any) -> bool:
    """Whether a web page elsewhere is not behind it: such a page names its own origin, or its own host."""
    host = headers.get("host", "")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return False
    local = transport.get_extra_info("sockname") if transport is not None else None
    if not isinstance(local, tuple) or not ipaddress.ip_address(str(local[0])).is_loopback:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name in _LOCAL_NAMES or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name) is not None
    except ValueError:
        return False
