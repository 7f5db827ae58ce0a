"""A vendor's server over HTTP/2 that plays a part: one answer for every request."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import H2Error
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What becomes of one request."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    #: Seconds before it.
    after: float = 0.0
    #: Nothing ever comes; `freezes`: and nothing is heard any more on this connection.
    hangs: bool = False
    freezes: bool = False
    #: Goes over the wire as it is, instead of an answer.
    raw: bytes = b""
    #: The connection ends; with `cut`, after the half of an answer.
    closes: bool = False
    cut: bool = False
    #: The stream ends with this.
    reset: ErrorCodes | None = None
    #: The connection says that it takes no more; `refused`: and that the one before this was the last that it looked at.
    parting: bool = False
    refused: bool = False


HANG = Part(hangs=True)
CLOSE = Part(closes=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request."""

    headers: Mapping[str, str]
    body: bytes
    #: Which connection it came over, counted from 1.
    connection: int


class PlayedHttp2:
    """What it answers, and what it heard."""

    def __init__(self, parts: list[Part], *, settings: Mapping[Any, int]) -> None:
        self._parts = parts
        self._settings = settings
        self._tasks: set[asyncio.Task[Any]] = set()
        self.port = 0
        self.connections = 0
        #: The most requests that were open at once.
        self.most_open = 0
        self.heard: list[Heard] = []
        #: Requests that the client gave up.
        self.given_up = 0

    def next_part(self) -> Part:
        """The next one; the last for good."""
        return self._parts.pop(0) if len(self._parts) > 1 else self._parts[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self.keep(task)
        self.connections += 1
        await _Connection(self, reader, writer, self.connections).run(self._settings)

    def keep(self, task: "asyncio.Task[Any]") -> None:
        """So that it is ended in the end."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End what hangs."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Connection:
    def __init__(
        self, played: PlayedHttp2, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        self._played = played
        self._reader = reader
        self._writer = writer
        self._number = number
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._open: dict[int, tuple[dict[str, str], bytearray]] = {}
        self._frozen = False

    async def run(self, settings: Mapping[Any, int]) -> None:
        self._h2.initiate_connection()
        if settings:
            self._h2.update_settings(dict(settings))
        self._flush()
        with contextlib.suppress(ConnectionError, H2Error, asyncio.CancelledError, ssl.SSLError):
            while data := await self._reader.read(65536):
                for event in self._h2.receive_data(data):
                    self._hear(event)
                self._flush()
                if self._frozen:
                    await asyncio.Event().wait()
        self._writer.close()

    def _hear(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._open[event.stream_id] = (dict(event.headers), bytearray())  # type: ignore[arg-type]
            self._played.most_open = max(self._played.most_open, len(self._open))
        elif isinstance(event, DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)
            self._open[event.stream_id][1].extend(event.data or b"")
        elif isinstance(event, StreamReset):
            self._open.pop(event.stream_id, None)
            self._played.given_up += 1
        elif isinstance(event, StreamEnded):
            headers, body = self._open[event.stream_id]
            self._played.heard.append(Heard(headers=headers, body=bytes(body), connection=self._number))
            part = self._played.next_part()
            self._frozen = part.freezes
            if part.hangs or part.freezes:
                return
            self._played.keep(asyncio.create_task(self._answer(event.stream_id, headers, part)))

    async def _answer(self, stream_id: int, request: Mapping[str, str], part: Part) -> None:
        # Whoever gave it up hears nothing.
        with contextlib.suppress(H2Error):
            await self._play(stream_id, request, part)

    async def _play(self, stream_id: int, request: Mapping[str, str], part: Part) -> None:
        if part.after:
            await asyncio.sleep(part.after)
        if part.parting or part.refused:
            last = max(stream_id - 2, 0) if part.refused else stream_id
            self._write(GoAwayFrame(0, last_stream_id=last, error_code=0).serialize())
        if part.refused:
            return
        if part.raw:
            self._write(part.raw)
        elif part.reset is not None:
            self._h2.reset_stream(stream_id, part.reset)
        elif not part.closes or part.cut:
            named = {"apns-id": request["apns-id"]} if "apns-id" in request and part.status == 200 else {}
            headers = {":status": str(part.status), **named, **part.headers}
            self._h2.send_headers(stream_id, list(headers.items()))
            if part.cut:
                self._h2.send_data(stream_id, b'{"rea')
            else:
                self._h2.send_data(stream_id, part.body, end_stream=True)
        self._open.pop(stream_id, None)
        self._flush()
        if part.closes:
            self._writer.close()

    def _flush(self) -> None:
        self._write(self._h2.data_to_send())

    def _write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)


@asynccontextmanager
async def played_http2(
    *parts: Part,
    streams: int | None = None,
    window: int | None = None,
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[PlayedHttp2]:
    """A server that does these one after the other, and the last one for good; `streams` and `window` as it allows."""
    settings: dict[Any, int] = {}
    if streams is not None:
        settings[SettingCodes.MAX_CONCURRENT_STREAMS] = streams
    if window is not None:
        settings[SettingCodes.INITIAL_WINDOW_SIZE] = window
    played = PlayedHttp2(list(parts), settings=settings)
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0, ssl=context)
    played.port = server.sockets[0].getsockname()[1]
    try:
        yield played
    finally:
        server.close()
        await played.stop()
