"""One connection over HTTP/2: many requests at once, and of each what is certain.

A request that never left is `NotBegunError`; one of which the other side says that it did not look at it is `NotTakenError`;
after anything else that ends it the outcome is not known, and it is `LostError`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    Event,
    PingAckReceived,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import FrameTooLargeError, H2Error
from h2.settings import SettingCodes, Settings

from tidings.kernel.http_client.answer import HttpAnswer

# Takes GOAWAY out of what is heard over HTTP/2: the library closes at once on one, and answers may still come behind it.
_FRAME_HEADER: Final = 9
_MOST_FRAME: Final = 16384
_GOAWAY: Final = 7
_LEAST_GOAWAY: Final = 8


class GoawayFilter:
    """Those of one connection."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def take(self, data: bytes) -> tuple[bytes, list[int]]:
        """All whole frames but those; and of those the last request that each one names."""
        self._buffer += data
        kept, lasts = bytearray(), []
        while len(self._buffer) >= _FRAME_HEADER:
            length = int.from_bytes(self._buffer[:3], "big")
            if length > _MOST_FRAME:
                # No such long frame was allowed; a server that speaks HTTP/1.1 seems to send one.
                raise FrameTooLargeError
            end = _FRAME_HEADER + length
            if len(self._buffer) < end:
                break
            if self._buffer[3] == _GOAWAY and length >= _LEAST_GOAWAY:
                named = int.from_bytes(self._buffer[_FRAME_HEADER : _FRAME_HEADER + 4], "big")
                lasts.append(named & 0x7FFFFFFF)
            else:
                kept += self._buffer[:end]
            del self._buffer[:end]
        return bytes(kept), lasts


_READ: Final = 64 * 1024
_MOST_ANSWER_BYTES: Final = 64 * 1024
_PING: Final = b"tidings?"


class NotBegunError(Exception):
    """The connection ended before the request could begin."""


class NotTakenError(Exception):
    """The other side says that it has not looked at the request."""


class LostError(Exception):
    """The request ended without an answer."""


@dataclass(slots=True)
class _Stream:
    """One request that is under way."""

    answer: asyncio.Future[HttpAnswer]
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    #: All of the request has left.
    sent: bool = False


