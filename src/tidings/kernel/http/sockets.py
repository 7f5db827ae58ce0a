"""WebSockets: lets their callers in as any request's, and hands each connection to what serves it.

A browser can't send headers with a WebSocket. What it may send are the protocols that it would speak, and so the token stands
there, behind the protocol itself: `Sec-WebSocket-Protocol: tidings.inbox, <token>`. The answer names the protocol alone. Never
does a token stand in the address, which proxies and browsers write down.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol
from urllib.parse import parse_qsl

from structlog.contextvars import bound_contextvars

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import Message, Receive, Scope, Send, header
from tidings.kernel.http.callers import AccessGuard, Caller, Need
from tidings.kernel.http.errors import NoRouteError
from tidings.kernel.http.problems import MEDIA_TYPE, answer

#: Bytes of a reason beside a close code; the standard leaves room for no more.
_LONGEST_REASON: Final = 123


class CloseCode(IntEnum):
    """Why we close a WebSocket; those from 4000 on are 4000 and the status that a request would get."""

    GOING_AWAY = 1012
    UNSUPPORTED = 1003
    BROKEN = 1011
    BAD_MESSAGE = 4400
    UNAUTHENTICATED = 4401
    NOT_ALLOWED = 4403
    NOT_FOUND = 4404
    TOO_SLOW = 4408
    TOO_MANY = 4429


class SocketGoneError(Exception):
    """The client is gone, or has said so."""


class Socket:
    """One WebSocket connection, once it is accepted."""

    __slots__ = ("_receive", "_send")

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def receive(self) -> str | bytes:
        """The next message; a `SocketGoneError` at the end."""
        message = await self._receive()
        if message["type"] != "websocket.receive":
            raise SocketGoneError
        text: str | None = message.get("text")
        return text if text is not None else bytes(message["bytes"])

    async def send(self, text: str) -> None:
        """Say something; waits while the client takes nothing, and raises a `SocketGoneError` where it is gone."""
        await self._say({"type": "websocket.send", "text": text})

    async def close(self, code: CloseCode, reason: str) -> None:
        """End it, with a reason that may be cut short."""
        short = reason.encode()[:_LONGEST_REASON].decode(errors="ignore")
        await self._say({"type": "websocket.close", "code": int(code), "reason": short})

    async def _say(self, message: Message) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError):  # The server's two ways to say that the connection is closed.
            raise SocketGoneError from None


class ServesSocket(Protocol):
    """What one address does with its connections."""

    async def serve(self, caller: Caller, socket: Socket, query: Mapping[str, str]) -> None:
        """Speak with one client until either side ends it; `query` is what stands behind its address."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketRoute:
    """An address at which WebSockets are served."""

    path: str
    #: The name of the protocol that is spoken: `tidings.inbox`.
    protocol: str
    need: Need
    serves: ServesSocket
    #: What may stand in the query.
    query: frozenset[str] = frozenset()


class Sockets:
    """Finds who serves an address, and lets callers in."""

    def __init__(self, routes: Sequence[SocketRoute], guard: AccessGuard) -> None:
        self._routes = {route.path: route for route in routes}
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, from its handshake to its end."""
        await receive()
        offered: list[str] = scope.get("subprotocols", [])
        route = self._routes.get(scope["path"])
        spoken = route.protocol if route is not None and route.protocol in offered else None
        with bound_contextvars():
            try:
                caller, serves, query = await self._admit(scope, route, offered)
            except Exception as error:  # noqa: BLE001  # as an HTTP request's: a problem, or one that says nothing of the inside
                await _refuse(error, scope, receive, send, spoken=spoken)
                return
            del scope, offered
            await send({"type": "websocket.accept", "subprotocol": spoken})
            try:
                await serves.serve(caller, Socket(receive, send), query)
            except SocketGoneError:
                return

    async def _admit(
        self, scope: Scope, route: SocketRoute | None, offered: Sequence[str]
    ) -> tuple[Caller, ServesSocket, Mapping[str, str]]:
        if route is None:
            raise NoRouteError
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        for name in query.keys() - route.query:
            raise BadValueError(
                name if name.isidentifier() else "the query",
                "is not taken here; where it is a token, do not show it in an address: "
                f"send Sec-WebSocket-Protocol: {route.protocol}, <token>",
            )
        asked = scope
        if header(scope, b"authorization") is None:
            tokens = [one for one in offered if one != route.protocol]
            if len(tokens) == 1 and route.protocol in offered:
                shown = (b"authorization", b"Bearer " + tokens[0].encode("latin-1"))
                asked = {**scope, "headers": [*scope["headers"], shown]}
        return await self._guard.admit(asked, route.need), route.serves, query


async def _refuse(
    error: Exception, scope: Scope, receive: Receive, send: Send, *, spoken: str | None
) -> None:
    """A browser learns nothing of an answer that is no 101: to who asked as one, the close code says it. All others get a problem."""
    problem = answer(error, path=scope["path"], request_id="")
    if spoken is None:
        headers = [(b"content-type", MEDIA_TYPE.encode())]
        headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in problem.headers]
        await send({"type": "websocket.http.response.start", "status": problem.status, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": problem.body})
        return
    await send({"type": "websocket.accept", "subprotocol": spoken})
    codes = {400: CloseCode.BAD_MESSAGE, 401: CloseCode.UNAUTHENTICATED, 403: CloseCode.NOT_ALLOWED}
    codes |= {404: CloseCode.NOT_FOUND, 429: CloseCode.TOO_MANY}
    reason = getattr(error, "code", "internal")
    await Socket(receive, send).close(codes.get(problem.status, CloseCode.BROKEN), reason)
