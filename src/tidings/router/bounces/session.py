"""One conversation with a mail server that has something to bring back."""

import asyncio
from typing import Final, Literal

from tidings.contracts.smtp_text import END, PATH, several_lines, without_dots
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger, why
from tidings.router.bounces.receive_bounce import MOST_KEPT, BounceReceiver

_log = get_logger("bounces")
#: Bytes of a mail that are taken; of those no more than `MOST_KEPT` are kept. A bounce may quote a large message whole.
_MOST_BYTES: Final = 64 * 1024 * 1024
_LONGEST_LINE: Final = 2048
_MOST_RECIPIENTS: Final = 20
_MOST_MAILS: Final = 1000
_MOST_MISTAKES: Final = 20
#: Commands between two mails.
_MOST_COMMANDS: Final = 100
_PIECE: Final = 64 * 1024

_OK: Final = "250 2.0.0 kept"
_LATER: Final = "451 4.3.0 it can't be kept just now, come again later"
_ANSWERS: Final = {
    "kept": _OK,
    "unreadable": _OK,
    "not_a_bounce": "250 2.0.0 read, and not kept: it is no bounce",
    "not_ours": "554 5.6.0 no return path of ours is in it",
    "too_many": "451 4.7.1 too many mails to this return path, come again later",
}


