"""One conversation with an SMTP server, once it is open: one message per transaction.

Where the server offers PIPELINING, a message costs one round trip: its content travels together with the envelope
of the next (RFC 2920 allows that, and DATA's 354 keeps both sides in step). Content is only sent after that 354, so
a connection that ends before it has sent nothing. Its final dot is only sent when the message has a slot (`in_flight.py`): until
then the server can't take it. The answer is told at the moment it is read, before anything else is done.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NoReturn, Protocol

from tidings.contracts.messages import OutboundMessage, Outcome, Refused, Unlearned
from tidings.router.adapters.in_flight import InFlightLimit, InFlightSlot
from tidings.router.adapters.smtp.connect import SmtpServer, open_wire
from tidings.router.adapters.smtp.replies import outcome_of
from tidings.router.adapters.smtp.wire import ConnectionGoneError, SmtpReply, SmtpWire

#: Bytes from which on a message is not sent together with the next envelope.
_LARGE = 64 * 1024
_OUT_OF_STEP = "the server's replies are out of step"


class Envelope(Protocol):
    """One message on its way over a connection."""

    @property
    def message(self) -> OutboundMessage:
        """What it was made of."""
        ...

    @property
    def sender(self) -> str:
        """Who a bounce goes to."""
        ...

    @property
    def to(self) -> str:
        """The recipient."""
        ...

    @property
    def data(self) -> bytes:
        """Headers and body."""
        ...

    @property
    def needs_utf8(self) -> bool:
        """An address in it is not ASCII."""
        ...

    def deadline(self, seconds: float) -> float:
        """By when the server must have answered, at most so many seconds from now; asked first when its turn has come."""
        ...

    def settle(self, outcome: Outcome) -> None:
        """Told what became of it; the first word counts."""
        ...

    def give_back(self, reason: str) -> None:
        """Told instead, when the connection ended before the server could have taken it."""
        ...


class SmtpConnection:
    """A conversation that is open for messages."""

    def __init__(
        self, server: SmtpServer, wire: SmtpWire, extensions: dict[str, str], in_flight: InFlightLimit
    ) -> None:
        self._server = server
        self._in_flight = in_flight
        self._extensions = extensions
        self._sent = 0
        self._needs_reset = False
        #: Nothing was written behind the content that is under way.
        self._alone = True
        #: The final dot of the message that is under way was written: only the server knows what became of it.
        self._handed_over = False
        #: By when its answer has to be there; None while it waits for its slot.
        self._answer_by: float | None = None
        self._slot: InFlightSlot | None = None
        #: Told when the server has to answer, to an envelope or to content; what it returns is called once, when that is over.
        self.on_sent: Callable[[], Callable[[], None]] = lambda: _nothing
        self._answer_over: Callable[[], None] = _nothing
        self.wire = wire

    @classmethod
    async def open(cls, server: SmtpServer, in_flight: InFlightLimit) -> "SmtpConnection":
        """A new one; `ConnectError` where there is none to be had."""
        return cls(server, *await open_wire(server), in_flight)

    @property
    def usable(self) -> bool:
        """Whether another message can go over it."""
        return (
            self.wire.gone is None
            and not self.wire.has_unread
            and self._sent < self._server.messages_per_connection
        )

    async def run(self, take: Callable[[], Envelope | None]) -> None:
        """Send whatever `take` gives until it gives nothing, or the connection is no longer usable."""
        current = self._begin(take)
        following: Envelope | None = None
        try:
            while current is not None:
                over = self.on_sent()
                try:
                    refusal = await self._may_send(current)
                finally:
                    over()
                if refusal is not None:
                    current.settle(refusal)
                    current = self._begin(take)
                    continue
                following, rest = self._prepare(current, take)
                reply = await self._answer(current, rest)
                # Its story is told; whatever happens from here on happens to the next.
                self._handed_over = False
                current, following = following, None
                self._stop_if_told(reply)
                if current is None:
                    current = self._begin(take)
        except BaseException as error:
            reason = str(error) if isinstance(error, ConnectionGoneError) else "the sending was stopped"
            self.wire.abort(reason)
            if current is not None:
                # After the final dot only the server knows; before it, nothing was taken.
                if self._handed_over and not (self._alone and self.wire.unsent):
                    current.settle(Unlearned(reason=reason))
                else:
                    current.give_back(reason)
            if following is not None:
                following.give_back(reason)
            if not isinstance(error, ConnectionGoneError):
                raise

    async def ask(self, sender: str) -> SmtpReply | None:
        """Announce a mail that is then not sent; what the server says to that, None where it says nothing."""
        deadline = asyncio.get_running_loop().time() + self._server.timeout_seconds
        self.wire.write(f"MAIL FROM:<{sender}>\r\n".encode())
        try:
            reply = await self.wire.reply(deadline)
            if reply.code // 100 == 2:
                self.wire.write(b"RSET\r\n")
                await self.wire.reply(deadline)
        except ConnectionGoneError:
            return None
        return reply

    async def close(self) -> None:
        """Say goodbye, and don't wait for the answer."""
        if self.wire.gone is None:
            self.wire.write(b"QUIT\r\n")
        self.wire.close()

    def _begin(self, take: Callable[[], Envelope | None]) -> Envelope | None:
        """Take a message that this server can have, and announce it."""
        envelope = self._next(take)
        if envelope is not None:
            self.wire.write(self._announcement(envelope))
        return envelope

    def _unfit(self, envelope: Envelope) -> Refused | None:
        if envelope.needs_utf8 and "SMTPUTF8" not in self._extensions:
            return Refused(
                reason="the address is not ASCII, and the server does not offer SMTPUTF8", code="5.6.7"
            )
        limit = self._extensions.get("SIZE", "")
        if limit.isdecimal() and 0 < int(limit) < len(envelope.data):
            return Refused(
                reason=f"the message is larger than the server takes ({limit} bytes)", code="5.3.4"
            )
        return None

    @property
    def _pipelines(self) -> bool:
        return "PIPELINING" in self._extensions

    def _announcement(self, envelope: Envelope) -> bytes:
        """As much of the envelope as may be written at once."""
        mail = f"MAIL FROM:<{envelope.sender}>"
        if "SIZE" in self._extensions:
            mail += f" SIZE={len(envelope.data)}"
        if envelope.needs_utf8:
            mail += " BODY=8BITMIME SMTPUTF8" if "8BITMIME" in self._extensions else " SMTPUTF8"
        reset = "RSET\r\n" if self._needs_reset else ""
        if not self._pipelines:
            return (reset or f"{mail}\r\n").encode()
        return f"{reset}{mail}\r\nRCPT TO:<{envelope.to}>\r\nDATA\r\n".encode()

    async def _may_send(self, envelope: Envelope) -> Outcome | None:
        """Read the answers to the envelope; None when the server waits for the content."""
        deadline = envelope.deadline(self._server.timeout_seconds)
        if self._needs_reset:
            await self.wire.reply(deadline)
            self._needs_reset = False
            if not self._pipelines:
                self.wire.write(self._announcement(envelope))
        replies: list[SmtpReply] = []
        try:
            for step in (None, f"RCPT TO:<{envelope.to}>\r\n", "DATA\r\n"):
                if step is not None and not self._pipelines:
                    self.wire.write(step.encode())
                reply = await self.wire.reply(deadline)
                replies.append(reply)
                if reply.code == 421:
                    self.wire.abort("the server ended the conversation (421)")
                    break
                if reply.code >= 400 and not self._pipelines:
                    break
            return await self._read_verdict(envelope, replies, deadline)
        except ConnectionGoneError:
            # Many refuse and hang up in one breath. No content was sent, so the refusal is the whole story.
            if (refusal := _refusal(replies)) is None:
                raise
            return outcome_of(refusal, envelope.message)

    async def _read_verdict(
        self, envelope: Envelope, replies: list[SmtpReply], deadline: float
    ) -> Outcome | None:
        refusal = _refusal(replies)
        waits_for_content = len(replies) == 3 and replies[2].code == 354
        if refusal is None and not (waits_for_content and all(r.code // 100 == 2 for r in replies[:2])):
            self._out_of_step()
        if refusal is None:
            if self.wire.gone is not None:
                raise ConnectionGoneError(self.wire.gone)
            return None
        if waits_for_content:
            # It waits for content although it has no recipient for it: a lone dot ends that.
            self.wire.write(b".\r\n")
            await self.wire.reply(deadline)
        self._needs_reset = replies[0].code // 100 == 2
        return outcome_of(refusal, envelope.message)

    def _prepare(
        self, current: Envelope, take: Callable[[], Envelope | None]
    ) -> tuple[Envelope | None, bytes]:
        """The next message, and what is to be written when this one has its slot: its end, and the next envelope behind it."""
        data = current.data
        if data.startswith(b".") or b"\n." in data:
            data = (b"\r\n" + data).replace(b"\n.", b"\n..")[2:]
        end = b".\r\n" if data.endswith(b"\r\n") else b"\r\n.\r\n"
        # A large message travels alone: as long as a part of it is in our own hands, its dot is too.
        self._alone = len(data) > _LARGE
        if self._alone:
            self.wire.write(data)
            return None, end
        # The next one is taken before writing: building it takes time, and both then go out in one piece.
        following = self._next(take) if self._pipelines else None
        return following, b"".join((data, end, self._announcement(following) if following else b""))

    async def _answer(self, current: Envelope, rest: bytes) -> SmtpReply:
        """Hand the message over when it has a slot; the answer, which was told when it was read."""
        self._answer_by = None
        self._slot = self._in_flight.enter(
            partial(self._hand_over, current, rest), urgent=current.message.urgent
        )
        try:
            reply = await self.wire.reply(self._answer_by)
        finally:
            self.wire.on_reply = None
            self._end_wait()
        if not self._handed_over:
            self._stop_if_told(reply)
            self._out_of_step()
        return reply

    def _hand_over(self, current: Envelope, rest: bytes) -> bool:
        """Write the final dot; False where the connection ended while the message waited for its slot."""
        if self.wire.gone is not None:
            return False
        if self.wire.has_unread:
            # Nobody has asked it anything since it was told to take the content.
            self.wire.abort(_OUT_OF_STEP)
            return False
        self._handed_over = True
        self._answer_by = current.deadline(self._server.timeout_seconds)
        self.wire.expect_by(self._answer_by)
        self.wire.on_reply = partial(self._answered, current)
        self._answer_over = self.on_sent()
        self.wire.write(rest)
        return True

    def _answered(self, current: Envelope, reply: SmtpReply) -> None:
        """Tell first, so that it is known whatever happens; then the slot is free for another."""
        current.settle(outcome_of(reply, current.message))
        self._end_wait()

    def _end_wait(self) -> None:
        over, self._answer_over = self._answer_over, _nothing
        over()
        slot, self._slot = self._slot, None
        if slot is not None:
            slot.leave()

    def _next(self, take: Callable[[], Envelope | None]) -> Envelope | None:
        while self.usable and (envelope := take()) is not None:
            unfit = self._unfit(envelope)
            if unfit is None:
                self._sent += 1
                return envelope
            envelope.settle(unfit)
        return None

    def _stop_if_told(self, reply: SmtpReply) -> None:
        if reply.code == 421:
            self.wire.abort("the server ended the conversation (421)")
            raise ConnectionGoneError(self.wire.gone)
        if not 200 <= reply.code < 300 and reply.code < 400:
            self._out_of_step()

    def _out_of_step(self) -> NoReturn:
        self.wire.abort(_OUT_OF_STEP)
        raise ConnectionGoneError(self.wire.gone)


def _refusal(replies: list[SmtpReply]) -> SmtpReply | None:
    """The first word of refusal counts; those behind it only follow from it."""
    return next((reply for reply in replies if reply.code >= 400), None)


def _nothing() -> None:
    """Nobody counts."""
