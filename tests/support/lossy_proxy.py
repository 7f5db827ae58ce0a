"""Stands before Postgres and loses answers: a commit is carried out, and whoever asked for it is cut off."""

import asyncio
import contextlib
import random
from typing import Self

_COMMIT = b"COMMIT\x00"


class LossyProxy:
    """Passes bytes both ways, except for the answers to some commits."""

    def __init__(self, host: str, port: int, *, seed: int) -> None:
        self._target = (host, port)
        self._luck = random.Random(seed)
        self._server: asyncio.Server | None = None
        #: The share of commits whose answer is lost.
        self.rate = 0.0
        #: How many were.
        self.lost = 0

    @classmethod
    async def start(cls, host: str, port: int, *, seed: int = 0) -> Self:
        """Listen on a port of its own."""
        proxy = cls(host, port, seed=seed)
        proxy._server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
        return proxy

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            onward, back = await asyncio.open_connection(*self._target)
            #: Set once the answer that comes next is to be lost.
            lose = asyncio.Event()
            ways = [
                asyncio.create_task(self._ask(reader, back, lose)),
                asyncio.create_task(self._answer(onward, writer, lose)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                back.close()
                writer.close()

    async def _ask(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lose: asyncio.Event
    ) -> None:
        while data := await reader.read(65536):
            if data.endswith(_COMMIT) and self._luck.random() < self.rate:
                lose.set()
            writer.write(data)
            await writer.drain()

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lose: asyncio.Event
    ) -> None:
        while data := await reader.read(65536):
            if lose.is_set():
                self.lost += 1
                return
            writer.write(data)
            await writer.drain()
