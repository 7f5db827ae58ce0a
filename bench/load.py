"""Drives HTTP with little effort of its own: connections that are kept, requests that are built before."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True)
class Answers:
    """What came back."""

    seconds: float = 0.0
    count: int = 0
    #: Answers with another status than 2xx, by status.
    refused: dict[int, int] = field(default_factory=dict)
    #: How long each took.
    took: list[float] = field(default_factory=list)


def request(base_url: str, path: str, key: str, body: bytes) -> bytes:
    """A whole request, ready for the wire."""
    host = urlsplit(base_url).netloc
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Connection:
    """One connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, base_url: str) -> "Connection":
        """Connect."""
        where = urlsplit(base_url)
        return cls(*await asyncio.open_connection(where.hostname, where.port))

    async def ask(self, wire: bytes) -> tuple[int, bytes]:
        """Send a request; status and body of the answer."""
        self._writer.write(wire)
        head = await self._reader.readuntil(b"\r\n\r\n")
        at = head.lower().index(b"content-length:") + 15
        length = int(head[at : head.index(b"\r\n", at)])
        return int(head[9:12]), await self._reader.readexactly(length)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def drive(
    base_url: str,
    requests: Iterator[bytes],
    *,
    clients: int,
    on_answer: Callable[[int, bytes], None] | None = None,
) -> Answers:
    """Send them all over so many connections, each as soon as the one before is answered."""
    answers = Answers()
    connections = [await Connection.open(base_url) for _ in range(clients)]

    async def client(connection: Connection) -> None:
        for wire in requests:
            began = time.perf_counter()
            status, body = await connection.ask(wire)
            answers.took.append(time.perf_counter() - began)
            answers.count += 1
            if not 200 <= status < 300:
                answers.refused[status] = answers.refused.get(status, 0) + 1
            if on_answer is not None:
                on_answer(status, body)

    began = time.perf_counter()
    await asyncio.gather(*(client(connection) for connection in connections))
    answers.seconds = time.perf_counter() - began
    for connection in connections:
        connection.close()
    return answers


async def until(condition: Callable[[], bool], *, seconds: float) -> None:
    """Wait for it, or fail."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
