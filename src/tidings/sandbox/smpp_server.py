"""An SMSC that takes everything: binds, messages in parts, receipts by their scripts, and what people write back.

Faults hit the message: refusals are its status; `hang`, `close` and `garbage` come after it was taken, so that its sender can't know.
"""

import asyncio
import ssl
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Final, cast

from tidings.kernel.clock import Clock
from tidings.sandbox.connection_limits import ConnectionLimits, IdleTimer
from tidings.sandbox.faults import FaultEffect, Faults, Mode
from tidings.sandbox.reading import join_request
from tidings.sandbox.receipts import Course, ReceiptLog, SandboxReceipt
from tidings.sandbox.scripts import ReceiptScript, ReceiptScripts
from tidings.sandbox.smpp_wire import (
    ANSWER,
    BINDS,
    DELIVER_SM,
    ENQUIRE_LINK,
    GENERIC_NACK,
    SUBMIT_SM,
    UNBIND,
    NonsenseError,
    SandboxPdu,
    Submit,
    cut,
    delivery,
    pdu,
    read_submit,
    text_of,
    written,
)
from tidings.sandbox.store import MessageText, Store

#: Faults with which it says no → command_status.
_TROUBLES: Final[dict[Mode, int]] = {"reject_permanent": 0x0B, "reject_temporary": 0x08, "throttle": 0x58}
_REJECTED: Final = 0x66
_QUEUE_FULL: Final = 0x14
_BAD_LENGTH: Final = 0x02
_UNKNOWN_COMMAND: Final = 0x03
_GARBAGE: Final = b"\x00\xffNOT SMPP AT ALL \xfe\r\n{]}\r\n"
#: Our words → an SMSC's; a text is not read, and no complaint is known.
_STATES: Final = {
    "accepted": "ACCEPTD",
    "sent": "ENROUTE",
    "delivered": "DELIVRD",
    "failed": "UNDELIV",
    "rejected": "REJECTD",
    "bounced": "UNDELIV",
}
_MOST_WAITING: Final = 50_000
_MOST_PARTS: Final = 10_000
#: Seconds for an answer, and between two tries.
_PATIENCE: Final = 15.0
_AGAIN: Final = (1.0, 3.0, 9.0, 27.0)


