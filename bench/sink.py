"""A mail server that takes everything, counts it and forgets it: what a vendor costs at the least."""

import asyncio
import re
import time
from types import TracebackType
from typing import Self, cast

_MESSAGE_ID = re.compile(rb"^Message-ID: <([^@>]+)", re.MULTILINE | re.IGNORECASE)


class _Session(asyncio.Protocol):
    def __init__(self, sink: "Sink") -> None:
        self._sink = sink
        self._buffer = b""
        self._in_data = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.write(b"220 sink ESMTP\r\n")

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data
        answers: list[bytes] = []
        while True:
            if self._in_data:
                end = buffer.find(b"\r\n.\r\n")
                if end < 0:
                    break
                self._sink.took(buffer[:end])
                buffer = buffer[end + 5 :]
                self._in_data = False
                answers.append(b"250 2.0.0 taken\r\n")
                continue
            line, found, rest = buffer.partition(b"\r\n")
            if not found:
                break
            buffer = rest
            verb = line[:4].upper()
            if verb == b"DATA":
                self._in_data = True
                answers.append(b"354 go ahead\r\n")
            elif verb == b"EHLO":
                answers.append(b"250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n")
            elif verb == b"QUIT":
                answers.append(b"221 bye\r\n")
            else:
                answers.append(b"250 ok\r\n")
        self._buffer = buffer
        if answers:
            self._transport.write(b"".join(answers))


class Sink:
    """Listens on loopback."""

    def __init__(self, *, note_ids: bool = False, port: int = 0) -> None:
        """`note_ids`: remember when each message came, by the id in its Message-ID."""
        self.count = 0
        self.port = port
        self.came: dict[str, list[float]] = {}
        self._note_ids = note_ids
        self._awaited: dict[str, asyncio.Future[float]] = {}

    def took(self, mail: bytes) -> None:
        """One more."""
        self.count += 1
        if self._note_ids and (found := _MESSAGE_ID.search(mail)):
            name, now = found[1].decode(), time.perf_counter()
            self.came.setdefault(name, []).append(now)
            if (awaited := self._awaited.pop(name, None)) is not None and not awaited.done():
                awaited.set_result(now)

    async def arrival(self, name: str, *, seconds: float) -> float:
        """When the message of that id came; waits for it without looking again and again, which would cost what is measured."""
        if name in self.came:
            return self.came[name][0]
        awaited: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._awaited[name] = awaited
        async with asyncio.timeout(seconds):
            return await awaited

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Session(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
