"""An inbox as server-sent events: items as they come, and the counts whenever they change.

Its ids are the changes of the inbox: who comes back with `Last-Event-ID` gets what came since. A stream ends after some minutes, and
with the token that opened it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.refusals import RefusalError
from tidings.notify.inbox import store
from tidings.notify.inbox.desk import InboxDesk, InboxVisitor
from tidings.notify.inbox.feed import InboxQuery, fits
from tidings.notify.inbox.model import Inbox
from tidings.notify.inbox.news import InboxNews
from tidings.notify.inbox.wire import InboxCounts, InboxItemView

MEDIA_TYPE: Final = "text/event-stream"
#: Seconds between two signs of life, so that no proxy takes the connection for dead.
HEARTBEAT: Final = 15.0
#: Seconds after which a stream ends.
LONGEST: Final = 300.0
#: Milliseconds that a reader waits before it comes back.
_RETRY: Final = 1_000
#: Items that are told at once; there may be more, which follow.
_AT_ONCE: Final = 100
_IN_VIEW: Final = InboxQuery()

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    inbox: Inbox
    items: list[tuple[int, InboxItemView]]
    #: How far it goes.
    upto: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxStreamer:
    """Opens streams."""

    desk: InboxDesk
    news: InboxNews
    gate: TenantGate
    clock: Clock
    heartbeat: float = HEARTBEAT
    longest: float = LONGEST

    async def open(
        self,
        begin: Callable[[], AbstractAsyncContextManager[TenantTx]],
        visitor: InboxVisitor,
        after: int | None,
    ) -> AsyncGenerator[bytes]:
        """The pieces; it listens when this returns. `after`: the last change that was told; None: only what comes is wanted."""
        pieces = self._pieces(begin, visitor, after)
        await anext(pieces)
        return pieces

    async def _pieces(
        self,
        begin: Callable[[], AbstractAsyncContextManager[TenantTx]],
        visitor: InboxVisitor,
        after: int | None,
    ) -> AsyncGenerator[bytes]:
        """The first one is nothing: it says that the visitor was let in, and that it listens."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.longest
        async with begin() as tx:
            inbox = await self.desk.admit(tx, visitor)
        # An id of another time, or of another inbox, is of no use: all that is told then are the counts.
        place = inbox.latest if after is None or after > inbox.latest else after
        told: Inbox | None = None
        with self.news.listening(visitor.key) as called:
            yield b""
            yield b"retry: %d\n\n" % _RETRY
            while loop.time() < ends and not self.news.stopping and not self._is_over(visitor):
                called.clear()
                try:
                    # A tenant that is suspended meanwhile, or a token that is voided, hears no more.
                    await self.gate.check(visitor.key.tenant_id, writes=False)
                    found = await self._look(begin, visitor, place)
                except RefusalError as error:
                    yield b"event: error\ndata: %s\n\n" % error.code.encode()
                    return
                if found.items or told is None or found.inbox != told:
                    yield _written(found)
                place, told = found.upto, found.inbox
                if found.upto < found.inbox.latest:
                    continue
                try:
                    async with asyncio.timeout(self.heartbeat):
                        await called.wait()
                except TimeoutError:
                    yield b": still here\n\n"

    async def _look(
        self, begin: Callable[[], AbstractAsyncContextManager[TenantTx]], visitor: InboxVisitor, place: int
    ) -> _News:
        async with begin() as tx:
            # First how far the inbox has come: all that is not above it is committed.
            inbox = await self.desk.admit(tx, visitor)
            found = await store.read_above(tx, visitor.key, above=place, latest=inbox.latest, most=_AT_ONCE)
            now = self.clock.now()
            shown = [item for item in found if fits(item, _IN_VIEW, now)]
            opened = await self.desk.reader.opened(tx, visitor.key, shown)
        return _News(
            inbox=inbox,
            items=[(one.item.place, InboxItemView.of(one)) for one in opened],
            upto=found[-1].place if len(found) == _AT_ONCE else inbox.latest,
        )

    def _is_over(self, visitor: InboxVisitor) -> bool:
        return visitor.until is not None and visitor.until <= self.clock.now()


def _written(news: _News) -> bytes:
    pieces = [
        f"id: {place}\nevent: item\ndata: ".encode() + _encode(item) + b"\n\n" for place, item in news.items
    ]
    counts = _encode(InboxCounts.of(news.inbox))
    return b"".join([*pieces, f"id: {news.upto}\nevent: counts\ndata: ".encode() + counts + b"\n\n"])