class Session:
    """Speaks SMTP or LMTP until the other side has said all."""

    def __init__(
        self,
        desk: BounceReceiver,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        protocol: Literal["smtp", "lmtp"],
        name: str,
        stopping: asyncio.Event,
        command_seconds: float,
        data_seconds: float,
    ) -> None:
        self._desk = desk
        self._reader = reader
        self._writer = writer
        self._protocol: Literal["smtp", "lmtp"] = protocol
        self._name = name
        self._stopping = stopping
        self._command_seconds = command_seconds
        self._data_seconds = data_seconds
        self._buffer = bytearray()
        self._greeted = False
        self._sender: bytes | None = None
        self._to: list[str] = []
        self._mails = 0
        self._mistakes = 0
        #: Since the last mail.
        self._commands = 0

    async def refuse(self, answer: str) -> None:
        """Say no before anything is said."""
        await self._say(answer)

    async def run(self) -> None:
        """Talk."""
        await self._say(f"220 {self._name} {'LMTP' if self._protocol == 'lmtp' else 'ESMTP'} Tidings")
        while True:
            line = await self._line()
            if line is None:
                return
            if not await self._obey(line):
                return
            self._commands += 1
            if (
                self._mistakes >= _MOST_MISTAKES
                or self._commands >= _MOST_COMMANDS
                or self._mails >= _MOST_MAILS
            ):
                await self._say("421 4.7.0 enough for this connection")
                return

    async def _line(self) -> bytes | None:
        """The next command; None where there is none, or the peer may say no more."""
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > _LONGEST_LINE:
                await self._say("500 5.5.2 the line is too long")
                return None
            if not await self._read(self._command_seconds):
                return None
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        if len(line) > _LONGEST_LINE:
            await self._say("500 5.5.2 the line is too long")
            return None
        return line

    async def _read(self, seconds: float) -> bool:
        """Some more, unless they are gone, silent for too long, or we are about to stop."""
        reading = asyncio.ensure_future(self._reader.read(_PIECE))
        told = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({reading, told}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await self._say("421 4.3.2 come again later")
                return False
            piece = reading.result()
        finally:
            for task in (reading, told):
                task.cancel()
        self._buffer += piece
        return bool(piece)

    async def _obey(self, line: bytes) -> bool:
        verb, _, rest = line.partition(b" ")
        match verb.upper():
            case b"LHLO" | b"EHLO" | b"HELO" as hello:
                await self._hello(hello)
            case b"MAIL":
                await self._mail(rest)
            case b"RCPT":
                await self._rcpt(rest)
            case b"DATA":
                return await self._data()
            case b"RSET":
                self._forget()
                await self._say("250 2.0.0 ok")
            case b"NOOP":
                await self._say("250 2.0.0 ok")
            case b"VRFY":
                await self._say("252 2.1.5 send it, and see")
            case b"QUIT":
                await self._say("221 2.0.0 bye")
                return False
            case _:
                await self._mistake("502 5.5.1 not a command that is known here")
        return True

    async def _hello(self, verb: bytes) -> None:
        if (verb == b"LHLO") != (self._protocol == "lmtp"):
            await self._mistake(f"500 5.5.1 this is {self._protocol.upper()}")
            return
        self._forget()
        self._greeted = True
        if verb == b"HELO":
            await self._say(f"250 {self._name}")
            return
        offers = ["PIPELINING", f"SIZE {_MOST_BYTES}", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"]
        await self._write(several_lines(250, [self._name, *offers]))

    async def _mail(self, rest: bytes) -> None:
        path = PATH.fullmatch(rest)
        if not self._greeted:
            await self._mistake("503 5.5.1 greet first")
        elif path is None:
            await self._mistake("501 5.5.4 write MAIL FROM:<address>")
        elif self._sender is not None:
            await self._mistake("503 5.5.1 there is a sender already")
        else:
            self._sender = path[1]
            await self._say("250 2.1.0 ok")

    async def _rcpt(self, rest: bytes) -> None:
        path = PATH.fullmatch(rest)
        if self._sender is None:
            await self._mistake("503 5.5.1 MAIL comes first")
        elif path is None:
            await self._mistake("501 5.5.4 write RCPT TO:<address>")
        elif len(self._to) >= _MOST_RECIPIENTS:
            await self._say("452 4.5.3 too many recipients")
        elif not self._desk.knows(address := path[1].decode("utf-8", "replace")):
            self._desk.observer.mail(self._protocol, "refused")
            await self._mistake("550 5.1.1 not a return path of ours")
        else:
            self._to.append(address)
            await self._say("250 2.1.5 ok")

    async def _data(self) -> bool:
        if not self._to:
            await self._mistake("503 5.5.1 nobody to give it to")
            return True
        await self._say("354 go ahead, end with a dot")
        raw = await self._content()
        if raw is None:
            return False
        to, self._mails, self._commands = self._to, self._mails + 1, 0
        self._forget()
        answers = [await self._taken(raw, address) for address in to]
        if self._protocol == "lmtp":
            await self._write("".join(f"{answer}\r\n" for answer in answers).encode())
        else:
            # One answer for all: what was kept is known when it comes again.
            await self._say(min(answers, key=lambda answer: "425".index(answer[0])))
        return True

    async def _taken(self, raw: bytes, address: str) -> str:
        try:
            result = await self._desk.take(raw, via=self._protocol, to=address)
        except TidingsError as error:
            self._desk.observer.mail(self._protocol, "failed")
            _log.warning("bounce_not_kept", via=self._protocol, **why(error))
            return _LATER
        return _ANSWERS[result]

    async def _content(self) -> bytes | None:
        """The beginning of the mail, once all of it is here; None where its end never came."""
        kept, size, before = bytearray(), 0, b"\r\n"
        async with asyncio.timeout(self._data_seconds):
            while True:
                whole = before + self._buffer
                end = whole.find(END)
                if end >= 0:
                    break
                kept += self._buffer[: max(MOST_KEPT - len(kept), 0)]
                size += len(self._buffer)
                before = bytes(whole[-len(END) + 1 :])
                self._buffer.clear()
                if size > _MOST_BYTES:
                    await self._say("552 5.3.4 the mail is too large")
                    return None
                if not await self._read(self._data_seconds):
                    return None
        # The break before the dot is the mail's; it may have come with the piece before.
        last = end + 2 - len(before)
        if last >= 0:
            kept += self._buffer[:last]
        elif size <= MOST_KEPT:
            del kept[last:]
        del self._buffer[: end + len(END) - len(before)]
        return without_dots(bytes(kept[:MOST_KEPT]))

    def _forget(self) -> None:
        self._sender, self._to = None, []

    async def _mistake(self, answer: str) -> None:
        self._mistakes += 1
        await self._say(answer)

    async def _say(self, answer: str) -> None:
        await self._write(f"{answer}\r\n".encode())

    async def _write(self, answer: bytes) -> None:
        self._writer.write(answer)
        async with asyncio.timeout(self._command_seconds):
            await self._writer.drain()
