"""One connection over HTTP/2 as a vendor keeps it: requests in, answers out, never more of either than agreed."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, cast
from urllib.parse import unquote

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error, ProtocolError
from h2.settings import SettingCodes, Settings

from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse

_GARBAGE: Final = b"\x00\xffNOT HTTP AT ALL \xfe\r\n{]}\r\n\r\n"
_FOR_EVER: Final = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a connection may cost."""

    #: Requests at once.
    streams: int = 100
    #: Requests at once until one of them has proven who sends.
    unproven_streams: int = 1
    #: Of one request's headers, as HTTP/2 counts them.
    header_bytes: int = 16 * 1024
    #: What is kept of one request's body; a longer one is answered without waiting for its end.
    body_bytes: int = 8 * 1024
    #: Seconds without a word after which it ends, unless an answer is held back.
    silence: float = 300.0
    #: Seconds for the last words to a client that does not read them.
    parting: float = 1.0
    #: Seconds until TLS has to be agreed on.
    handshake: float = 5.0


class Host(Protocol):
    """The server that listens."""

    @property
    def bounds(self) -> Bounds:
        """Of each of its connections."""
        ...

    def joined(self, connection: "Http2Connection") -> bool:
        """A client connected; whether there is room for it."""
        ...

    def left(self, connection: "Http2Connection") -> None:
        """They are gone."""
        ...

    def take(self, request: SandboxRequest) -> SandboxResponse:
        """The answer to a request; a body that has more bytes than are kept comes without the rest."""
        ...

    def proves(self, answer: SandboxResponse) -> bool:
        """Whether what was answered so was sent by a client that may send."""
        ...


@dataclass(slots=True)
class _Coming:
    """A request that is not whole yet."""

    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)


