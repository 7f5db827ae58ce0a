"""An SMSC that plays a recorded part: it answers each request as it was told to, and notes what it heard.

It writes its PDUs by hand, so that nothing of the adapter's own codec is asked whether the adapter is right.
"""

import asyncio
import contextlib
import ssl
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

NAMES: Mapping[int, str] = {
    0x00000001: "bind_receiver",
    0x00000002: "bind_transmitter",
    0x00000009: "bind_transceiver",
    0x00000004: "submit_sm",
    0x00000006: "unbind",
    0x00000015: "enquire_link",
    0x80000000: "generic_nack",
    0x80000005: "deliver_sm_resp",
    0x80000103: "data_sm_resp",
    0x80000006: "unbind_resp",
    0x80000015: "enquire_link_resp",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What it does about one request."""

    status: int = 0
    body: bytes = b""
    #: Another command than the request's answer.
    command: int | None = None
    #: Beside the request's own sequence number.
    shift: int = 0
    #: Bytes that are no PDU, instead of an answer.
    raw: bytes | None = None
    #: Seconds before it answers.
    after: float = 0.0
    hangs: bool = False
    closes: bool = False


HANG, CLOSE = Part(hangs=True), Part(closes=True)
OK = Part(body=b"\0")
#: An id as Jasmin gives them.
TAKEN = Part(body=b"7f8cbbd6-a57e-46c4-9f0a-9e6b2b6b7a11\0")
SLOW = Part(body=TAKEN.body, after=0.1)


@dataclass(frozen=True, slots=True)
class Heard:
    """A PDU that came."""

    command: int
    status: int
    sequence: int
    body: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """What the specification calls it."""
        return NAMES.get(self.command, hex(self.command))


def pdu(command: int, sequence: int, body: bytes = b"", *, status: int = 0) -> bytes:
    """A PDU by hand."""
    return struct.pack(">IIII", 16 + len(body), command, status, sequence) + body


def deliver(
    text: bytes,
    *,
    sequence: int = 1,
    esm_class: int = 0,
    data_coding: int = 0,
    source: tuple[int, bytes] = (1, b"447700900123"),
    to: tuple[int, bytes] = (3, b"12345"),
    tlvs: bytes = b"",
) -> bytes:
    """A deliver_sm by hand."""
    body = b"".join(
        (
            b"\0",
            bytes((source[0], 1)) + source[1] + b"\0",
            bytes((to[0], 0)) + to[1] + b"\0",
            bytes((esm_class, 0, 0)) + b"\0\0" + bytes((0, 0, data_coding, 0, len(text))),
            text,
            tlvs,
        )
    )
    return pdu(0x00000005, sequence, body)


class PlayedSmpp:
    """What it answers, and what it heard."""

    def __init__(self, parts: Mapping[str, Part | Sequence[Part]]) -> None:
        self._parts: dict[str, list[Part]] = {
            name: [part] if isinstance(part, Part) else list(part)
            for name, part in {"submit_sm": TAKEN, "enquire_link": Part(), "unbind": Part(), **parts}.items()
        }
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._came = asyncio.Condition()
        self.port = 0
        self.connections = 0
        self.heard: list[Heard] = []

    def named(self, name: str) -> list[Heard]:
        """Those of one command."""
        return [one for one in self.heard if one.name == name]

    async def until(self, name: str, count: int = 1) -> list[Heard]:
        """Wait for so many of a command."""
        async with asyncio.timeout(10), self._came:
            await self._came.wait_for(lambda: len(self.named(name)) >= count)
        return self.named(name)

    def say(self, data: bytes) -> None:
        """Something that nobody asked for, to all that are connected."""
        for writer in self._writers:
            writer.write(data)

    def cut(self) -> None:
        """End all connections."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError
        ):
            while await self._turn(reader, writer):
                pass
        self._writers.discard(writer)
        writer.close()
        self._tasks.discard(task)

    async def _turn(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        length, command, status, sequence = struct.unpack(">IIII", await reader.readexactly(16))
        heard = Heard(command, status, sequence, await reader.readexactly(length - 16))
        async with self._came:
            self.heard.append(heard)
            self._came.notify_all()
        if command & 0x80000000:
            return True
        part = self._part(heard.name)
        if part.after:
            await asyncio.sleep(part.after)
        if part.hangs:
            await asyncio.Event().wait()
        if part.raw is not None:
            writer.write(part.raw)
        elif not part.closes:
            answer = command | 0x80000000 if part.command is None else part.command
            writer.write(pdu(answer, sequence + part.shift, part.body, status=part.status))
        await writer.drain()
        return not part.closes and heard.name != "unbind"

    def _part(self, name: str) -> Part:
        parts = self._parts.get(name, self._parts.get("bind", [OK]) if name.startswith("bind") else [OK])
        # One after the other; the last one for good.
        return parts.pop(0) if len(parts) > 1 else parts[0]

    async def stop(self) -> None:
        """End what hangs."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def played_smpp(
    parts: Mapping[str, Part | Sequence[Part]] | None = None, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[PlayedSmpp]:
    """An SMSC that plays these parts, by the names of commands, and is usual in all others."""
    played = PlayedSmpp(parts or {})
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0, ssl=tls)
    played.port = server.sockets[0].getsockname()[1]
    try:
        yield played
    finally:
        server.close()
        await played.stop()
