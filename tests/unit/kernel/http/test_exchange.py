"""An answer that is whole goes out in one write; every other one as uvicorn writes it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from tidings.kernel.http.asgi import WHOLE_BODY, Receive, Scope, Send, read_all, respond
from tidings.kernel.http.protocol import LimitedProtocol

Answer = Callable[[Scope, Receive, Send], Awaitable[None]]


class _Wire(asyncio.Transport):
    """A transport that remembers each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def _talk(app: Answer, *pieces: bytes) -> _Wire:
    config = Config(
        app, lifespan="off", log_config=None, server_header=False, date_header=False, access_log=False
    )
    config.load()
    protocol = LimitedProtocol(config, ServerState(), {}, asyncio.get_running_loop())
    wire = _Wire()
    protocol.connection_made(wire)
    for piece in pieces:
        protocol.data_received(piece)
        for _ in range(5):
            await asyncio.sleep(0)
    await asyncio.gather(*protocol.tasks)
    closed = wire.closed
    protocol.connection_lost(None)
    wire.closed = closed
    return wire


def _post(body: bytes, method: str = "POST") -> bytes:
    return f"{method} /things HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def test_head_and_body_are_one_write() -> None:
    async def app(_: Scope, receive: Receive, send: Send) -> None:
        await respond(send, 202, await read_all(receive), extra=[("ETag", '"1"')])

    wire = await _talk(app, _post(b"{}"), _post(b"[1]"))

    assert wire.writes == [
        b'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: 2\r\netag: "1"\r\n\r\n{}',
        b'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: 3\r\netag: "1"\r\n\r\n[1]',
    ]
    assert not wire.closed


async def test_a_body_that_came_with_its_head_is_at_hand() -> None:
    seen: list[bytes | None] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope.get(WHOLE_BODY))
        await respond(send, 200, await read_all(receive))

    whole = _post(b"abcdef")
    wire = await _talk(app, whole, whole[:-3], whole[-3:])

    assert seen == [b"abcdef", None]
    assert [write[-6:] for write in wire.writes] == [b"abcdef", b"abcdef"]


async def test_a_stream_is_written_as_it_comes() -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    wire = await _talk(app, _post(b""))

    assert wire.writes == [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"1\r\na\r\n",
        b"0\r\n\r\n",
    ]


async def test_a_head_request_is_answered_without_the_body() -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await respond(send, 200, b"abc")

    wire = await _talk(app, _post(b"", method="HEAD"))

    assert b"".join(wire.writes).endswith(b"content-length: 3\r\n\r\n")


async def test_a_client_that_asks_for_the_end_of_the_connection_gets_it() -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await respond(send, 200, b"abc")

    wire = await _talk(app, b"GET /things HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")

    assert b"connection: close\r\n" in b"".join(wire.writes)
    assert wire.closed


@pytest.mark.parametrize("value", ["a\r\nset-cookie: b", "a\nb", "a\x00b", "a\rb"])
async def test_a_header_can_not_be_ended_early(value: str) -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await respond(send, 200, b"abc", extra=[("x-given", value)])

    wire = await _talk(app, _post(b""))

    assert b"set-cookie" not in b"".join(wire.writes)
    assert b"abc" not in b"".join(wire.writes)
    assert wire.closed


async def test_a_body_of_another_length_than_announced_is_not_sent() -> None:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"abc"})

    wire = await _talk(app, _post(b""))

    assert wire.writes == []
    assert wire.closed
