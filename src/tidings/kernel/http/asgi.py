"""The few types and moves of ASGI that all layers share."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
#: A scope that is only read.
SeenScope: TypeAlias = Mapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


#: Where the body of a request stands in its scope, once all of it is here.
WHOLE_BODY = "tidings.body"
#: Answers of which no length is said: none has a body.
_BODILESS = frozenset({204, 304})


class ClientGoneError(Exception):
    """The client hung up before its request was read; there is no client to answer."""


def header(scope: SeenScope, name: bytes) -> str | None:
    """The first header of that (lower-case) name."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "latin-1")
    return None


def headers(scope: SeenScope, name: bytes) -> list[str]:
    """All headers of that (lower-case) name."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


async def read_all(receive: Receive) -> bytes:
    """The whole body."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    if not message.get("more_body", False):
        return bytes(message.get("body", b""))
    parts = [message.get("body", b"")]
    while message.get("more_body", False):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        parts.append(message.get("body", b""))
    return b"".join(parts)


async def respond(
    send: Send,
    status: int,
    body: bytes,
    *,
    media_type: str | None = "application/json",
    extra: Iterable[tuple[str, str]] = (),
) -> None:
    """Send a whole answer."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                *([(b"content-type", media_type.encode("latin-1"))] if media_type else []),
                *([(b"content-length", str(len(body)).encode())] if status not in _BODILESS else []),
                *((name.encode("latin-1"), value.encode("latin-1")) for name, value in extra),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
