"""The server's HTTP/1.1, with an end to everything: how many connections, how long a head may be, and how long it may take.

The parser underneath has no such limits: one header without an end would fill the memory, and a connection
that says nothing would be held for ever. What can't be read as a request gets a problem document too.
"""

import asyncio
import urllib.parse

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import TidingsError
from tidings.kernel.http.connections import Connections
from tidings.kernel.http.errors import HeadTooLargeError, NotHttpError, TooManyConnectionsError
from tidings.kernel.http.exchange import Exchange
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import REQUEST

#: Address and headers together, in bytes.
LONGEST_HEAD = 64 * 1024
MOST_HEADERS = 200
#: From the connection, or the first byte of a later request, to the end of the head.
HEAD_SECONDS = 20.0
#: What is still read after the answer to a request that was not whole.
_MOST_LEFT_OVER = 1024 * 1024


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    #: Shared by all connections of a server; None: any number.
    room: Connections | None = None

    _joined = False
    _head_bytes: int | None = 0
    _left_over = 0
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected: the first head is awaited."""
        super().connection_made(transport)
        if self.room is not None:
            self._joined = self.room.join(self._address)
            if not self._joined:
                self._refuse(TooManyConnectionsError())
                return
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._stop_waiting()
        if self.room is not None and self._joined:
            self.room.leave(self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head has grown too long."""
        if self.transport.is_closing():
            return
        if self._head_bytes is not None:
            # Before the parser keeps it. A head that begins in the middle of `data` counts from the next on.
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes is None:
            return
        if self._head_bytes > LONGEST_HEAD:
            self._refuse(HeadTooLargeError())
        elif self._patience is None and not self.transport.is_closing():
            # It has begun and is not whole; most come as a whole, and need no timer.
            self._wait_for_head()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head_bytes = 0
        self._left_over = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is here."""
        self._head_bytes = None
        self._stop_waiting()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > LONGEST_HEAD or len(self.headers) > MOST_HEADERS:
            self._refuse(HeadTooLargeError())
            # The parser stops at an exception; the answer has been sent.
            raise HeadTooLargeError
        if self.parser.should_upgrade() and self._should_upgrade():
            # The parser stops behind this head; what follows is `handle_websocket_upgrade`.
            self.scope["method"] = self.parser.get_method().decode("ascii")
            return
        self._begin()

    def _begin(self) -> None:
        """Have the request answered, or put it behind the one before: as uvicorn does it, as an exchange of ours."""
        version = self.parser.get_http_version()
        address = httptools.parse_url(self.url)
        path = address.path.decode("ascii")
        self.scope |= {
            "method": self.parser.get_method().decode("ascii"),
            "http_version": version,
            "path": urllib.parse.unquote(path) if "%" in path else path,
            "raw_path": address.path,
            "query_string": address.query or b"",
        }
        before = self.cycle
        self.cycle = Exchange(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def handle_websocket_upgrade(self) -> None:
        """From here on it is a WebSocket, which takes over this connection's place among those that are open."""
        before = self.cycle
        if before is not None and not before.response_complete:
            # It came behind a request that is still being answered: two protocols can't share the connection.
            self._refuse(NotHttpError())
            return
        super().handle_websocket_upgrade()
        taken_over = self.transport.get_protocol()
        if taken_over is self or not self._joined or self.room is None:
            return
        room, address = self.room, self._address
        taken_over.on_lost = lambda: room.leave(address)  # type: ignore[attr-defined]
        self._joined = False

    def on_body(self, body: bytes) -> None:
        """A part of its body is here; after the answer only so much is thrown away."""
        if self.cycle is None or (self.parser.should_upgrade() and self._should_upgrade()):
            return
        if self.cycle.response_complete:
            self._left_over += len(body)
            if self._left_over > _MOST_LEFT_OVER:
                self.transport.close()
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # the server has one sentence for all
        """What arrived can't be read as a request."""
        self._refuse(NotHttpError())

    @property
    def _address(self) -> str | None:
        return self.client[0] if self.client else None

    def _refuse(self, error: TidingsError) -> None:
        if self.transport.is_closing():
            return
        request_id = REQUEST.new(SystemClock().now())
        problem = answer(error, path="", request_id=request_id)
        lines = [
            STATUS_LINE[problem.status],
            f"content-type: {MEDIA_TYPE}\r\n".encode(),
            f"content-length: {len(problem.body)}\r\n".encode(),
            f"x-request-id: {request_id}\r\n".encode(),
            *(f"{name}: {value}\r\n".encode() for name, value in problem.headers),
            b"x-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        ]
        self.transport.write(b"".join(lines) + problem.body)
        self.transport.close()

    def _wait_for_head(self) -> None:
        self._patience = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        # An answer under way is not cut off: its client has begun the next request, and that one is slow.
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def limited_to(room: Connections) -> type[LimitedProtocol]:
    """The protocol of a server that has this much room."""
    return type("RoomyProtocol", (LimitedProtocol,), {"room": room})
