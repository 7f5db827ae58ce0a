"""A live stream as server-sent events. A piece is written only after the one before it was taken by the connection."""

import asyncio
from collections.abc import AsyncGenerator
from random import uniform
from typing import Final

from tidings.kernel.refusals import UnauthenticatedError
from tidings.notify.inbox.desk import InboxVisitor
from tidings.notify.inbox_live.hub import InboxHub
from tidings.notify.inbox_live.model import Ending

MEDIA_TYPE: Final = "text/event-stream"
#: Seconds that a client waits before it comes back: drawn anew for each, so that those who lost their process together
#: do not come back together.
_RETRY: Final = (1.0, 4.0)
_AFTER_RESTART: Final = (0.5, 8.0)
_VOIDED: Final = "this inbox token was voided; ask the application for a new one"


async def stream(hub: InboxHub, visitor: InboxVisitor, after: int | None) -> AsyncGenerator[bytes]:
    """The pieces. It listens when this returns, and has been told where it stands; until then an error is still an answer of its own."""
    pieces = _pieces(hub, visitor, after)
    await anext(pieces)
    return pieces


async def _pieces(hub: InboxHub, visitor: InboxVisitor, after: int | None) -> AsyncGenerator[bytes]:
    called = asyncio.Event()
    listener = hub.join(
        visitor.key,
        transport="sse",
        since=visitor.since,
        until=visitor.until,
        after=after,
        wake=called.set,
    )
    try:
        await called.wait()
        if listener.ended is Ending.TOKEN_VOIDED:
            raise UnauthenticatedError(_VOIDED)
        yield b""
        yield _retry(_RETRY)
        while True:
            called.clear()
            if frames := listener.take():
                yield "".join(frame.sse for frame in frames).encode()
            if listener.ended is not None and not listener.waiting:
                if listener.ended is Ending.RESTARTING:
                    yield _retry(_AFTER_RESTART)
                yield f'event: end\ndata: {{"type":"end","reason":"{listener.ended}"}}\n\n'.encode()
                return
            if not listener.waiting:
                await called.wait()
    finally:
        hub.leave(listener)


def _retry(seconds: tuple[float, float]) -> bytes:
    return b"retry: %d\n\n" % (uniform(*seconds) * 1000)  # noqa: S311  # spreads them, and keeps no secret
