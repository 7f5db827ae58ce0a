"""One connection to an SMSC: questions and their answers, the SMSC's own requests, and whether the peer is still there.

Something is written at once or not at all: a caller that gets `NotWrittenError` knows that the SMSC has seen nothing of it.
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

from tidings.kernel.logs import get_logger
from tidings.router.adapters.smpp.command_status import INVALID_COMMAND, INVALID_LENGTH, OK
from tidings.router.adapters.smpp.pdu import (
    ALERT_NOTIFICATION,
    DATA_SM,
    DELIVER_SM,
    ENQUIRE_LINK,
    GENERIC_NACK,
    RESPONSE,
    UNBIND,
    BadPduError,
    Pdu,
    PduStream,
)

_log = get_logger("smpp")
_LAST_SEQUENCE: Final = 0x7FFFFFFF
#: Seconds in which an SMSC that unbinds may still answer what it was asked before.
_GRACE: Final = 1.0
#: Bytes of our answers that an SMSC may leave unread: one that only talks must not fill our memory.
_MOST_UNREAD: Final = 1024 * 1024


class NotWrittenError(Exception):
    """Nothing of it went out."""


class LinkGoneError(Exception):
    """It went out, and the connection ended before the answer; the message says how, and nothing else."""


class NoAnswerError(Exception):
    """It went out, and there was no answer in time."""


class _Question:
    """A request of ours that waits for its answer."""

    __slots__ = ("answer", "command", "timer")

    def __init__(self, command: int, answer: asyncio.Future[Pdu], timer: asyncio.TimerHandle) -> None:
        self.command = command
        self.answer = answer
        self.timer = timer


class SmppSession(asyncio.Protocol):
    """One connection, bound or about to be."""

    def __init__(
        self,
        *,
        window: int,
        enquire_seconds: float,
        timeout_seconds: float,
        on_delivery: Callable[["SmppSession", Pdu], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._window = window
        self._enquire_seconds = enquire_seconds
        self._timeout_seconds = timeout_seconds
        self._on_delivery = on_delivery
        self._transport: asyncio.Transport | None = None
        self._stream = PduStream()
        self._questions: dict[int, _Question] = {}
        self._sequence = 0
        #: Turns that were given out, and not used yet.
        self._reserved = 0
        self._paused = False
        self._leaving = False
        self._heard_at = self._loop.time()
        self._watch: asyncio.TimerHandle | None = None
        #: Why it is over, and since when; None while it is not.
        self.gone: str | None = None
        self.gone_at = 0.0
        self.ended: asyncio.Future[None] = self._loop.create_future()
        #: Called whenever there may be room for another message.
        self.on_room: Callable[[], None] = lambda: None

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)
        self._watch = self._loop.call_later(self._enquire_seconds, self._look)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self.gone is not None:
            return
        self._heard_at = self._loop.time()
        try:
            for pdu in self._stream.feed(data):
                self._read(pdu)
        except BadPduError as error:
            self._write(Pdu(GENERIC_NACK, INVALID_LENGTH, 0))
            self.abort(str(error))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # its text may hold anything
        """The other side is gone."""
        self._end("the SMSC closed the connection")

    def pause_writing(self) -> None:
        """The SMSC does not read; nothing more is written before it does."""
        self._paused = True

    def resume_writing(self) -> None:
        """It does."""
        self._paused = False
        self.on_room()

    # --- what a client calls

    @property
    def room(self) -> int:
        """How many more questions it takes now."""
        if not self._writable:
            return 0
        return self._window - len(self._questions) - self._reserved

    def reserve(self) -> None:
        """Keep a place in the window for a caller; it is used or released."""
        self._reserved += 1

    def release(self) -> None:
        """The place is not needed, or is about to be filled."""
        self._reserved -= 1

    async def ask(self, command: int, body: bytes, *, seconds: float) -> Pdu:
        """Write it now, and wait for the answer; a caller that stops waiting leaves the place in the window taken."""
        if not self._writable:
            raise NotWrittenError(self.gone or "the SMSC takes nothing now")
        self._sequence = self._sequence + 1 if self._sequence < _LAST_SEQUENCE else 1
        sequence = self._sequence
        timer = self._loop.call_later(max(seconds, 0), self._give_up, sequence)
        question = _Question(command, self._loop.create_future(), timer)
        self._questions[sequence] = question
        self._write(Pdu(command, OK, sequence, body))
        return await question.answer

    def answer(self, request: Pdu, status: int) -> None:
        """Tell the SMSC what became of something that it sent; it is lost where the connection is gone."""
        # deliver_sm_resp and data_sm_resp have an id that is not used, and a failed one has no body.
        body = b"\0" if status == OK else b""
        self._write(Pdu(request.command | RESPONSE, status, request.sequence, body))

    async def unbind(self, *, seconds: float) -> None:
        """Say goodbye, and close."""
        try:
            await self.ask(UNBIND, b"", seconds=seconds)
        except (NotWrittenError, LinkGoneError, NoAnswerError):
            pass
        finally:
            self._end("we closed the connection")
            if self._transport is not None:
                self._transport.close()

    def abort(self, reason: str) -> None:
        """End it at once."""
        self._end(reason)
        if self._transport is not None:
            self._transport.abort()

    # --- within

    @property
    def _writable(self) -> bool:
        if self.gone is not None or self._leaving or self._paused or self._transport is None:
            return False
        # A connection that has failed drops what is written before it tells of its end.
        return not self._transport.is_closing()

    def _write(self, pdu: Pdu) -> None:
        if self.gone is None and self._transport is not None:
            self._transport.write(pdu.encode())
            if self._transport.get_write_buffer_size() > _MOST_UNREAD:
                self.abort("the SMSC does not read what we answer")

    def _read(self, pdu: Pdu) -> None:
        if self.gone is not None:
            return
        if pdu.command & RESPONSE:
            self._read_answer(pdu)
        elif pdu.command in {DELIVER_SM, DATA_SM}:
            self._on_delivery(self, pdu)
        elif pdu.command == ENQUIRE_LINK:
            self._write(Pdu(ENQUIRE_LINK | RESPONSE, OK, pdu.sequence))
        elif pdu.command == UNBIND:
            self._write(Pdu(UNBIND | RESPONSE, OK, pdu.sequence))
            self._leave()
        elif pdu.command != ALERT_NOTIFICATION:
            self._write(Pdu(GENERIC_NACK, INVALID_COMMAND, pdu.sequence))

    def _read_answer(self, pdu: Pdu) -> None:
        question = self._questions.get(pdu.sequence)
        if question is None:
            if pdu.command == GENERIC_NACK:
                # It did not understand something, and does not say what.
                self.abort("the SMSC did not understand us, and did not say what")
                return
            # Too late, or an answer to no question.
            _log.info("smpp.answer_to_nothing", command=f"0x{pdu.command:08X}")
            return
        if pdu.command not in (question.command | RESPONSE, GENERIC_NACK):
            self.abort("the SMSC's answers are out of step")
            return
        del self._questions[pdu.sequence]
        question.timer.cancel()
        if not question.answer.done():
            question.answer.set_result(pdu)
        if self._leaving and not self._questions:
            self._close()
        self.on_room()

    def _give_up(self, sequence: int) -> None:
        question = self._questions.pop(sequence, None)
        if question is None:
            return
        if not question.answer.done():
            question.answer.set_exception(NoAnswerError("the SMSC did not answer in time"))
        self.on_room()

    def _look(self) -> None:
        """Ask whether the SMSC is there when nothing was heard for a while; one that is silent then is not."""
        silent = self._loop.time() - self._heard_at
        if silent >= self._enquire_seconds + self._timeout_seconds:
            self.abort("the SMSC is silent")
            return
        if silent < self._enquire_seconds:
            wait = self._enquire_seconds - silent
        else:
            wait = min(self._enquire_seconds, self._timeout_seconds)
            if not self._paused:
                self._enquire()
        self._watch = self._loop.call_later(max(wait, 0.01), self._look)

    def _enquire(self) -> None:
        self._sequence = self._sequence + 1 if self._sequence < _LAST_SEQUENCE else 1
        timer = self._loop.call_later(self._timeout_seconds, self._give_up, self._sequence)
        unheard: asyncio.Future[Pdu] = self._loop.create_future()
        unheard.cancel()
        self._questions[self._sequence] = _Question(ENQUIRE_LINK, unheard, timer)
        self._write(Pdu(ENQUIRE_LINK, OK, self._sequence))

    def _leave(self) -> None:
        """The SMSC has unbound: nothing more is asked, and what was asked has a moment."""
        self._leaving = True
        if self._questions:
            self._loop.call_later(_GRACE, self._close)
        else:
            self._close()

    def _close(self) -> None:
        self._end("the SMSC ended the session")
        if self._transport is not None:
            self._transport.close()

    def _end(self, reason: str) -> None:
        if self.gone is not None:
            return
        self.gone, self.gone_at = reason, self._loop.time()
        if self._watch is not None:
            self._watch.cancel()
        questions, self._questions = self._questions, {}
        for question in questions.values():
            question.timer.cancel()
            if not question.answer.done():
                question.answer.set_exception(LinkGoneError(reason))
        if not self.ended.done():
            self.ended.set_result(None)
        self.on_room()
