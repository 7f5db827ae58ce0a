"""A mail server that takes everything: quick enough not to be what a benchmark measures.

Faults hit the message, not the connection: refusals come at RCPT, where real servers refuse people; `hang`, `close`
and `garbage` come after the message was taken, so that its sender can't know.
"""

import asyncio
import ssl
from typing import cast

from tidings.contracts.smtp_text import END, PATH, several_lines, without_dots
from tidings.sandbox.connection_limits import ConnectionLimits, IdleTimer
from tidings.sandbox.faults import FaultEffect, Faults
from tidings.sandbox.store import Store

MOST_MESSAGE_BYTES = 25 * 1024 * 1024
_LONGEST_LINE = 8192
_GARBAGE = b"\x00\xffNOT SMTP AT ALL \xfe\r\n{]}\r\n"


class SmtpSandbox:
    """Listens for mail."""

    def __init__(
        self,
        store: Store,
        faults: Faults,
        *,
        tls: ssl.SSLContext | None = None,
        welcome: ConnectionLimits | None = None,
    ) -> None:
        self.welcome = welcome or ConnectionLimits()
        self.store = store
        self.faults = faults
        self.tls = tls
        self.sessions: set[_Session] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; 0 for any free port. The port that it is."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Session(self), host, port, backlog=1024)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        """Close all."""
        if self._server is not None:
            self._server.close()
            for session in list(self.sessions):
                session.drop()
            await self._server.wait_closed()


class _Session(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: SmtpSandbox) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._answers: list[bytes] = []
        self._sender: bytes | None = None
        self._to: list[bytes] = []
        self._fault: FaultEffect | None = None
        self._in_data = False
        #: How much of a message was looked through for its end: a large one comes in many pieces.
        self._searched = 0
        #: How many steps of AUTH LOGIN are still to come.
        self._login_steps = 0
        self._held = False
        self._secure = False
        self._silence: IdleTimer | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport = cast("asyncio.Transport", transport)
        if self._silence is None:
            if not self._server.welcome.has_room(len(self._server.sessions)):
                self._held = True
                self._transport.write(b"421 4.3.2 the sandbox holds no more connections\r\n")
                self._transport.close()
                return
            self._silence = IdleTimer(self._server.welcome.silence, self.drop, busy=lambda: self._held)
        self._server.sessions.add(self)
        if not self._secure:
            self._transport.write(b"220 sandbox ESMTP Tidings\r\n")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """They are gone."""
        self._server.sessions.discard(self)
        if self._silence is not None:
            self._silence.over()
        for task in self._tasks:
            task.cancel()

    def drop(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Commands, or a message."""
        if self._silence is not None:
            self._silence.heard()
        if self._is_one_message(data):
            # Nearly every message comes in one piece and has no other line with a dot in front: that one is
            # looked through once, and not copied to and fro.
            self._receive(data[:-3])
            self._flush()
            return
        self._buffer += data
        self._go_on()

    def _is_one_message(self, data: bytes) -> bool:
        return (
            self._in_data
            and not self._buffer
            and not self._held
            and data.endswith(END)
            and not data.startswith(b".")
            and data.find(b"\r\n.") == len(data) - len(END)
        )

    def _go_on(self) -> None:
        while not self._held and (self._take_message() if self._in_data else self._take_command()):
            pass
        self._flush()
        if (
            not self._in_data
            and len(self._buffer) > _LONGEST_LINE
            and not self._held
            and self._transport is not None
        ):
            self._transport.write(b"500 5.5.2 the line is too long\r\n")
            self._transport.close()

    def _flush(self) -> None:
        if self._answers and self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(self._answers))
        self._answers.clear()

    # --- the message

    def _take_message(self) -> bool:
        if self._buffer.startswith(b".\r\n"):
            raw, rest = b"", 3
        else:
            end = self._buffer.find(END, self._searched)
            if end < 0:
                self._searched = max(0, len(self._buffer) - len(END) + 1)
                if len(self._buffer) > MOST_MESSAGE_BYTES + 65536:
                    self._answers.append(b"552 5.3.4 the message is too large\r\n")
                    self._flush()
                    if self._transport is not None:
                        self._transport.close()
                return False
            raw, rest = bytes(memoryview(self._buffer)[: end + 2]), end + 5
        del self._buffer[:rest]
        self._receive(without_dots(raw))
        return True

    def _receive(self, raw: bytes) -> None:
        self._in_data = False
        self._searched = 0
        if len(raw) > MOST_MESSAGE_BYTES:
            self._answers.append(b"552 5.3.4 the message is too large\r\n")
        else:
            self._keep(raw)
        self._sender, self._to = None, []

    def _keep(self, raw: bytes) -> None:
        message = self._server.store.add(
            adapter="smtp",
            channel="email",
            sender=(self._sender or b"").decode("utf-8", "replace"),
            to=tuple(address.decode("utf-8", "replace") for address in self._to),
            raw=raw,
        )
        answer = b"250 2.0.0 Ok: queued as %s\r\n" % message.id.encode()
        fault, self._fault = self._fault, None
        if fault is None:
            self._answers.append(answer)
        elif fault.mode == "garbage":
            self._answers.append(_GARBAGE)
        elif fault.mode == "close":
            self._flush()
            self.drop()
            self._held = True
        else:
            # Slow or hanging: nothing more is read meanwhile, as with a server that has stalled.
            self._held = True
            self._flush()
            task = asyncio.get_running_loop().create_task(self._hold(fault, answer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _hold(self, fault: FaultEffect, answer: bytes) -> None:
        if fault.delay is None:
            return
        await asyncio.sleep(fault.delay)
        if fault.mode == "hang":
            self.drop()
            return
        self._held = False
        self._answers.append(answer)
        self._go_on()

    # --- commands

    def _take_command(self) -> bool:
        end = self._buffer.find(b"\n")
        if end < 0:
            return False
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        if self._login_steps:
            self._login_steps -= 1
            self._answers.append(b"334 UGFzc3dvcmQ6\r\n" if self._login_steps else b"235 2.7.0 welcome\r\n")
            return True
        verb, _, rest = line.partition(b" ")
        return self._obey(verb.upper(), rest)

    def _obey(self, verb: bytes, rest: bytes) -> bool:
        match verb:
            case b"MAIL":
                self._mail(rest)
            case b"RCPT":
                self._rcpt(rest)
            case b"DATA":
                self._data()
            case b"RSET":
                self._sender, self._to, self._fault = None, [], None
                self._answers.append(b"250 2.0.0 Ok\r\n")
            case b"EHLO" | b"HELO":
                self._hello(verb)
            case b"AUTH":
                self._auth(rest)
            case b"STARTTLS" if self._server.tls is not None and not self._secure:
                self._start_tls(self._server.tls)
            case b"NOOP":
                self._answers.append(b"250 2.0.0 Ok\r\n")
            case b"VRFY":
                self._answers.append(b"252 2.0.0 try it\r\n")
            case b"QUIT":
                self._answers.append(b"221 2.0.0 bye\r\n")
                self._flush()
                if self._transport is not None:
                    self._transport.close()
                return False
            case _:
                self._answers.append(b"502 5.5.1 not a command that the sandbox knows\r\n")
        return True

    def _hello(self, verb: bytes) -> None:
        self._sender, self._to = None, []
        if verb == b"HELO":
            self._answers.append(b"250 sandbox\r\n")
            return
        offers = ["PIPELINING", f"SIZE {MOST_MESSAGE_BYTES}", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"]
        if self._server.tls is not None and not self._secure:
            offers.append("STARTTLS")
        lines = ["sandbox", *offers, "AUTH PLAIN LOGIN"]
        self._answers.append(several_lines(250, lines))

    def _mail(self, rest: bytes) -> None:
        path = PATH.fullmatch(rest)
        if path is None:
            self._answers.append(b"501 5.5.4 write MAIL FROM:<address>\r\n")
            return
        if self._sender is not None:
            self._answers.append(b"503 5.5.1 there is a sender already\r\n")
            return
        self._sender = path[1]
        self._fault = self._server.faults.strike("smtp")
        if self._fault is not None and self._fault.mode == "throttle":
            self._answers.append(b"421 4.7.0 too many messages, slow down\r\n")
            self._flush()
            self._held = True
            if self._transport is not None:
                self._transport.close()
            return
        self._answers.append(b"250 2.1.0 Ok\r\n")

    def _rcpt(self, rest: bytes) -> None:
        path = PATH.fullmatch(rest)
        if self._sender is None:
            self._answers.append(b"503 5.5.1 MAIL comes first\r\n")
        elif path is None or not path[1]:
            self._answers.append(b"501 5.5.4 write RCPT TO:<address>\r\n")
        elif self._fault is not None and self._fault.mode == "reject_permanent":
            self._answers.append(b"550 5.1.1 no such mailbox here\r\n")
        elif self._fault is not None and self._fault.mode == "reject_temporary":
            self._answers.append(b"451 4.3.0 try again later\r\n")
        else:
            self._to.append(path[1])
            self._answers.append(b"250 2.1.5 Ok\r\n")

    def _data(self) -> None:
        if not self._to:
            self._answers.append(b"554 5.5.1 no valid recipients\r\n")
            return
        self._in_data = True
        self._answers.append(b"354 go ahead\r\n")

    def _auth(self, rest: bytes) -> None:
        words = rest.split()
        way = words[0].upper() if words else b""
        if way == b"PLAIN" and len(words) > 1:
            self._answers.append(b"235 2.7.0 welcome\r\n")
        elif way in {b"PLAIN", b"LOGIN"}:
            self._login_steps = 2 if way == b"LOGIN" and len(words) == 1 else 1
            self._answers.append(b"334 VXNlcm5hbWU6\r\n" if way == b"LOGIN" else b"334 \r\n")
        else:
            self._answers.append(b"504 5.5.4 PLAIN or LOGIN\r\n")

    def _start_tls(self, context: ssl.SSLContext) -> None:
        self._answers.append(b"220 2.0.0 go ahead\r\n")
        self._flush()
        # What was sent behind STARTTLS in the clear is not read, and TLS reads what comes next.
        if self._transport is not None:
            self._transport.pause_reading()
        self._buffer.clear()
        self._held = True
        task = asyncio.get_running_loop().create_task(self._wrap(context))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wrap(self, context: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        assert self._transport is not None  # noqa: S101  # a session that speaks is connected
        try:
            wrapped = await loop.start_tls(self._transport, self, context, server_side=True)
        except (OSError, ssl.SSLError):
            self.drop()
            return
        if wrapped is not None:
            self._transport = wrapped
            self._secure = True
            self._held = False
            self._go_on()
