"""SMTP's replies, read off a socket: one at a time, with a deadline, and with an end to all patience.

What can't be a reply ends the connection. No text of a reply is in an exception: servers like to quote addresses.
"""

import asyncio
import re
import ssl
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, cast

#: A whole reply, all its lines together.
LONGEST_REPLY = 64 * 1024
#: With TLS 1.3 a server says so only after both have agreed.
TLS_ENDED = "the server ended TLS: it may want a client certificate, or another one"
#: More than were asked for at once.
_MOST_REPLIES = 16
_LINE = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)
_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})\b\s*")


class SmtpReply(NamedTuple):
    """What the server said."""

    #: 250, 354, 421, …
    code: int
    #: All its lines, joined by spaces; may quote what we sent.
    text: str
    #: Each line by itself.
    lines: tuple[str, ...]

    @property
    def detailed_code(self) -> str:
        """The enhanced code (`5.1.1`) where there is one, else the plain one."""
        found = _ENHANCED.match(self.text)
        return found[1] if found else str(self.code)

    @property
    def words(self) -> str:
        """The text without its codes."""
        return " ".join(_ENHANCED.sub("", line, count=1) for line in self.lines).strip()


class ConnectionGoneError(Exception):
    """The connection ended, or what came over it was no SMTP; the message says which, and nothing else."""


class SmtpWire(asyncio.Protocol):
    """One connection's bytes."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._lines: list[tuple[int, str]] = []
        #: How long the unfinished reply in `_lines` is.
        self._reply_bytes = 0
        self._replies: deque[SmtpReply] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        #: By when the reply that is waited for has to be there; None: whenever.
        self._deadline: float | None = None
        #: Why it is over; None while it is not.
        self.gone: str | None = None
        #: Something that was written is still in our own hands: the server can't have seen its end.
        self.unsent = False
        #: Called once, when it is over.
        self.on_gone: Callable[[], None] = lambda: None
        #: Called with the next reply at the moment it is read; whoever waits for it has it a turn of the loop later.
        self.on_reply: Callable[[SmtpReply], None] | None = None

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected, or wrapped in TLS."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self.gone is not None:
            return
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end]).removesuffix(b"\r")
            self._reply_bytes += end + 1
            del self._buffer[: end + 1]
            if not self._read_line(line):
                self.abort("the server said something that is no SMTP reply")
                return
        if len(self._buffer) + self._reply_bytes > LONGEST_REPLY or len(self._replies) > _MOST_REPLIES:
            self.abort("the server's reply does not end")
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side is gone; its text may hold anything."""
        self._end(TLS_ENDED if isinstance(exc, ssl.SSLError) else "the server closed the connection")

    def pause_writing(self) -> None:
        """Not all that was written is out."""
        self.unsent = True

    def resume_writing(self) -> None:
        """It is."""
        self.unsent = False

    # --- what the client calls

    def write(self, data: bytes) -> None:
        """Send."""
        if self.gone is None and self._transport is not None:
            self._transport.write(data)

    async def reply(self, deadline: float | None) -> SmtpReply:
        """The next reply; `ConnectionGoneError` where none comes any more, or not in time. Without a deadline: set it by `expect_by`."""
        while not self._replies:
            if self.gone is not None:
                raise ConnectionGoneError(self.gone)
            self._waiter = self._loop.create_future()
            self.expect_by(deadline)
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._replies.popleft()

    def expect_by(self, deadline: float | None) -> None:
        """By when the reply has to be there that is waited for."""
        # One timer for many waits: it looks at the deadline when it rings.
        self._deadline = deadline
        if deadline is None or self.gone is not None:
            return
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._ring)
        elif self._timer.when() > deadline:
            self._timer.cancel()
            self._timer = self._loop.call_at(deadline, self._ring)

    @property
    def has_unread(self) -> bool:
        """Something came that nobody asked for."""
        return bool(self._replies or self._buffer or self._lines)

    def info(self, name: str) -> object:
        """What the transport knows: `sockname`, `ssl_object`."""
        return self._transport.get_extra_info(name) if self._transport is not None else None

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Go on under TLS; whatever was sent in the clear ahead of it is an attack, and ends the connection."""
        if self.has_unread or self._transport is None:
            self.abort("the server sent data ahead of TLS")
            raise ConnectionGoneError(self.gone)
        wrapped = await self._loop.start_tls(self._transport, self, context, server_hostname=host)
        if wrapped is None:
            self._end("the connection ended during TLS")
            raise ConnectionGoneError(self.gone)
        self.connection_made(wrapped)

    def abort(self, reason: str) -> None:
        """End it at once."""
        self._end(reason)
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """End it after what was written is out."""
        self._end("we closed the connection")
        if self._transport is not None:
            self._transport.close()

    # --- within

    def _read_line(self, line: bytes) -> bool:
        match = _LINE.fullmatch(line)
        if match is None:
            return False
        code, mark, rest = int(match[1]), match[2] or b" ", match[3] or b""
        if self._lines and self._lines[0][0] != code:
            return False
        self._lines.append((code, rest.decode("utf-8", "replace")))
        if mark == b" ":
            lines = tuple(text for _, text in self._lines)
            reply = SmtpReply(code, " ".join(lines), lines)
            self._replies.append(reply)
            self._lines = []
            self._reply_bytes = 0
            on_reply, self.on_reply = self.on_reply, None
            if on_reply is not None:
                # Who waits here goes on before those that are told now.
                self._wake()
                on_reply(reply)
        return True

    def _ring(self) -> None:
        self._timer = None
        if self._waiter is None or self._deadline is None:
            return
        if self._loop.time() >= self._deadline:
            self.abort("the server did not answer in time")
        else:
            self._timer = self._loop.call_at(self._deadline, self._ring)

    def _wake(self) -> None:
        if self._replies and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _end(self, reason: str) -> None:
        if self.gone is not None:
            return
        self.gone = reason
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self.on_gone()
