"""A live stream as server-sent events. A piece is written only after the one before it was taken by the connection."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from tidings.kernel.http.server_events import AFTER_RESTART, SOON, event, retry
from tidings.kernel.refusals import UnauthenticatedError
from tidings.notify.inbox.desk import InboxVisitor
from tidings.notify.inbox_live.hub import InboxHub
from tidings.notify.inbox_live.model import Ending

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
        yield retry(SOON)
        while True:
            called.clear()
            if frames := listener.take():
                yield "".join(frame.sse for frame in frames).encode()
            if listener.ended is not None and not listener.waiting:
                if listener.ended is Ending.RESTARTING:
                    yield retry(AFTER_RESTART)
                yield event("end", f'{{"type":"end","reason":"{listener.ended}"}}')
                return
            if not listener.waiting:
                await called.wait()
    finally:
        hub.leave(listener)
