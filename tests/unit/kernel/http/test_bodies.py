"""A body that is too long is stopped by its announced length, or while it is still arriving."""

from collections.abc import Sequence

import msgspec
import pytest

from tidings.kernel.http.asgi import Message, Receive, Scope, Send, read_all, respond
from tidings.kernel.http.bodies import BodyLimit, require_json
from tidings.kernel.http.errors import BodyTooLargeError, WrongContentTypeError


class Reader:
    def __init__(self) -> None:
        self.read: bytes | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.read = await read_all(receive)
        await respond(send, 200, b"{}")


async def call(
    layer: BodyLimit, parts: Sequence[bytes], *, announced: str | None = None, path: str = "/x"
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
    await layer({"type": "http", "method": "POST", "path": path, "headers": headers}, receive, send)
    return sent


async def test_a_body_of_exactly_the_limit_passes() -> None:
    reader = Reader()

    await call(BodyLimit(reader, limit=10), [b"12345", b"67890"], announced="10")

    assert reader.read == b"1234567890"


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


async def test_a_path_may_have_its_own_limit() -> None:
    reader = Reader()
    layer = BodyLimit(reader, limit=10, by_path={"/bulk": 100})

    await call(layer, [b"x" * 100], path="/bulk")

    assert reader.read == b"x" * 100


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"]
)
def test_json_by_any_of_its_names(kind: str) -> None:
    require_json(kind)


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonp"]
)
def test_other_kinds_are_refused(kind: str | None) -> None:
    with pytest.raises(WrongContentTypeError):
        require_json(kind)
