"""Clients that lie, drip, shout and hang up, on a real socket."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.http import HttpWorld, http_world
from tidings.kernel.db import Database
from tidings.kernel.http.serve import HttpServer, listen

KEYS = b"/api/v1/api-keys"


class Wire:
    """A server on a real port, and bytes to and from it."""

    def __init__(self, world: HttpWorld, port: int) -> None:
        self.world = world
        self.port = port

    async def say(self, *parts: bytes, hang_up: bool = False) -> bytes:
        """Everything it answers until it closes, or until one answer is whole."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            if hang_up:
                return b""
            async with asyncio.timeout(20):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                return head + (b"" if parts[0].startswith(b"HEAD") else await reader.readexactly(length))
        finally:
            writer.close()


@pytest.fixture
async def wire(db: Database) -> AsyncIterator[Wire]:
    world = http_world(db)
    listener = listen("127.0.0.1", 0)
    server = HttpServer(world.app, listener=listener)
    await server.start()
    yield Wire(world, listener.getsockname()[1])
    await server.stop()


def request(method: bytes, path: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([method + b" " + path + b" HTTP/1.1", b"Host: x", *headers, b"", b""])


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (request(b"BREW", b"/healthz"), b"400", b"not_http"),
        (request(b"GET", b"/\xff"), b"400", b"not_http"),
        (request(b"GET", b"/healthz", b"X-A: a\rb"), b"400", b"not_http"),
        (request(b"GET", b"/healthz", b"X-A: a\x00b"), b"400", b"not_http"),
        (request(b"POST", KEYS, b"Content-Length: -5"), b"400", b"not_http"),
        (request(b"POST", KEYS, b"Content-Length: 5", b"Content-Length: 6"), b"400", b"not_http"),
        (request(b"POST", KEYS, b"Content-Length: 5", b"Transfer-Encoding: chunked"), b"400", b"not_http"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", b"400", b"not_http"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"400", b"not_http"),
        (request(b"GET", b"/healthz", *[b"X-%d: a" % n for n in range(300)]), b"431", b"head_too_large"),
        (request(b"GET", b"/healthz", b"X-A: " + b"a" * 100_000), b"431", b"head_too_large"),
        (request(b"GET", b"/" + b"a" * 100_000), b"431", b"head_too_large"),
        (request(b"GET", b"/" + b"a" * 10_000), b"404", b"no_route"),
        (request(b"GET", b"//healthz"), b"404", b"no_route"),
        (request(b"GET", b"/api/v1//tenant"), b"404", b"no_route"),
        (request(b"GET", b"/api/v1%2Ftenant"), b"404", b"no_route"),
        (request(b"GET", b"/%2e/healthz"), b"404", b"no_route"),
        (request(b"POST", KEYS, b"Content-Length: 99999999999"), b"413", b"body_too_large"),
    ],
)
async def test_what_can_not_be_read_is_a_problem_too(
    wire: Wire, said: bytes, status: bytes, code: bytes
) -> None:
    answer = await wire.say(said)

    assert answer.startswith(b"HTTP/1.1 " + status), answer
    assert b"application/problem+json" in answer
    assert b'"code":"' + code in answer
    assert b"x-request-id: req_" in answer
    assert len(answer) < 2000


async def test_a_header_without_an_end_is_cut_off(wire: Wire) -> None:
    """It arrives in pieces, each small; the sum counts."""
    answer = await wire.say(b"GET /healthz HTTP/1.1\r\nX-A: ", *[b"a" * 8192] * 40)

    assert b"431" in answer.splitlines()[0]


async def test_one_slash_at_the_end_is_forgiven(wire: Wire) -> None:
    assert (await wire.say(request(b"GET", b"/healthz/"))).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("path", "status"), [(b"/healthz", b"200"), (b"/readyz", b"200"), (KEYS, b"401"), (b"/nowhere", b"404")]
)
async def test_head_is_get_without_the_body(wire: Wire, path: bytes, status: bytes) -> None:
    """Two on one connection: nothing of a body is left between them."""
    head = await wire.say(request(b"HEAD", path), request(b"HEAD", path))
    got = await wire.say(request(b"GET", path))

    assert head.startswith(b"HTTP/1.1 " + status)
    assert head.endswith(b"\r\n\r\n")
    if path == b"/healthz":
        assert b"content-length: 15" in head.lower()
        assert b"content-length: 15" in got.lower()
    assert {(a.method, a.status) for a in wire.world.answered} == {
        ("HEAD", int(status)),
        ("GET", int(status)),
    }
    assert len({a.route for a in wire.world.answered}) == 1


async def test_a_client_that_hangs_up_half_way_is_no_error_of_ours(
    wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is noted as such, changes nothing, and nobody is alarmed."""
    tenant = await wire.world.tenant()
    _, carried = await wire.world.key(tenant.id)
    head = request(
        b"POST", KEYS, b"Content-Type: application/json", b"Content-Length: 100",
        b"Authorization: Bearer " + carried.encode(),
    )  # fmt: skip

    await wire.say(head + b'{"name":', hang_up=True)
    async with asyncio.timeout(20):
        while not wire.world.answered:
            await asyncio.sleep(0.01)

    assert [(a.route, a.status) for a in wire.world.answered] == [("/api/v1/api-keys", 499)]
    assert "http.failed" not in "".join(capsys.readouterr())


async def test_a_flood_after_the_answer_is_cut_off(wire: Wire) -> None:
    """The answer was 401; nobody reads a body without an end after that."""
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(request(b"POST", KEYS, b"Transfer-Encoding: chunked"))
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

    with pytest.raises((ConnectionError, EOFError)):
        async with asyncio.timeout(20):
            while not reader.at_eof():
                writer.write(chunk)
                await writer.drain()
        raise EOFError
    writer.close()


async def test_a_flood_of_idle_connections_leaves_room_for_others_and_is_told_so(db: Database) -> None:
    """The process holds so many; one more is answered at once, and when one leaves there is room again."""
    listener = listen("127.0.0.1", 0)
    server = HttpServer(
        http_world(db).app, listener=listener, max_connections=100, max_connections_per_address=100
    )
    await server.start()
    port = listener.getsockname()[1]
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
    try:
        # Each of them is answered, and so was counted.
        for reader, writer in held:
            writer.write(request(b"GET", b"/healthz"))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(20):
            refused = await reader.read()
        writer.close()
        assert refused.startswith(b"HTTP/1.1 503")
        assert b"too_many_connections" in refused
        assert b"retry-after: 1" in refused.lower()

        held[0][1].write(request(b"GET", b"/healthz", b"Connection: close"))
        async with asyncio.timeout(20):
            await held[0][0].read()
        again, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(b"GET", b"/healthz", b"Connection: close"))
        async with asyncio.timeout(20):
            assert (await again.read()).startswith(b"HTTP/1.1 200")
        writer.close()
    finally:
        for _, writer in held:
            writer.close()
        await server.stop()
