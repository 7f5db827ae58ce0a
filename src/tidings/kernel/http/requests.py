"""A request as a handler sees it: the scope of ASGI, the body, the values in the path, and who is calling."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from tidings.kernel.http.asgi import (
    WHOLE_BODY,
    ClientGoneError,
    Receive,
    Scope,
    header,
    headers,
    read_all,
)


class CarriesScope(Protocol):
    """What the readers of a request need of it."""

    @property
    def scope(self) -> Any:
        """The scope of ASGI."""
        ...

    @property
    def receive(self) -> Any:
        """Where the body comes from."""
        ...


async def body_of(request: CarriesScope) -> bytes:
    """The whole body; a `ClientGoneError` where its sender hung up half-way."""
    scope = request.scope
    if WHOLE_BODY not in scope:
        scope[WHOLE_BODY] = await read_all(request.receive)
    body: bytes = scope[WHOLE_BODY]
    return body


class Request:
    """One request. Handlers ask for it only where no typed parameter says what they need."""

    __slots__ = ("_after_commit", "path_values", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive, path_values: dict[str, str]) -> None:
        self.scope = scope
        self.receive = receive
        #: What stands in the path, by the names of the declaration.
        self.path_values = path_values
        self._after_commit: list[Callable[[], object]] = []

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return header(self.scope, name.lower().encode("ascii"))

    def headers(self, name: str) -> list[str]:
        """All headers of that name."""
        return headers(self.scope, name.lower().encode("ascii"))

    async def body(self) -> bytes:
        """The whole body; a `ClientGoneError` where its sender hung up half-way."""
        return await body_of(self)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it arrives, never whole in memory; a `ClientGoneError` where its sender hung up half-way."""
        more = True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            more = message.get("more_body", False)
            if piece := message.get("body", b""):
                yield bytes(piece)

    def after_commit(self, work: Callable[[], object]) -> None:
        """Call `work` when the transaction has committed, and never where it has not."""
        self._after_commit.append(work)

    def committed(self) -> None:
        """Call what waits for the commit."""
        for work in self._after_commit:
            work()
        self._after_commit.clear()
