"""What the sandbox's HTTP/2 bears: faults on one request, and people who ask for too much."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    PingAckReceived,
    ResponseReceived,
    SettingsAcknowledged,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import H2Error
from h2.settings import SettingCodes, Settings

from tests.support.certificates import make_certificate
from tidings.sandbox.apns_server import ApnsSandbox
from tidings.sandbox.http2_connection import Bounds
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse, json_answer

TAKEN = SandboxResponse(headers={"apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b"})
REFUSED = json_answer({"reason": "InvalidProviderToken"}, status=403)


class Client:
    """Somebody who speaks HTTP/2 frame by frame."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, window: int) -> None:
        self._reader = reader
        self.writer = writer
        self.h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.local_settings = Settings(
            client=True, initial_values={SettingCodes.INITIAL_WINDOW_SIZE: window}
        )
        self.h2.initiate_connection()
        self.heard: list[Event] = []

    def ask(
        self,
        *more: tuple[str, str | bytes],
        path: str = "/3/device/a",
        body: bytes | None = b"{}",
        ends: bool = True,
    ) -> int:
        """Begin a request, and end it with this body; None: only its headers."""
        stream_id = self.h2.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "http"), (":authority", "x"), (":path", path)]
        self.h2.send_headers(stream_id, [*head, *more])
        if body is not None:
            self.h2.send_data(stream_id, body, end_stream=ends)
        return stream_id

    async def until(self, ready: Callable[[], bool]) -> None:
        """Say what there is to say, and listen until it is so, or to the end."""
        async with asyncio.timeout(10):
            while True:
                self.writer.write(self.h2.data_to_send())
                if ready():
                    return
                data = await self._reader.read(65536)
                if not data:
                    return
                self.heard += self.h2.receive_data(data)

    def of(self, kind: type[Event], stream_id: int | None = None) -> list[Event]:
        """What was heard of this kind."""
        return [
            event
            for event in self.heard
            if isinstance(event, kind)
            and (stream_id is None or getattr(event, "stream_id", None) == stream_id)
        ]

    async def settled(self) -> None:
        """Both sides know what the other can, and the server knows that we know."""
        await self.until(lambda: bool(self.of(SettingsAcknowledged)))
        before = len(self.of(PingAckReceived))
        self.h2.ping(b"12345678")
        await self.until(lambda: len(self.of(PingAckReceived)) > before)

    async def ended(self) -> bool:
        """Whether the server hangs up, whatever it says before."""
        try:
            await self.until(lambda: False)
        except (OSError, H2Error):
            return True
        return self._reader.at_eof()


@asynccontextmanager
async def server(
    *answers: SandboxResponse, most_connections: int = 10, **bounds: float
) -> AsyncIterator[tuple[ApnsSandbox, int, list[SandboxRequest]]]:
    """One that gives these answers, the last for good; and what it heard."""
    left, heard = list(answers), list[SandboxRequest]()

    def handle(request: SandboxRequest) -> SandboxResponse:
        heard.append(request)
        return left.pop(0) if len(left) > 1 else left[0]

    made = ApnsSandbox(handle, bounds=Bounds(**bounds), most_connections=most_connections)  # type: ignore[arg-type]
    port = await made.start("127.0.0.1", 0)
    try:
        yield made, port, heard
    finally:
        await made.stop()


