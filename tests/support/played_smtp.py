"""A mail server that plays a recorded part: it answers each command as it was told to, and notes what it heard."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

#: Instead of an answer, or behind one: say nothing more, or end the connection.
HANG, CLOSE = b"<hang>", b"<close>"
#: Before an answer: it comes after a tenth of a second.
SLOW = b"<slow>"

USUAL: Mapping[str, bytes] = {
    "BANNER": b"220 mx.played.test ESMTP\r\n",
    "EHLO": b"250-mx.played.test\r\n250-PIPELINING\r\n250-SIZE 10485760\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
    "HELO": b"250 mx.played.test\r\n",
    "MAIL": b"250 2.1.0 Ok\r\n",
    "RCPT": b"250 2.1.5 Ok\r\n",
    "DATA": b"354 End data with <CR><LF>.<CR><LF>\r\n",
    ".": b"250 2.0.0 Ok: queued as 4XyZabCdEf\r\n",
    "RSET": b"250 2.0.0 Ok\r\n",
    "QUIT": b"221 2.0.0 Bye\r\n",
    "NOOP": b"250 2.0.0 Ok\r\n",
}


class PlayedSmtp:
    """What it answers, and what it heard."""

    def __init__(
        self,
        parts: Mapping[str, bytes | list[bytes]],
        *,
        tls: ssl.SSLContext | None = None,
        reads_lone_dots: bool = False,
    ) -> None:
        self._parts: dict[str, bytes | list[bytes]] = {**USUAL, **parts}
        self._tls = tls
        self._reads_lone_dots = reads_lone_dots
        self._said = b""
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.port = 0
        #: The certificate of the latest client that showed one, as the library tells it.
        self.client: object = None
        #: Every command line, in order.
        self.heard: list[str] = []
        #: Every message, without its final dot.
        self.messages: list[bytes] = []

    def _part(self, name: str) -> bytes:
        part = self._parts.get(name, b"502 5.5.1 unknown command\r\n")
        if isinstance(part, list):
            # One after the other; the last one for good.
            return part.pop(0) if len(part) > 1 else part[0]
        return part

    def _name(self, verb: str, line: str) -> str:
        """`RCPT dropped`: the answer for recipients with that word in them."""
        words = (name for name in self._parts if name.startswith(f"{verb} "))
        return next((name for name in words if name.partition(" ")[2] in line), verb)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError
        ):
            if await self._say(writer, "BANNER"):
                await self._talk(reader, writer)
        writer.close()
        self._tasks.discard(task)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while said := await reader.readline():
            line = said.decode().rstrip("\r\n")
            self.heard.append(line)
            verb = line.partition(" ")[0].upper()
            if not await self._say(writer, self._name(verb, line)):
                return
            if verb == "STARTTLS" and self._tls is not None:
                await writer.start_tls(self._tls)
                self.client = writer.get_extra_info("peercert")
            elif verb == "DATA" and self._said.startswith(b"354"):
                self.messages.append(await self._read_message(reader))
                if not await self._say(writer, "."):
                    return
            elif verb == "QUIT":
                return

    async def _read_message(self, reader: asyncio.StreamReader) -> bytes:
        if self._reads_lone_dots and (first := await reader.readline()) == b".\r\n":
            return b""
        start = first if self._reads_lone_dots else b""
        return start + (await reader.readuntil(b"\r\n.\r\n")).removesuffix(b".\r\n")

    async def _say(self, writer: asyncio.StreamWriter, name: str) -> bool:
        part = self._said = self._part(name)
        if part == CLOSE:
            return False
        if part == HANG:
            await asyncio.Event().wait()
        if part.startswith(SLOW):
            await asyncio.sleep(0.1)
        writer.write(part.removeprefix(SLOW).removesuffix(CLOSE))
        await writer.drain()
        return not part.endswith(CLOSE)

    async def stop(self) -> None:
        """End what hangs."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def played_smtp(
    parts: Mapping[str, bytes | list[bytes]] | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    reads_lone_dots: bool = False,
) -> AsyncIterator[PlayedSmtp]:
    """A server that plays these parts, and is usual in all others."""
    played = PlayedSmtp(parts or {}, tls=tls, reads_lone_dots=reads_lone_dots)
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    played.port = server.sockets[0].getsockname()[1]
    try:
        yield played
    finally:
        server.close()
        await played.stop()
