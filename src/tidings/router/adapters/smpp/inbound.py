"""Hears what the SMSC says by itself, and answers it once it is kept: receipts, and what people write.

What comes together is told together. Nothing is answered well before it is durable; where it can't be kept the SMSC is asked to
send it again. What can't be read is kept as it came. The one exception is a part of a long message while the others are slow: some SMSCs send the next part only when
the last one is answered.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tidings.contracts.callback_forms import ParsedCallback, ReadEvent, ReadInbound
from tidings.kernel.clock import Clock
from tidings.kernel.logs import get_logger
from tidings.router.adapters.kind import InboundHandler
from tidings.router.adapters.smpp.addresses import spelled
from tidings.router.adapters.smpp.command_status import NEVER_AGAIN, OK, TRY_AGAIN
from tidings.router.adapters.smpp.delivery_receipts import ReceiptForm, is_receipt
from tidings.router.adapters.smpp.duplicates import DuplicateFilter, digest_of
from tidings.router.adapters.smpp.pdu import BadPduError, DeliverSm, Pdu, read_delivery
from tidings.router.adapters.smpp.reassembly import Assemblies, Assembly
from tidings.router.adapters.smpp.session import SmppSession
from tidings.router.adapters.smpp.text_encoding import Alphabet, read_text, split_header

_log = get_logger("smpp")
_MOST_TOGETHER: Final = 500
_MOST_WAITING: Final = 5000
#: Seconds after which we try again to keep what the SMSC will not send again.
_AGAIN: Final = 0.25
#: Between parts where one is missing.
_GAP: Final = " … "


@dataclass(slots=True, eq=False)
class _Request:
    """A request of the SMSC that waits for our answer."""

    session: SmppSession
    pdu: Pdu = field(repr=False)
    answered: bool = False
    timer: asyncio.TimerHandle | None = None

    def answer(self, status: int) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if not self.answered:
            self.answered = True
            self.session.answer(self.pdu, status)


@dataclass(slots=True, kw_only=True, eq=False)
class _Item:
    """One thing to be told, and the requests that brought it."""

    event: ReadEvent | None = None
    inbound: ReadInbound | None = None
    #: The whole PDU, where it can't be read.
    unread: bytes | None = field(default=None, repr=False)
    #: What is answered once it is kept.
    status: int = OK
    digest: bytes = b""
    #: What it was put together from, where it came in parts.
    assembly: Assembly[_Request] | None = field(default=None, repr=False)
    requests: Sequence[_Request] = ()

    @property
    def ours(self) -> bool:
        """The SMSC will not send all of it again."""
        return any(request.answered for request in self.requests)

    def answer(self, status: int) -> None:
        for request in self.requests:
            request.answer(status)


class SmppInbound:
    """Listens on all sessions of one account."""

    def __init__(
        self,
        handler: InboundHandler | None,
        *,
        clock: Clock,
        form: ReceiptForm,
        alphabet: Alphabet,
        timeout_seconds: float,
        part_seconds: float,
        assembly_seconds: float,
    ) -> None:
        """`handler` is None where no consumer listens: then the SMSC is asked to tell another client.

        `part_seconds`: how long a part of a long message waits unanswered for the others; `assembly_seconds`: how long for them at
        all.
        """
        self._handler = handler
        self._clock = clock
        self._form = form
        self._alphabet = alphabet
        self._timeout_seconds = timeout_seconds
        self._part_seconds = part_seconds
        self._assemblies: Assemblies[_Request] = Assemblies(seconds=assembly_seconds, give_up=self._give_up)
        self._duplicates = DuplicateFilter(clock)
        self._line: deque[_Item] = deque()
        #: So many are told one by one after a failure, so that one thing that can't be kept holds up nothing else.
        self._one_by_one = 0
        self._task: asyncio.Task[None] | None = None
        self._timers: set[asyncio.TimerHandle] = set()
        self._closed = False

    def take(self, session: SmppSession, pdu: Pdu) -> None:
        """A deliver_sm or a data_sm has come."""
        if self._handler is None or self._closed or len(self._line) >= _MOST_WAITING:
            session.answer(pdu, TRY_AGAIN)
            return
        try:
            delivery = read_delivery(pdu)
        except BadPduError as error:
            _log.warning("smpp.unreadable", reason=str(error))
            request = _Request(session, pdu)
            self._put(_Item(unread=pdu.encode(), status=NEVER_AGAIN, requests=(request,)))
            return
        request = _Request(session, pdu)
        try:
            if is_receipt(delivery):
                self._take_receipt(request, delivery)
            else:
                self._take_words(request, delivery)
        except Exception as error:  # noqa: BLE001  # our own mistake must not end the link
            _log.error("smpp.not_read", error=type(error).__name__)
            request.answer(TRY_AGAIN)

    async def close(self) -> None:
        """Tell what is ours alone; the rest comes again."""
        self._closed = True
        for timer in self._timers:
            timer.cancel()
        for assembly in self._assemblies.take_all():
            if any(request.answered for request in assembly.kept):
                self._put(self._assembled(assembly))
            for request in assembly.kept:
                request.answer(TRY_AGAIN)
        if self._task is not None:
            await asyncio.wait([self._task], timeout=self._timeout_seconds)
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait([self._task])
        if self._line:
            _log.error("smpp.lost", count=len(self._line))

    # --- reading

    def _take_receipt(self, request: _Request, delivery: DeliverSm) -> None:
        event = self._form.read(delivery, now=self._clock.now())
        if event is None:
            # Telling it again would not tell more.
            _log.warning("smpp.receipt_of_nothing")
            self._put(_Item(unread=request.pdu.encode(), requests=(request,)))
            return
        self._put(_Item(event=event, requests=(request,)))

    def _take_words(self, request: _Request, delivery: DeliverSm) -> None:
        content, piece = split_header(delivery)
        if piece is None:
            text = read_text(content, delivery.data_coding, alphabet=self._alphabet)
            self._put(self._written(text, delivery, content, (request,)))
            return
        source, to = spelled(delivery.source), spelled(delivery.destination)
        if self._assemblies.knows(source, to, piece, content):
            # Of a message that is kept: only our answer was lost.
            request.answer(OK)
            return
        request.timer = asyncio.get_running_loop().call_later(self._part_seconds, request.answer, OK)
        assembly = self._assemblies.add(
            source, to, piece, content=content, data_coding=delivery.data_coding, kept=request
        )
        if assembly.complete:
            self._put(self._assembled(assembly))

    def _assembled(self, assembly: Assembly[_Request]) -> _Item:
        runs = [read_text(run, assembly.data_coding, alphabet=self._alphabet) for run in assembly.runs]
        readable = [run for run in runs if run is not None]
        text = _GAP.join(readable) if len(readable) == len(runs) else None
        first = read_delivery(assembly.kept[0].pdu)
        reference = assembly.key[2].to_bytes(4, "big")
        item = self._written(text, first, reference + b"".join(assembly.runs), tuple(assembly.kept))
        item.assembly = assembly
        return item

    def _written(
        self, text: str | None, delivery: DeliverSm, content: bytes, requests: Sequence[_Request]
    ) -> _Item:
        digest = digest_of(delivery, content)
        inbound = ReadInbound(
            vendor_message_id=self._duplicates.name(digest),
            channel="sms",
            sender=spelled(delivery.source),
            to=spelled(delivery.destination),
            text=text or "",
            kind="text" if text is not None else "binary",
            occurred_at=None,
        )
        return _Item(inbound=inbound, digest=digest, requests=requests)

    def _give_up(self, assembly: Assembly[_Request]) -> None:
        """Better half of what a person wrote than nothing."""
        _log.warning("smpp.parts_missing", parts=len(assembly.parts), total=assembly.total)
        self._put(self._assembled(assembly))

    # --- telling

    def _put(self, item: _Item) -> None:
        self._line.append(item)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._tell_all())

    async def _tell_all(self) -> None:
        # One turn of the loop: whatever came in the same piece is here then.
        await asyncio.sleep(0)
        while self._line:
            most = 1 if self._one_by_one else _MOST_TOGETHER
            items = [self._line.popleft() for _ in range(min(len(self._line), most))]
            self._one_by_one = max(self._one_by_one - 1, 0)
            if await self._tell(items):
                for item in items:
                    self._kept(item)
                continue
            if len(items) > 1:
                self._one_by_one = 2 * len(items)
            for item in items:
                if item.ours:
                    self._put_later(item)
                else:
                    item.answer(TRY_AGAIN)

    async def _tell(self, items: Sequence[_Item]) -> bool:
        assert self._handler is not None  # noqa: S101  # nothing is taken where no consumer listens
        reading = ParsedCallback(
            events=[item.event for item in items if item.event is not None],
            inbound=[item.inbound for item in items if item.inbound is not None],
            unread=[item.unread for item in items if item.unread is not None],
        )
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._handler(reading)
        except Exception as error:  # noqa: BLE001  # whatever it is, the SMSC sends it again
            _log.warning("smpp.not_kept", count=len(items), error=type(error).__name__)
            return False
        return True

    def _kept(self, item: _Item) -> None:
        item.answer(item.status)
        if item.digest:
            self._duplicates.answered(item.digest, item.requests[-1].session)
        if item.assembly is not None:
            self._assemblies.remember(item.assembly)

    def _put_later(self, item: _Item) -> None:
        if self._closed:
            _log.error("smpp.lost", count=1)
            return

        def put() -> None:
            self._timers.discard(timer)
            self._put(item)

        timer = asyncio.get_running_loop().call_later(_AGAIN, put)
        self._timers.add(timer)
