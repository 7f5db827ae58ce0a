"""Stops a body that is too long or too slow, before all of it is read.

A body has a few seconds to begin and then has to keep a walking pace, so that no client holds a place in the
queue with a byte a minute. The clock is the loop's: this is about a real network.
"""

import asyncio

from tidings.kernel.http.asgi import WHOLE_BODY, App, Message, Receive, Scope, Send, header, respond
from tidings.kernel.http.errors import BodyTooLargeError, BodyTooSlowError
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import request_id_of
from tidings.kernel.http.routing import RouteTable

DEFAULT_LIMIT = 1024 * 1024
#: How long a body may take before its pace counts.
GRACE_SECONDS = 20.0
#: Slower than the slowest telephone line.
_LEAST_BYTES_A_SECOND = 4096


class BodyLimit:
    """Lets bodies through up to a length, at a pace."""

    def __init__(
        self,
        app: App,
        *,
        limit: int = DEFAULT_LIMIT,
        by_route: RouteTable[int] | None = None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._app = app
        self._limit = limit
        self._by_route: RouteTable[int] = by_route or RouteTable()
        self._grace = grace_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        by_method, _ = self._by_route.find(scope["path"])
        limit = by_method.get(scope["method"], self._limit)
        whole = scope.get(WHOLE_BODY)
        announced = header(scope, b"content-length")
        too_large = announced is not None and announced.isdigit() and int(announced) > limit
        if too_large or (whole is not None and len(whole) > limit):
            problem = answer(BodyTooLargeError(limit), path=scope["path"], request_id=request_id_of(scope))
            await respond(send, problem.status, problem.body, media_type=MEDIA_TYPE, extra=problem.headers)
            return
        # A body that has arrived as a whole has kept every pace.
        limited = _Limited(receive, limit, self._grace) if whole is None else receive
        await self._app(scope, limited, send)


class _Limited:
    """`receive`, with a count and a deadline until the whole body is here."""

    def __init__(self, receive: Receive, limit: int, grace: float) -> None:
        self._receive = receive
        self._limit = limit
        self._grace = grace
        self._seen = 0
        self._whole = False
        self._began: float | None = None

    async def __call__(self) -> Message:
        if self._whole:
            # The handler waits for the client to hang up; that may take as long as it likes.
            return await self._receive()
        loop = asyncio.get_running_loop()
        if self._began is None:
            self._began = loop.time()
        try:
            async with asyncio.timeout_at(self._began + self._grace + self._seen / _LEAST_BYTES_A_SECOND):
                message = await self._receive()
        except TimeoutError:
            raise BodyTooSlowError from None
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._seen > self._limit:
                raise BodyTooLargeError(self._limit)
        return message
