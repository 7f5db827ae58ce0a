"""What a handler gives back, and how it becomes an answer on the wire.

A plain struct is an answer of 200, None one of 204. `Answer` adds a status, an ETag, a place; `Reply` is any
bytes, or a stream of them.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import msgspec

from tidings.kernel.http.asgi import Receive, Send, respond
from tidings.kernel.http.etags import etag

JSON = "application/json"
#: Seconds within which a client takes a piece of a stream.
PATIENCE: Final = 60.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that is ready for the wire."""

    body: bytes | AsyncIterator[bytes] = field(default=b"", repr=False)
    media_type: str | None = JSON
    #: None: the one that the operation declares.
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Each a `Set-Cookie` of its own.
    cookies: Sequence[str] = field(default=(), repr=False)

    @classmethod
    def page(cls, html: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> "Reply":
        """A page for people."""
        return cls(body=html.encode(), media_type="text/html", status=status, headers=headers or {})

    @classmethod
    def download(cls, content: bytes) -> "Reply":
        """Bytes as they are, to be kept as a file and in no cache."""
        headers = {"content-disposition": "attachment", "cache-control": "no-store"}
        return cls(body=content, media_type="application/octet-stream", headers=headers)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A struct with what stands beside it in an answer."""

    body: T = field(repr=False)
    #: The version that the ETag names.
    version: int | None = None
    #: None: the one that the operation declares.
    status: int | None = None
    #: Where what was made can be read.
    location: str | None = None
    #: What a repeated request with the same Idempotency-Key gets, where the body holds a secret that is not kept.
    again: T | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def reply(self) -> Reply:
        """The same as bytes."""
        headers = dict(self.headers)
        if self.version is not None:
            headers["ETag"] = etag(self.version)
        if self.location is not None:
            headers["Location"] = self.location
        return Reply(body=msgspec.json.encode(self.body), status=self.status, headers=headers)


def reply_of(result: Any) -> Reply:
    """What a handler gave back, ready for the wire."""
    if result is None:
        return Reply(media_type=None)
    if isinstance(result, Reply):
        return result
    if isinstance(result, Answer):
        return result.reply()
    return Reply(body=msgspec.json.encode(result))


async def send_reply(
    reply: Reply, receive: Receive, send: Send, *, status: int, headers: Mapping[str, str]
) -> None:
    """Send it; `status` and `headers` are those that the operation declares."""
    media_type = reply.media_type
    if media_type is not None and media_type.startswith("text/") and "charset" not in media_type:
        media_type += "; charset=utf-8"
    code = reply.status or status
    extra = [*reply.headers.items(), *headers.items(), *(("set-cookie", one) for one in reply.cookies)]
    if isinstance(reply.body, bytes):
        await respond(send, code, reply.body, media_type=media_type, extra=extra)
    else:
        kind = [("content-type", media_type)] if media_type else []
        await _stream(reply.body, receive, send, code, [*kind, *extra])


async def _stream(
    pieces: AsyncIterator[bytes], receive: Receive, send: Send, status: int, head: list[tuple[str, str]]
) -> None:
    """Send pieces as they come; a client that hangs up, or takes none for a while, ends it. They are closed in any case."""

    async def write() -> None:
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in head]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        async for piece in pieces:
            try:
                async with asyncio.timeout(PATIENCE):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            except TimeoutError:
                return
        await send({"type": "http.response.body", "body": b""})

    async def until_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    writing, gone = asyncio.ensure_future(write()), asyncio.ensure_future(until_gone())
    try:
        await asyncio.wait({writing, gone}, return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            writing.result()
    finally:
        for task in (writing, gone):
            task.cancel()
        await asyncio.gather(writing, gone, return_exceptions=True)
        # What never began, or waits for the next piece to be taken, would keep what it holds.
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