@asynccontextmanager
async def client(port: int, window: int = 65535) -> AsyncIterator[Client]:
    """Somebody who is connected."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(reader, writer, window)
    finally:
        writer.transport.abort()


async def test_one_at_a_time_until_somebody_has_proven_who_they_are() -> None:
    """A refused token proves nothing; a message that was looked at does."""
    async with server(REFUSED, TAKEN, streams=40) as (_, port, heard), client(port) as somebody:
        await somebody.settled()
        limits = [somebody.h2.remote_settings.max_concurrent_streams]
        for _ in range(2):
            stream_id = somebody.ask()
            await somebody.until(lambda stream_id=stream_id: bool(somebody.of(StreamEnded, stream_id)))  # type: ignore[misc]
            await somebody.settled()
            limits.append(somebody.h2.remote_settings.max_concurrent_streams)

    assert limits == [1, 1, 40]
    assert [request.path for request in heard] == ["/apns/3/device/a"] * 2
    assert {request.version for request in heard} == {"2"}


async def test_more_at_once_than_agreed_ends_the_connection() -> None:
    async with server(TAKEN) as (_, port, heard), client(port) as somebody:
        await somebody.settled()
        somebody.ask(body=None)
        # Our own library would not let us.
        somebody.h2.remote_settings = Settings(client=False)
        somebody.ask(body=None)
        ended = await somebody.ended()

    assert ended
    assert somebody.of(ConnectionTerminated)
    assert heard == []


@pytest.mark.parametrize("path", ["//[x", "/%ff", "*", "messages", "/3/device/a?b=%"])
async def test_odd_requests_are_answered(path: str) -> None:
    """Also such as have headers that are no text."""
    async with server(REFUSED) as (_, port, heard), client(port) as somebody:
        stream_id = somebody.ask(("apns-id", b"\xff"), path=path)
        await somebody.until(lambda: bool(somebody.of(StreamEnded, stream_id)))

    assert somebody.of(ResponseReceived, stream_id)
    assert heard[0].path.startswith("/apns/")
    assert heard[0].headers["apns-id"] == "\ufffd"


async def test_too_many_headers_end_the_connection() -> None:
    async with server(TAKEN, header_bytes=1000) as (_, port, heard), client(port) as somebody:
        somebody.ask(("x", "y" * 1000))
        ended = await somebody.ended()

    assert ended
    assert heard == []


async def test_a_body_without_end_is_answered_before_it() -> None:
    """With what was kept of it; the rest need not come."""
    async with server(REFUSED, body_bytes=100) as (_, port, heard), client(port) as somebody:
        stream_id = somebody.ask(body=b"x" * 101, ends=False)
        await somebody.until(lambda: bool(somebody.of(StreamReset)))

    (answer,) = somebody.of(ResponseReceived, stream_id)
    (reset,) = somebody.of(StreamReset, stream_id)
    assert isinstance(answer, ResponseReceived)
    assert isinstance(reset, StreamReset)
    headers: Any = answer.headers
    assert (":status", "403") in headers
    assert reset.error_code == ErrorCodes.NO_ERROR
    assert [len(request.body) for request in heard] == [100]


async def test_whoever_has_no_room_gets_the_answer_bit_by_bit() -> None:
    async with server(REFUSED) as (_, port, _), client(port, window=20) as somebody:
        stream_id = somebody.ask()
        await somebody.until(lambda: bool(somebody.of(DataReceived)))
        assert not somebody.of(StreamEnded)
        somebody.h2.increment_flow_control_window(100, stream_id)
        await somebody.until(lambda: bool(somebody.of(StreamEnded)))

    pieces = [event.data for event in somebody.of(DataReceived) if isinstance(event, DataReceived)]
    assert (len(pieces), b"".join(pieces)) == (2, REFUSED.body)


async def test_an_answer_may_need_many_frames() -> None:
    """Whoever has room for all of it need not ask for the rest."""
    long = SandboxResponse(status=400, body=b"x" * 50_000)
    async with server(long) as (_, port, _), client(port, window=60_000) as somebody:
        stream_id = somebody.ask()
        await somebody.until(lambda: bool(somebody.of(StreamEnded, stream_id)))

    pieces = [event.data for event in somebody.of(DataReceived) if isinstance(event, DataReceived)]
    assert b"".join(filter(None, pieces)) == long.body


async def test_whoever_never_reads_is_let_go() -> None:
    """What was said to them stands in the way of the end, and would for ever."""
    endless = SandboxResponse(body=b"x" * 16_000_000)
    async with (
        server(endless, silence=0.1, parting=0.05) as (made, port, heard),
        client(port, window=2**31 - 1) as somebody,
    ):
        somebody.h2.increment_flow_control_window(2**30)
        await somebody.settled()
        somebody.writer.transport.pause_reading()  # type: ignore[attr-defined]
        somebody.ask()
        somebody.writer.write(somebody.h2.data_to_send())
        async with asyncio.timeout(10):
            while made.connections:
                await asyncio.sleep(0.01)

    assert len(heard) == 1


async def test_whoever_connects_and_never_begins_with_tls_is_let_go(tmp_path: Path) -> None:
    tls = make_certificate(tmp_path).server_context()
    listening = ApnsSandbox(lambda _: TAKEN, tls=tls, bounds=Bounds(handshake=0.05))
    port = await listening.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(5):
        left = await reader.read()
        await listening.stop()
    writer.transport.abort()

    assert left == b""


async def test_there_is_room_for_so_many_connections() -> None:
    """One that ends makes room."""
    async with server(TAKEN, most_connections=1) as (made, port, _), client(port) as first:
        await first.settled()
        async with client(port) as second:
            assert await second.ended()
        first.writer.close()
        async with asyncio.timeout(10):
            while made.connections:
                await asyncio.sleep(0)
        async with client(port) as third:
            await third.settled()


async def test_silence_ends_a_connection_that_waits_for_nothing() -> None:
    """While an answer is held back nothing ends."""
    slow = SandboxResponse(hold=HeldResponse(kind="slow", seconds=0.2))
    async with server(slow, silence=0.05) as (_, port, _), client(port) as somebody:
        stream_id = somebody.ask()
        ended = await somebody.ended()

    assert ended
    assert somebody.of(StreamEnded, stream_id)
    (parting,) = somebody.of(ConnectionTerminated)
    assert isinstance(parting, ConnectionTerminated)
    assert parting.error_code == ErrorCodes.NO_ERROR


async def test_whoever_gives_up_is_not_answered() -> None:
    """And others on the same connection are; also where they ask and give up in one breath."""
    held = SandboxResponse(hold=HeldResponse(kind="hang"))
    async with server(TAKEN, held, REFUSED, TAKEN) as (_, port, _), client(port) as somebody:
        first = somebody.ask()
        await somebody.until(lambda: bool(somebody.of(StreamEnded, first)))
        await somebody.settled()
        given_up = [somebody.ask(), somebody.ask()]
        for stream_id in given_up:
            somebody.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
        last = somebody.ask()
        await somebody.until(lambda: bool(somebody.of(StreamEnded, last)))

    assert somebody.of(ResponseReceived, last)
    assert not any(somebody.of(ResponseReceived, stream_id) for stream_id in given_up)


@pytest.mark.parametrize(
    "hold",
    [
        HeldResponse(kind="close"),
        HeldResponse(kind="garbage"),
        HeldResponse(kind="hang", seconds=0.01),
        HeldResponse(kind="slow", seconds=0.01),
    ],
)
async def test_faults_hit_the_answer(hold: HeldResponse) -> None:
    async with server(SandboxResponse(hold=hold)) as (_, port, heard), client(port) as somebody:
        stream_id = somebody.ask()
        if hold.kind in {"close", "garbage"}:
            assert await somebody.ended()
        else:
            await somebody.until(lambda: bool(somebody.of(StreamEnded) or somebody.of(StreamReset)))

    assert len(heard) == 1
    assert bool(somebody.of(ResponseReceived, stream_id)) is (hold.kind == "slow")
    assert bool(somebody.of(StreamReset, stream_id)) is (hold.kind == "hang")


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 100])
async def test_what_is_not_http2_is_cut_off(said: bytes) -> None:
    async with server(TAKEN) as (_, port, heard):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        async with asyncio.timeout(10):
            await reader.read()
        writer.transport.abort()

    assert heard == []


async def test_over_tls_whoever_does_not_ask_for_http2_is_cut_off(tmp_path: Path) -> None:
    made = make_certificate(tmp_path)
    listening = ApnsSandbox(lambda _: TAKEN, tls=made.server_context())
    port = await listening.start("127.0.0.1", 0)
    trusting = ssl.create_default_context(cafile=made.cert_file)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        async with asyncio.timeout(10):
            try:
                said = await reader.read()
            except OSError:
                said = b""
        writer.transport.abort()
    finally:
        await listening.stop()

    assert said == b""