class SmppSandbox:
    """Listens for binds."""

    def __init__(
        self,
        store: Store,
        faults: Faults,
        scripts: ReceiptScripts,
        *,
        ledger: ReceiptLog,
        clock: Clock,
        tls: ssl.SSLContext | None = None,
        welcome: ConnectionLimits | None = None,
    ) -> None:
        self.welcome = welcome or ConnectionLimits()
        self.store = store
        self.faults = faults
        self.sessions: set[_Session] = set()
        self._scripts = scripts
        self._ledger = ledger
        self._clock = clock
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[object]] = set()
        #: Deliveries that wait for a session that receives.
        self._homeless: deque[asyncio.Future[_Session]] = deque()
        self._parts: OrderedDict[tuple[str, str, int, int], tuple[ReceiptScript, dict[int, bytes]]] = (
            OrderedDict()
        )

    async def start(self, host: str, port: int) -> int:
        """Listen; 0 for any free port. The port that it is."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Session(self), host, port, ssl=self._tls)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        """Close all; what is planned is never sent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            self._server.close()
            for session in list(self.sessions):
                session.drop()
            await self._server.wait_closed()

    async def write(self, *, sender: str, to: str, text: str) -> bool:
        """What a person writes: whether a session has taken all of it."""
        parts = written(text, next(self._numbers))
        bodies = [
            delivery(sender=sender, to=to, esm_class=esm, data_coding=coding, content=content)
            for esm, coding, content in parts
        ]
        answers = await asyncio.gather(*(self._deliver(body) for body in bodies))
        return all(answers)

    # --- what sessions tell

    def take(self, submit: Submit) -> tuple[int, str]:
        """One submit_sm: the status of its answer, and the id in it."""
        if len(self._tasks) >= _MOST_WAITING:
            return _QUEUE_FULL, ""
        script, content = self._whole(submit)
        if script.refuses:
            return _REJECTED, ""
        if content is None:
            return 0, f"{self.store.run}p{next(self._numbers)}"
        headers = {"data_coding": str(submit.data_coding)}
        message = self.store.add(
            adapter="smpp",
            channel="sms",
            sender=submit.sender,
            to=(submit.to,),
            raw=join_request(headers, content),
            words=MessageText(text=text_of(content, submit.data_coding)),
        )
        self._plan(message.id, submit, script)
        return 0, message.id

    def somebody_receives(self, session: "_Session") -> None:
        """A bind that receives is there."""
        while self._homeless:
            waiting = self._homeless.popleft()
            if not waiting.done():
                waiting.set_result(session)

    # --- within

    def _whole(self, submit: Submit) -> tuple[ReceiptScript, bytes | None]:
        """What a message is in for from its first part on, and its content once all parts are there."""
        if submit.part is None:
            return self._script(submit), submit.content
        reference, total, number = submit.part
        key = (submit.sender, submit.to, reference, total)
        found = self._parts.get(key)
        if found is None:
            found = (self._script(submit), {})
            if found[0].refuses:
                return found[0], None
            self._parts[key] = found
            if len(self._parts) > _MOST_PARTS:
                self._parts.popitem(last=False)
        script, parts = found
        parts[number] = submit.content
        if len(parts) < total:
            return script, None
        self._parts.pop(key, None)
        return script, b"".join(parts[i] for i in sorted(parts))

    def _script(self, submit: Submit) -> ReceiptScript:
        return self._scripts.strike(vendor="smpp", channel="sms", addresses=(submit.to,))

    def _plan(self, message_id: str, submit: Submit, script: ReceiptScript) -> None:
        now = self._clock.now()
        beats = [b for b in script.beats if submit.wants_receipt and b.status in _STATES and not b.forged]
        receipts = tuple(
            SandboxReceipt(
                id=f"sbr_{self.store.run}_smpp{next(self._numbers)}",
                message_id=message_id,
                vendor="smpp",
                beat=beat,
                planned_at=now + timedelta(seconds=beat.after_seconds),
                happened_at=now
                + timedelta(
                    seconds=beat.after_seconds if beat.happened_seconds is None else beat.happened_seconds
                ),
            )
            for beat in beats
        )
        name = script.name if submit.wants_receipt else None
        self._ledger.add(Course(message_id=message_id, vendor="smpp", script=name, receipts=receipts))
        for receipt in receipts:
            task: asyncio.Task[object] = asyncio.get_running_loop().create_task(self._tell(receipt, submit))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell(self, receipt: SandboxReceipt, submit: Submit) -> None:
        await self._clock.sleep(receipt.beat.after_seconds)
        body = delivery(
            sender=submit.to,
            to=submit.sender,
            esm_class=0x04,
            data_coding=0,
            content=_receipt_text(receipt, submit).encode("ascii", "replace"),
        )
        taken = await self._deliver(body, lambda: self._tried(receipt))
        receipt.state = "answered" if taken else "given_up"
        self._note(receipt)
        for _ in range(receipt.beat.repeat):
            await self._deliver(body, lambda: self._tried(receipt))

    async def _deliver(self, body: bytes, tried: Callable[[], None] = lambda: None) -> bool:
        """To a session that receives, again where it is not taken; whether it was."""
        for wait in (*_AGAIN, None):
            session = await self._receiver()
            tried()
            if await session.deliver(body) == 0:
                return True
            if wait is not None:
                await self._clock.sleep(wait)
        return False

    async def _receiver(self) -> "_Session":
        receivers = [session for session in self.sessions if session.receives]
        if receivers:
            return receivers[next(self._numbers) % len(receivers)]
        waiting: asyncio.Future[_Session] = asyncio.get_running_loop().create_future()
        self._homeless.append(waiting)
        return await waiting

    def _tried(self, receipt: SandboxReceipt) -> None:
        receipt.tries += 1
        receipt.state = "sent"
        self._note(receipt)

    def _note(self, receipt: SandboxReceipt) -> None:
        self._ledger.changed(receipt.message_id)
        self.store.ring()


