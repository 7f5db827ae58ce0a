"""Request and reply inside one test: bytes pass, as between processes, and a test says who is there."""

import asyncio
from collections.abc import Callable

from tidings.kernel.errors import TidingsError
from tidings.kernel.requests import NoReplyError, RequestFailedError, RequestHandler


class LocalRequests:
    """What all systems of a test share; the last that serves a subject answers."""

    def __init__(self) -> None:
        self._handlers: dict[str, RequestHandler] = {}
        #: What was asked, by subject.
        self.asked: list[str] = []
        #: All that passed.
        self.passed: list[bytes] = []
        #: Whether a request of that subject finds nobody, or loses its reply.
        self.unheard: Callable[[str], bool] = lambda _: False
        self.reply_lost: Callable[[str], bool] = lambda _: False

    async def call(self, subject: str, payload: bytes, *, timeout: float) -> bytes:
        self.asked.append(subject)
        self.passed.append(payload)
        handler = self._handlers.get(subject)
        if handler is None or self.unheard(subject):
            raise NoReplyError
        try:
            reply = await handler(payload)
        except TidingsError as error:
            raise RequestFailedError(error.code) from None
        if self.reply_lost(subject):
            raise NoReplyError
        self.passed.append(reply)
        return reply

    def serve(self, subject: str, handler: RequestHandler) -> None:
        self._handlers[subject] = handler

    async def run(self, stop: asyncio.Event) -> None:
        await stop.wait()

    async def check(self) -> None:
        """It is there."""