class Http2Link:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._h2.local_settings = Settings(client=True, initial_values={SettingCodes.ENABLE_PUSH: 0})
        self._partings = GoawayFilter()
        self._streams: dict[int, _Stream] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._ping: asyncio.Future[bool] | None = None
        self._settled = False
        self._leaving = False
        self._ended = False
        #: When something was heard last, by the loop's clock.
        self._heard_at = self._loop.time()
        self._h2.initiate_connection()
        self._flush()
        self.reading = asyncio.create_task(self._read(), name="http2 link")

    @property
    def usable(self) -> bool:
        """Whether requests may begin on it."""
        return not (self._ended or self._leaving)

    @property
    def silent_for(self) -> float:
        """Seconds since something was heard."""
        return self._loop.time() - self._heard_at

    async def settled(self) -> None:
        """Both sides have said what they can; `LostError` where it ended before."""
        await self._until(lambda: self._settled)
        if self._ended:
            raise LostError

    async def room(self) -> None:
        """Wait until one more request may begin; `ask` has to follow at once."""
        await self._until(lambda: self._leaving or self._h2.open_outbound_streams < self._most)
        if not self.usable:
            raise NotBegunError

    async def ask(self, headers: Sequence[tuple[str, str]], body: bytes) -> HttpAnswer:
        """One request, and its answer."""
        if not self.usable:
            raise NotBegunError
        try:
            stream_id = self._h2.get_next_available_stream_id()
            self._h2.send_headers(stream_id, list(headers))
        except H2Error:
            # All numbers are used up, or the connection is no more.
            self._leaving = True
            raise NotBegunError from None
        stream = self._streams[stream_id] = _Stream(self._loop.create_future())
        try:
            await self._send(stream_id, stream, body)
            return await stream.answer
        finally:
            del self._streams[stream_id]
            if stream.answer.cancelled() or not (stream.answer.done() and stream.sent):
                stream.answer.cancel()
                self._give_up(stream_id)
            self._wake()
            if self._leaving and not self._streams:
                self.close()

    async def answers(self, seconds: float) -> bool:
        """Whether the other side still hears us."""
        if self._ended:
            return False
        if self._ping is None:
            self._ping = self._loop.create_future()
            self._h2.ping(_PING)
            self._flush()
        ping = self._ping
        await asyncio.wait([ping], timeout=seconds)
        return ping.done() and ping.result()

    def close(self) -> None:
        """End it; what is under way is lost."""
        self.reading.cancel()
        self._end()

    @property
    def _most(self) -> int:
        return self._h2.remote_settings.max_concurrent_streams

    async def _send(self, stream_id: int, stream: _Stream, body: bytes) -> None:
        """The body, as fast as the other side lets us; it may answer before it has all."""
        rest = memoryview(body)
        while True:
            await self._until(lambda: stream.answer.done() or self._window(stream_id) > 0)
            if stream.answer.done() or self._ended:
                return
            size = min(self._window(stream_id), self._h2.max_outbound_frame_size, len(rest))
            self._h2.send_data(stream_id, bytes(rest[:size]), end_stream=size == len(rest))
            self._flush()
            if size == len(rest):
                stream.sent = True
                return
            rest = rest[size:]

    def _window(self, stream_id: int) -> int:
        return self._h2.local_flow_control_window(stream_id)

    def _give_up(self, stream_id: int) -> None:
        """Say that we don't wait for it any more, unless it is over."""
        if self._ended:
            return
        try:
            self._h2.reset_stream(stream_id, ErrorCodes.CANCEL)
        except H2Error:
            return
        self._flush()

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not self._ended and not ready():
            turn: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append(turn)
            await turn

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _flush(self) -> None:
        data = self._h2.data_to_send()
        if data and not self._writer.is_closing():
            self._writer.write(data)

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(_READ):
                self._heard_at = self._loop.time()
                rest, lasts = self._partings.take(data)
                for event in self._h2.receive_data(rest):
                    self._hear(event)
                for last in lasts:
                    self._part(last)
                self._flush()
                self._wake()
        except (OSError, H2Error):
            self._flush()
        finally:
            self._end()

    def _hear(self, event: Event) -> None:
        if isinstance(event, RemoteSettingsChanged):
            self._settled = True
        elif isinstance(event, PingAckReceived):
            self._answered(alive=True)
        elif isinstance(event, DataReceived):
            if event.flow_controlled_length and event.stream_id is not None:
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            stream = self._streams.get(event.stream_id or 0)
            if stream is not None and event.data and len(stream.content) < _MOST_ANSWER_BYTES:
                stream.content += event.data
        elif isinstance(event, ResponseReceived):
            stream = self._streams.get(event.stream_id or 0)
            if stream is not None:
                stream.headers = {str(name): str(value) for name, value in event.headers or ()}
                status = stream.headers.get(":status", "")
                stream.status = int(status) if status.isdecimal() else 0
        elif isinstance(event, StreamEnded):
            self._complete(event.stream_id or 0)
        elif isinstance(event, StreamReset):
            refused = event.error_code == ErrorCodes.REFUSED_STREAM
            self._fail(event.stream_id or 0, NotTakenError() if refused else LostError())

    def _complete(self, stream_id: int) -> None:
        stream = self._streams.get(stream_id)
        if stream is None or stream.answer.done():
            return
        headers: Mapping[str, str] = stream.headers
        stream.answer.set_result(
            HttpAnswer(
                status=stream.status,
                retry_after=headers.get("retry-after"),
                content=bytes(stream.content[:_MOST_ANSWER_BYTES]),
                headers=headers,
            )
        )

    def _part(self, last: int) -> None:
        """The other side takes no more requests: those behind the last one that it names were not looked at."""
        self._leaving = True
        for stream_id in [one for one in self._streams if one > last]:
            self._fail(stream_id, NotTakenError())
        if not self._streams:
            self._writer.close()

    def _fail(self, stream_id: int, error: Exception) -> None:
        stream = self._streams.get(stream_id)
        if stream is not None and not stream.answer.done():
            stream.answer.set_exception(error)

    def _answered(self, *, alive: bool) -> None:
        ping, self._ping = self._ping, None
        if ping is not None and not ping.done():
            ping.set_result(alive)

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        for stream_id in list(self._streams):
            self._fail(stream_id, LostError())
        self._answered(alive=False)
        self._wake()
        self._writer.transport.abort()
