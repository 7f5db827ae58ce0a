"""Apple's end of HTTP/2: the one protocol of a vendor that the sandbox's web server can't speak."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from tidings.sandbox.http2_connection import Bounds, Http2Connection
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse

_NAME: Final = "apns"
_MOST_CONNECTIONS: Final = 100
#: What Apple says before it has looked at a message: who sends it, and whether it is one.
_UNPROVEN: Final = frozenset({403, 404, 405})


class ApnsSandbox:
    """Listens for senders of notifications."""

    def __init__(
        self,
        handle: Callable[[SandboxRequest], SandboxResponse],
        *,
        tls: ssl.SSLContext | None = None,
        bounds: Bounds | None = None,
        most_connections: int = _MOST_CONNECTIONS,
    ) -> None:
        """`handle` finds a vendor by the first step of a path; without `tls` it speaks in the clear, with prior knowledge."""
        self.bounds = bounds or Bounds()
        self.connections: set[Http2Connection] = set()
        self._handle = handle
        self._tls = tls
        self._most_connections = most_connections
        self._server: asyncio.Server | None = None
        self._over = False

    async def start(self, host: str, port: int) -> int:
        """Listen; 0 for any free port. The port that it is."""
        self._over = False
        if self._tls is not None:
            self._tls.set_alpn_protocols(["h2"])
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Http2Connection(self),
            host,
            port,
            ssl=self._tls,
            ssl_handshake_timeout=None if self._tls is None else self.bounds.handshake,
        )
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        """Close all."""
        self._over = True
        if self._server is not None:
            self._server.close()
            for connection in list(self.connections):
                connection.drop()
            # A connection that has not agreed on TLS yet can't be dropped, and ends by itself.
            with suppress(TimeoutError):
                async with asyncio.timeout(self.bounds.parting):
                    await self._server.wait_closed()

    # --- what connections tell

    def joined(self, connection: Http2Connection) -> bool:
        """Whether there is room for one more."""
        if self._over or len(self.connections) >= self._most_connections:
            return False
        self.connections.add(connection)
        return True

    def left(self, connection: Http2Connection) -> None:
        """One less."""
        self.connections.discard(connection)

    def take(self, request: SandboxRequest) -> SandboxResponse:
        """`/3/device/…` is Apple's; `/apns_backup/3/device/…` is that of an account of this name."""
        first = request.path.strip("/").partition("/")[0]
        if first == _NAME or first.startswith(f"{_NAME}_"):
            return self._handle(request)
        return self._handle(replace(request, path=f"/{_NAME}/{request.path.lstrip('/')}"))

    def proves(self, answer: SandboxResponse) -> bool:
        """Apple lets a connection send one at a time until one came with a token that is good."""
        return answer.status not in _UNPROVEN
