"""The feed as server-sent events: one connection that brings events as they come, and can be taken up where it ended.

An event is written only after the one before it was taken by the connection, so that a slow reader costs no memory. A stream ends
after some minutes: its reader comes back with `Last-Event-ID`, as browsers do by themselves, and shows its key again.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from tidings.kernel.bus import FeedPage
from tidings.kernel.events import to_cloudevent
from tidings.kernel.refusals import RefusalError
from tidings.notify.event_feed.read import FeedReader, Wanted, behind

#: Seconds between two signs of life, so that no proxy takes the connection for dead.
HEARTBEAT: Final = 15.0
#: Seconds after which a stream ends.
LONGEST: Final = 300.0
#: Milliseconds that a reader waits before it comes back.
_RETRY: Final = 1_000


async def stream(
    reader: FeedReader,
    still_allowed: Callable[[], Awaitable[object]],
    wanted: Wanted,
    *,
    every: float = math.inf,
    heartbeat: float = HEARTBEAT,
    longest: float = LONGEST,
) -> AsyncGenerator[bytes]:
    """The events that come, in the form of server-sent events.

    It listens when this returns: that as many do as may is raised here, while there is still an answer to say it in. It
    listens no longer once the pieces are closed, whether one of them was read or none. `still_allowed` is asked before each page,
    and `every` so many seconds while nothing comes.
    """
    pieces = _pieces(reader, still_allowed, wanted, every=every, heartbeat=heartbeat, longest=longest)
    await anext(pieces)
    return pieces


async def _pieces(
    reader: FeedReader,
    still_allowed: Callable[[], Awaitable[object]],
    wanted: Wanted,
    *,
    every: float,
    heartbeat: float,
    longest: float,
) -> AsyncGenerator[bytes]:
    """The first one is nothing: it says that it listens."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + longest
    with reader.listening(wanted) as called:
        yield b""
        yield b"retry: %d\n\n" % _RETRY
        while loop.time() < ends and not reader.stopping:
            called.clear()
            try:
                # A tenant that is suspended, or a session that was ended meanwhile, hears no more.
                await still_allowed()
                page = await reader.read(wanted)
                wanted = behind(wanted, page)
                if page.events:
                    yield _written(page)
                if page.at_end and not await _is_called(called, still_allowed, every, seconds=heartbeat):
                    # Its id moves on although nothing came: who comes back need not pass over others' events again.
                    yield f": still here\nid: {wanted.after}\n\n".encode()
            except RefusalError as error:
                yield b"event: error\ndata: %s\n\n" % error.code.encode()
                return


async def _is_called(
    called: asyncio.Event, still_allowed: Callable[[], Awaitable[object]], every: float, *, seconds: float
) -> bool:
    """Whether there is something new within that many seconds; the caller is asked for meanwhile."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    while (left := ends - loop.time()) > 0:
        try:
            async with asyncio.timeout(min(every, left)):
                await called.wait()
                return True
        except TimeoutError:
            await still_allowed()
    return False


def _written(page: FeedPage) -> bytes:
    """A page of events, each with the cursor behind it."""
    return b"".join(
        f"id: {cursor}\nevent: {event.subject}\ndata: ".encode() + to_cloudevent(event) + b"\n\n"
        for event, cursor in zip(page.events, page.cursors, strict=True)
    )