class _Session(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: SmppSandbox) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._bound = False
        self._sequence = count(1)
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._silence: IdleTimer | None = None
        #: It is bound to receive.
        self.receives = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._server.welcome.has_room(len(self._server.sessions)):
            self._transport.close()
            return
        self._server.sessions.add(self)
        self._silence = IdleTimer(self._server.welcome.silence, self.drop, busy=lambda: bool(self._waiting))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """They are gone."""
        self._server.sessions.discard(self)
        if self._silence is not None:
            self._silence.over()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(-1)

    def drop(self) -> None:
        """End it."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Requests and answers."""
        if self._silence is None:
            return
        self._silence.heard()
        self._buffer += data
        try:
            for one in cut(self._buffer):
                self._read(one)
        except NonsenseError:
            self._write(pdu(GENERIC_NACK, 0, status=_BAD_LENGTH))
            self.drop()

    async def deliver(self, body: bytes) -> int:
        """The status of the answer; -1 where there is none."""
        sequence = next(self._sequence)
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[sequence] = answer
        self._write(pdu(DELIVER_SM, sequence, body))
        try:
            async with asyncio.timeout(_PATIENCE):
                return await answer
        except TimeoutError:
            return -1
        finally:
            self._waiting.pop(sequence, None)

    def _read(self, one: SandboxPdu) -> None:
        if one.command in BINDS:
            self._bind(one)
        elif one.command == ENQUIRE_LINK:
            self._answer(one)
        elif one.command == UNBIND:
            self.receives = False
            self._answer(one)
            if self._transport is not None:
                self._transport.close()
        elif one.command == SUBMIT_SM and self._bound:
            self._submit(one)
        elif one.command & ANSWER:
            waiting = self._waiting.get(one.sequence)
            if waiting is not None and not waiting.done():
                waiting.set_result(one.status)
        else:
            self._write(pdu(GENERIC_NACK, one.sequence, status=_UNKNOWN_COMMAND))

    def _bind(self, one: SandboxPdu) -> None:
        self._bound = True
        self._answer(one, b"sandbox\0")
        self.receives = BINDS[one.command] != "transmitter"
        if self.receives:
            self._server.somebody_receives(self)

    def _submit(self, one: SandboxPdu) -> None:
        fault = self._server.faults.strike("smpp")
        if fault is not None and fault.mode in _TROUBLES:
            self._answer(one, status=_TROUBLES[fault.mode])
            return
        status, message_id = self._server.take(read_submit(one.body))
        body = b"" if status else message_id.encode("ascii") + b"\0"
        if fault is None or status:
            self._answer(one, body, status=status)
        else:
            self._strike(fault, one, body)

    def _strike(self, fault: FaultEffect, one: SandboxPdu, body: bytes) -> None:
        """It was taken, and its sender does not hear of it, or late."""
        loop = asyncio.get_running_loop()
        if fault.mode == "garbage":
            self._write(_GARBAGE)
        elif fault.mode == "close":
            self.drop()
        elif fault.mode == "slow" and fault.delay is not None:
            loop.call_later(fault.delay, self._answer, one, body)
        elif fault.delay is not None:
            loop.call_later(fault.delay, self.drop)

    def _answer(self, one: SandboxPdu, body: bytes = b"", status: int = 0) -> None:
        self._write(pdu(one.command | ANSWER, one.sequence, body, status=status))

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _receipt_text(receipt: SandboxReceipt, submit: Submit) -> str:
    """SMPP 3.4, appendix B."""
    beat = receipt.beat
    state = _STATES[beat.status]
    done = f"{receipt.happened_at:%y%m%d%H%M%S}"
    code = "".join(c for c in beat.code or "000" if c.isalnum() or c in "._-")[:30] or "000"
    text = text_of(submit.content[:40], submit.data_coding)[:20]
    return (
        f"id:{receipt.message_id} sub:001 dlvrd:{'001' if state == 'DELIVRD' else '000'} "
        f"submit date:{done[:10]} done date:{done} stat:{state} err:{code} text:{text}"
    )
