"""A body that is too long or too slow is stopped: by its announced length, or while it is still arriving."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from tidings.kernel.http.asgi import WHOLE_BODY, Message, Receive, Scope, Send, read_all, respond
from tidings.kernel.http.body_limit import BodyLimit
from tidings.kernel.http.errors import BodyTooLargeError, BodyTooSlowError
from tidings.kernel.http.routing import RouteTable


class Reader:
    def __init__(self) -> None:
        self.read: bytes | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.read = await read_all(receive)
        await respond(send, 200, b"{}")


async def call(
    layer: BodyLimit,
    parts: Sequence[bytes],
    *,
    announced: str | None = None,
    path: str = "/x",
    whole: bool = False,
) -> list[Message]:
    sent: list[Message] = []
    coming = [
        {"type": "http.request", "body": part, "more_body": i < len(parts) - 1}
        for i, part in enumerate(parts)
    ]

    async def receive() -> Message:
        return coming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if announced is None else [(b"content-length", announced.encode())]
    scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    if whole:
        scope[WHOLE_BODY] = b"".join(parts)
    await layer(scope, receive, send)
    return sent


async def test_a_body_of_exactly_the_limit_passes() -> None:
    reader = Reader()

    await call(BodyLimit(reader, limit=10), [b"12345", b"67890"], announced="10")

    assert reader.read == b"1234567890"


@pytest.mark.parametrize(("length", "status"), [(10, 200), (11, 413)])
async def test_a_body_that_is_here_as_a_whole_has_the_same_limit(length: int, status: int) -> None:
    sent = await call(BodyLimit(Reader(), limit=10), [b"x" * length], whole=True)

    assert sent[0]["status"] == status


async def test_an_announced_length_over_the_limit_is_answered_before_anything_is_read() -> None:
    reader = Reader()

    sent = await call(BodyLimit(reader, limit=10), [b"x"], announced="11")

    assert sent[0]["status"] == 413
    assert msgspec.json.decode(sent[1]["body"])["code"] == "body_too_large"
    assert reader.read is None


async def test_a_chunked_body_is_stopped_on_its_way() -> None:
    reader = Reader()

    with pytest.raises(BodyTooLargeError):
        await call(BodyLimit(reader, limit=10), [b"123456"] * 1000)

    assert reader.read is None


async def test_a_route_may_have_its_own_limit() -> None:
    reader = Reader()
    limits: RouteTable[int] = RouteTable()
    limits.add("POST", "/files/{name}", 100)
    limits.add("GET", "/bulk", 100)
    layer = BodyLimit(reader, limit=10, by_route=limits)

    await call(layer, [b"x" * 100], path="/files/one")

    assert reader.read == b"x" * 100
    with pytest.raises(BodyTooLargeError):
        await call(layer, [b"x" * 100], path="/bulk")


async def test_a_body_that_does_not_come_is_given_up_on() -> None:
    never = asyncio.Event()

    async def receive() -> Message:
        await never.wait()
        raise AssertionError("it was waited for")

    async def send(message: Message) -> None: ...

    layer = BodyLimit(Reader(), grace_seconds=0.01)
    with pytest.raises(BodyTooSlowError):
        await layer({"type": "http", "method": "POST", "path": "/x", "headers": []}, receive, send)


async def test_whoever_waits_for_the_client_to_hang_up_may_wait() -> None:
    hung_up = asyncio.Event()

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        await read_all(receive)
        later = asyncio.ensure_future(receive())
        done, _ = await asyncio.wait({later}, timeout=0.05)
        assert not done
        hung_up.set()
        assert (await later)["type"] == "http.disconnect"
        await respond(send, 200, b"{}")

    coming: list[Message] = [{"type": "http.request", "body": b"x", "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        if coming:
            return coming.pop()
        await hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
    await BodyLimit(waiting, grace_seconds=0.01)(scope, receive, send)

    assert sent[0]["status"] == 200
