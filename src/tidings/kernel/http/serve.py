"""Serves an application from inside this process, and stops when told; signals are the caller's business."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import uvicorn

from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.http.asgi import App
from tidings.kernel.http.connections import Connections, room_for
from tidings.kernel.http.protocol import limited_to

_BACKLOG = 2048
#: Bytes of a message from a client over a WebSocket; a longer one ends it (1009).
LONGEST_MESSAGE = 4096
#: Seconds between two pings over a WebSocket, and until the answer has to be there.
PING_SECONDS = 20.0
#: Where no setting says otherwise: those who watch a process are few.
MOST_CONNECTIONS = 1000
MOST_FROM_ONE = 200


def listen(host: str, port: int, *, option: str = "--port") -> socket.socket:
    """Take the port, 0 for any free one; a `NotConfiguredError` that says what to do where it is taken."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise NotConfiguredError(
            f"can't listen on {host}:{port} ({error.strerror or error}); "
            f"stop what uses it, or choose another with {option}"
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL under which this machine reaches it."""
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # noqa: S104  # a link has to name one address
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _socket_protocol(**given: Any) -> asyncio.Protocol:
    # `websockets` takes two megabytes, and most processes serve no inbox.
    from tidings.kernel.http.socket_protocol import RoomySocketProtocol

    return RoomySocketProtocol(**given)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpServer:
    """One listening socket and the loop that serves it."""

    def __init__(
        self,
        app: App,
        *,
        listener: socket.socket,
        drain_seconds: int = 10,
        trusted_proxies: Sequence[str] = (),
        max_connections: int = MOST_CONNECTIONS,
        max_connections_per_address: int = MOST_FROM_ONE,
    ) -> None:
        self._listener = listener
        room = Connections(
            most=room_for(max_connections), most_from_one=max_connections_per_address, proxies=trusted_proxies
        )
        self._task: asyncio.Task[None] | None = None
        self._server = _Server(
            uvicorn.Config(
                app,
                http=limited_to(room),
                ws=_socket_protocol,  # type: ignore[arg-type]  # all that it does with it is to call it
                # What a client may say over a WebSocket is short, and every message of ours is, too: compressing them would
                # cost each connection more memory than all else that it holds.
                ws_max_size=LONGEST_MESSAGE,
                ws_per_message_deflate=False,
                ws_ping_interval=PING_SECONDS,
                ws_ping_timeout=PING_SECONDS,
                lifespan="off",
                log_config=None,
                # A stranger's broken request is no event of ours; it is answered, and that is all.
                log_level="error",
                access_log=False,
                server_header=False,
                # From these alone, `X-Forwarded-For` says who is calling: the last address in it that is none of theirs.
                proxy_headers=bool(trusted_proxies),
                forwarded_allow_ips=list(trusted_proxies),
                backlog=_BACKLOG,
                timeout_graceful_shutdown=drain_seconds,
            )
        )

    async def start(self) -> None:
        """Serve; returns when the first request can be taken."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.005)
        if self._task.done():
            await self._task

    async def stop(self) -> None:
        """Answer what is under way, take nothing new, close."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        self._listener.close()

    async def wait(self) -> None:
        """Until it has ended by itself."""
        if self._task is not None:
            await asyncio.shield(self._task)
