"""What the generated namespaces stand on: how one call of a resource is made, sent, and followed page after page."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call, new_key, query_texts, reader
from tidings_client.results import Page

if TYPE_CHECKING:
    from tidings_client.api.asynchronous import AsyncTidings
    from tidings_client.synchronous import Tidings

T = TypeVar("T")

#: The fields that `repr` shows: they identify an answer, and hold nothing personal and no secret.
_REPR_FIELDS = ("id", "status", "version")


class ApiStruct(msgspec.Struct, frozen=True):
    """Base of the generated structs: fields of a newer server are passed over, and `repr` shows no address and no secret."""

    def __repr__(self) -> str:
        known = [name for name in _REPR_FIELDS if name in self.__struct_fields__]
        fields = "".join(f"{name}={getattr(self, name)!r}, " for name in known)
        return f"{type(self).__name__}({fields}…)"


class _Calls:
    """Makes calls below `/api/v1`, or below `/internal/v1` for what is the platform's own."""

    _home: str

    def _json(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        if_match: int | None = None,
        key: str | None = None,
        media_type: str = "application/json",
        accept: str | None = None,
        safe: bool = False,
    ) -> Call[T]:
        return Call(
            method=method,
            path=f"{self._home}{path}",
            read=reader(kind),
            query=query_texts(query or {}),
            body=None if body is None else msgspec.json.encode(body),
            key=key,
            media_type=media_type,
            accept=accept,
            if_match=None if if_match is None else f'"v{if_match}"',
            safe=safe,
        )

    @staticmethod
    def _key(given: str | None) -> str:
        return given or new_key()


class Resources:
    """Resources as attributes, each imported when it is first used: a program pays for those that it calls."""

    _HOME: ClassVar[str]
    _CLASSES: ClassVar[Mapping[str, str]]

    def __init__(self, client: object) -> None:
        self._client = client

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in self._CLASSES:
                raise AttributeError(f"{type(self).__name__} has no {name}")
            module = import_module(f"tidings_client.api.{name}")
            made = getattr(module, self._CLASSES[name])(self._client, self._HOME)
            self.__dict__[name] = made
            return made

        def __dir__(self) -> list[str]:
            return sorted({*super().__dir__(), *self._CLASSES})


class Namespace(_Calls):
    """The calls of one resource, for `Tidings`."""

    def __init__(self, client: "Tidings", home: str) -> None:
        self._client, self._home = client, home

    def _pages(self, call: Call[Page[T]]) -> Iterator[T]:
        while True:
            page = self._client.call(call)
            yield from page.items
            if page.next_cursor is None:
                return
            call = following(call, page)

    def _file(self, call: Call[T], content: bytes | Iterable[bytes]) -> T:
        if isinstance(content, bytes):
            return self._client.call(replace(call, body=content))
        return self._client.upload(call, iter(content))


class AsyncNamespace(_Calls):
    """The calls of one resource, for `AsyncTidings`."""

    def __init__(self, client: "AsyncTidings", home: str) -> None:
        self._client, self._home = client, home

    async def _pages(self, call: Call[Page[T]]) -> AsyncIterator[T]:
        while True:
            page = await self._client.call(call)
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            call = following(call, page)

    async def _file(self, call: Call[T], content: bytes | Iterable[bytes] | AsyncIterable[bytes]) -> T:
        if isinstance(content, bytes):
            return await self._client.call(replace(call, body=content))
        return await self._client.upload(call, content)


async def one_by_one(pieces: AsyncIterable[bytes] | Iterable[bytes]) -> AsyncIterator[bytes]:
    """The pieces of an upload, for the asynchronous client."""
    import asyncio  # Commands, which use the other client, start without it.

    if isinstance(pieces, AsyncIterable):
        async for piece in pieces:
            yield piece
        return
    for piece in pieces:
        yield piece
        # Pieces that are there at once must not keep other tasks from their turn.
        await asyncio.sleep(0)


def segment(value: str | int, *, slash: str = "/") -> str:
    """A value as one segment of a path; `slash` stands for a slash in it, where the API takes one so."""
    return quote(str(value).replace("/", slash), safe=":")


def following(call: Call[Page[T]], page: Page[T]) -> Call[Page[T]]:
    """The call of the page after this one."""
    return replace(call, query={**call.query, "cursor": str(page.next_cursor)})
