"""Bodies that are never whole in memory, to our own API and from it: a file that is imported, an archive that is saved."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from tidings.kernel.http.asgi import App, Message, Receive, Scope

#: Pieces that wait to be taken.
_WAITING: Final = 4


def receiving(content: bytes | AsyncIterator[bytes], *, stays: bool = False) -> Receive:
    """What an application receives: a body as a whole, or piece by piece as it arrives; `stays`: its sender does not hang up then."""
    pieces = _one(content) if isinstance(content, bytes) else content
    over = False

    async def receive() -> Message:
        nonlocal over
        if over:
            if stays:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}
        try:
            return {"type": "http.request", "body": await anext(pieces), "more_body": True}
        except StopAsyncIteration:
            over = True
            return {"type": "http.request", "body": b"", "more_body": False}

    return receive


async def _one(content: bytes) -> AsyncIterator[bytes]:
    yield content


class AnswerStream:
    """An answer that goes on while it is read; `start` is its head, `pieces` its body."""

    def __init__(self, app: App, scope: Scope, content: bytes) -> None:
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue(_WAITING)
        self._task = asyncio.create_task(self._run(app, scope, content))

    async def _run(self, app: App, scope: Scope, content: bytes) -> None:
        try:
            await app(scope, receiving(content, stays=True), self._messages.put)
        except Exception:
            await self._messages.put(None)
            raise
        await self._messages.put(None)

    async def start(self) -> tuple[int, dict[str, str]]:
        """The status and the headers."""
        message = await self._messages.get()
        if message is None:
            await self._task
            return 500, {}
        headers = {str(k, "latin-1").lower(): str(v, "latin-1") for k, v in message.get("headers", ())}
        return int(message["status"]), headers

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body; whoever stops reading ends the work behind it."""
        try:
            while (message := await self._messages.get()) is not None:
                if piece := message.get("body", b""):
                    yield piece
                if not message.get("more_body", False):
                    break
            await self._task
        finally:
            self._task.cancel()

    async def whole(self) -> bytes:
        """All of it."""
        return b"".join([piece async for piece in self.pieces()])
