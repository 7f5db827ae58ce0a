"""A server that takes connections and, when told, says nothing more, as a host that has hung does, or speaks slowly."""

import asyncio
import contextlib
from typing import Self


class HangingProxy:
    """Passes bytes to a real server and back, until it `hangs`."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: While set, nothing that comes in is passed on.
        self.hangs = False
        #: So many bytes come through at once, with a moment between them; None: as they come.
        self.piece: int | None = None

    @classmethod
    async def start(cls, host: str, port: int) -> Self:
        """Listen on a port of its own."""
        proxy = cls(host, port)
        proxy._server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
        return proxy

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            onward, back = await asyncio.open_connection(*self._target)
            try:
                await asyncio.gather(self._pass(reader, back), self._pass(onward, writer))
            finally:
                back.close()
                writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self.hangs:
                continue
            piece = self.piece or len(data)
            for start in range(0, len(data), piece):
                writer.write(data[start : start + piece])
                await writer.drain()
                if self.piece is not None:
                    await asyncio.sleep(0.002)
        writer.close()
