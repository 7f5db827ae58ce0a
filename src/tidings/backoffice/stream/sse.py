"""The stream of one device as server-sent events. A piece is written only after the one before it was taken by the connection."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Collection
from typing import Final

import msgspec

from tidings.backoffice.announcements.model import Announcement
from tidings.backoffice.announcements.tell import WINDOW
from tidings.backoffice.stream.hub import DeviceStreams
from tidings.backoffice.stream.listener import StreamEnding, StreamListener
from tidings.kernel.errors import TidingsError
from tidings.kernel.http.callers import Caller, StillAllowed
from tidings.kernel.http.server_events import AFTER_RESTART, SOON, event, retry, sign_of_life
from tidings.kernel.logs import get_logger, why
from tidings.kernel.refusals import RefusalError

#: Seconds between two questions whether the caller may still hear it, while changes are heard at once and while they are not.
_ASK_EVERY: Final = 5.0
_ASK_OFTEN: Final = 0.3

_log = get_logger("device_streams")


async def stream(
    streams: DeviceStreams,
    still_allowed: StillAllowed,
    *,
    channels: Collection[str],
    after: int | None,
) -> AsyncGenerator[bytes]:
    """The pieces. It listens when this returns; until then an error is still an answer of its own."""
    pieces = _pieces(streams, still_allowed, frozenset(channels), after)
    await anext(pieces)
    return pieces


async def _pieces(
    streams: DeviceStreams,
    still_allowed: StillAllowed,
    channels: frozenset[str],
    after: int | None,
) -> AsyncGenerator[bytes]:
    listener = streams.join(still_allowed.caller, after=after)
    try:
        yield b""
        yield retry(SOON)
        heartbeat = streams.limits.heartbeat
        told_at, greeted = time.monotonic(), False
        while listener.ended is None:
            listener.called.clear()
            try:
                # Whoever was signed out, or lost a right meanwhile, hears no more of it.
                caller = await still_allowed()
                news = await streams.next(listener)
            except RefusalError as refused:
                yield event("end", f'{{"reason":"{refused.code}"}}')
                return
            except TidingsError as error:
                # While the database is away nothing new can be told either; streams wait for it.
                _log.warning("device_stream_delayed", **why(error))
                await asyncio.sleep(_ASK_OFTEN)
                continue
            if news is not None and not greeted:
                greeted = True
                yield _greeting(streams, listener)
            if news is not None and news.is_cut:
                yield event("reset", "{}", id_=listener.position)
            elif news is not None and news.announcements:
                if text := _written(news.announcements, caller, channels):
                    told_at = time.monotonic()
                    yield text
                # There may be more behind what was read at once.
                continue
            left = heartbeat - (time.monotonic() - told_at)
            if greeted and left <= 0:
                told_at = time.monotonic()
                yield sign_of_life(listener.position)
                left = heartbeat
            await _wait(listener, min(max(left, 0.01), _ASK_EVERY if streams.is_prompt else _ASK_OFTEN))
        if listener.ended is StreamEnding.RESTARTING:
            yield retry(AFTER_RESTART)
        yield event("end", f'{{"reason":"{listener.ended}"}}')
    finally:
        streams.leave(listener)


async def _wait(listener: StreamListener, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await listener.called.wait()


def _greeting(streams: DeviceStreams, listener: StreamListener) -> bytes:
    """How the stream is kept alive, and how long it can be taken up again."""
    facts = {
        "heartbeat_seconds": streams.limits.heartbeat,
        "resume_seconds": int(WINDOW.total_seconds()),
        "device_id": listener.device_id,
    }
    return event("hello", msgspec.json.encode(facts).decode(), id_=listener.position)


def _written(announcements: Collection[Announcement], caller: Caller, channels: frozenset[str]) -> bytes:
    return b"".join(
        event(one.channel, _data(one), id_=one.number)
        for one in announcements
        if (not channels or one.channel in channels) and one.is_for(caller)
    )


def _data(one: Announcement) -> str:
    facts = {
        "told_at": one.told_at,
        **({"property_id": one.property_id} if one.property_id else {}),
        "facts": msgspec.Raw(one.facts.encode()),
    }
    return msgspec.json.encode(facts).decode()