class Http2Connection(asyncio.Protocol):
    """In the clear with prior knowledge, or over TLS that has agreed on it."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._bounds = host.bounds
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        # Names and values come as bytes: a client that sends no text is answered all the same.
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self._h2.local_settings = Settings(
            client=False,
            initial_values={
                SettingCodes.MAX_CONCURRENT_STREAMS: self._bounds.streams,
                SettingCodes.MAX_HEADER_LIST_SIZE: self._bounds.header_bytes,
            },
        )
        self._h2.decoder.max_header_list_size = self._bounds.header_bytes
        self._coming: dict[int, _Coming] = {}
        #: Answers that are held back.
        self._held: dict[int, asyncio.Task[None]] = {}
        #: What is left of answers whose reader has no room for them.
        self._leaving: dict[int, bytes] = {}
        #: Requests that were answered before their end.
        self._cut: set[int] = set()
        self._proven = False
        self._heard_at = self._loop.time()
        self._look_again: asyncio.TimerHandle | None = None

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport = cast("asyncio.Transport", transport)
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        if not self._host.joined(self) or (tls is not None and tls.selected_alpn_protocol() != "h2"):
            self._transport.abort()
            return
        self._h2.initiate_connection()
        # It counts once they have seen it: what was asked before that is answered.
        self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: self._bounds.unproven_streams})
        self._flush()
        self._look_again = self._loop.call_later(self._bounds.silence, self._look)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """They are gone."""
        if self._look_again is not None:
            self._look_again.cancel()
        for task in self._held.values():
            task.cancel()
        self._host.left(self)

    def pause_writing(self) -> None:
        """They don't read what they asked for: nor is more of them read."""
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """They have caught up."""
        if self._transport is not None:
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Frames, or pieces of them."""
        self._heard_at = self._loop.time()
        try:
            for event in self._h2.receive_data(data):
                self._hear(event)
        except H2Error:
            # The library has written down why; it goes out, and that is the end.
            self._flush()
            self._close()
            return
        self._flush()

    def drop(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.abort()

    # --- requests

    def _hear(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._coming[event.stream_id] = _Coming(_headers(event))
        elif isinstance(event, DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)
            coming = self._coming.get(event.stream_id)
            if coming is not None:
                coming.body += event.data or b""
                if len(coming.body) > self._bounds.body_bytes:
                    self._cut.add(event.stream_id)
                    self._take(event.stream_id)
        elif isinstance(event, StreamEnded):
            self._take(event.stream_id)
        elif isinstance(event, StreamReset):
            self._forget(event.stream_id)
        elif isinstance(event, WindowUpdated | RemoteSettingsChanged):
            self._pour_all()
        elif isinstance(event, ConnectionTerminated):
            self._close()

    def _take(self, stream_id: int) -> None:
        coming = self._coming.pop(stream_id, None)
        if coming is None:
            return
        found = self._host.take(_request(coming, self._bounds.body_bytes))
        if not self._proven and self._host.proves(found):
            self._proven = True
            self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: self._bounds.streams})
        if found.hold is None:
            self._answer(stream_id, found)
        else:
            self._held[stream_id] = self._loop.create_task(self._hold(stream_id, found, found.hold))

    def _forget(self, stream_id: int) -> None:
        """They don't wait for it any more."""
        self._coming.pop(stream_id, None)
        self._leaving.pop(stream_id, None)
        self._cut.discard(stream_id)
        held = self._held.pop(stream_id, None)
        if held is not None:
            held.cancel()

    # --- answers

    async def _hold(self, stream_id: int, found: SandboxResponse, hold: HeldResponse) -> None:
        if hold.kind == "close":
            self.drop()
        elif hold.kind == "garbage":
            self._write(_GARBAGE)
            self._close()
        elif hold.kind == "hang":
            await asyncio.sleep(hold.seconds or _FOR_EVER)
            self._h2.reset_stream(stream_id, ErrorCodes.INTERNAL_ERROR)
            self._flush()
        else:
            await asyncio.sleep(hold.seconds or 1)
            self._answer(stream_id, found)
            self._flush()
        self._held.pop(stream_id, None)

    def _answer(self, stream_id: int, found: SandboxResponse) -> None:
        try:
            self._say(stream_id, found)
        except ProtocolError:
            # It was given up in the same breath.
            self._forget(stream_id)

    def _say(self, stream_id: int, found: SandboxResponse) -> None:
        headers = {":status": str(found.status), **{name.lower(): v for name, v in found.headers.items()}}
        if found.body:
            headers |= {"content-type": found.media_type, "content-length": str(len(found.body))}
        self._h2.send_headers(stream_id, list(headers.items()), end_stream=not found.body)
        if found.body:
            self._leaving[stream_id] = found.body
            self._pour(stream_id)
        else:
            self._finish(stream_id)

    def _pour_all(self) -> None:
        for stream_id in list(self._leaving):
            try:
                self._pour(stream_id)
            except ProtocolError:
                self._forget(stream_id)

    def _pour(self, stream_id: int) -> None:
        """Send of an answer what there is room for."""
        while body := self._leaving[stream_id]:
            room = min(self._h2.local_flow_control_window(stream_id), self._h2.max_outbound_frame_size)
            if room <= 0:
                return
            self._h2.send_data(stream_id, body[:room], end_stream=len(body) <= room)
            self._leaving[stream_id] = body[room:]
        del self._leaving[stream_id]
        self._finish(stream_id)

    def _finish(self, stream_id: int) -> None:
        if stream_id in self._cut:
            # The answer is whole, and the rest of the question need not come: RFC 9113, 8.1.
            self._cut.discard(stream_id)
            self._h2.reset_stream(stream_id, ErrorCodes.NO_ERROR)

    # --- the connection

    def _look(self) -> None:
        """End it where nothing was heard for long."""
        left = self._heard_at + self._bounds.silence - self._loop.time()
        if left <= 0 and not self._held:
            self._h2.close_connection()
            self._flush()
            self._close()
            return
        self._look_again = self._loop.call_later(max(left, 0) or self._bounds.silence, self._look)

    def _flush(self) -> None:
        self._write(self._h2.data_to_send())

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _close(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            # It would wait for ever until they have read what was said to them.
            self._loop.call_later(self._bounds.parting, self._transport.abort)


def _headers(event: RequestReceived) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in event.headers or ():
        key, text = _text(name), _text(value)
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _request(coming: _Coming, most: int) -> SandboxRequest:
    headers: Mapping[str, str] = coming.headers
    # Not `urlsplit`, which takes the beginning of some paths for a host.
    path, _, query = headers.get(":path", "/").partition("?")
    return SandboxRequest(
        method=headers.get(":method", ""),
        path=unquote(path) or "/",
        query=query.encode(),
        headers={name: value for name, value in headers.items() if not name.startswith(":")},
        body=bytes(coming.body[:most]),
        version="2",
    )
