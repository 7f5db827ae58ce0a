"""The feed on JetStream: a tenant reads the subjects of its own events, and is woken when one was stored.

Places are one line of numbers with those in Postgres, so a cursor is good on either engine, before and after a move.
A page is read directly from the stream, from any of its copies. One that is behind the others shows less; therefore a cursor
goes on from the last event that was shown, and not from where the stream ends.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import msgspec
import nats.errors

from tidings.kernel.bus import (
    BusUnavailableError,
    CursorError,
    CursorExpiredError,
    FeedPage,
    FeedStart,
    SubjectFilter,
)
from tidings.kernel.clock import Clock
from tidings.kernel.errors import TidingsError
from tidings.kernel.events import Event, from_cloudevent
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.filters import filters_of
from tidings.kernel.nats_bus.stream import KEEP, JetStream, StreamState, moment
from tidings.kernel.postgres_bus.event_stream import Cursor
from tidings.kernel.postgres_bus.feed import PostgresFeed, read_cursor, write_cursor
from tidings.kernel.postgres_bus.wakeups import Wakeups

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription as NatsSubscription

#: How long a page may take, in seconds.
_SECONDS: Final = 5.0
#: How far one copy of the stream may be behind another. A cursor's time says that all before it was shown.
_COPIES_BEHIND: Final = timedelta(minutes=5)
#: How long JetStream keeps a watch that nobody hears any more.
_FORGOTTEN_SECONDS: Final = 60


@dataclass(slots=True, eq=False)
class _Listener:
    tenant_id: TenantId
    wanted: SubjectFilter
    called: asyncio.Event


@dataclass(slots=True)
class _TenantWatch:
    """JetStream tells of each event of a tenant, without its content."""

    #: Which look at the stream it was made after.
    look: int
    inbox: "NatsSubscription"


class NatsFeed:
    """Reads for those outside, and wakes those who wait."""

    def __init__(self, stream: JetStream, before: PostgresFeed, *, clock: Clock, wakeups: Wakeups) -> None:
        self._stream = stream
        self._before = before
        self._clock = clock
        self._wakeups = wakeups
        self._listeners: set[_Listener] = set()
        self._watches: dict[TenantId, _TenantWatch] = {}
        self._watching: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        stream.connection.on_change(self._changed.set)

    async def cursor(self, start: FeedStart) -> str:
        """Where a reader without a cursor begins."""
        state = await self._state()
        if start == "now":
            return write_cursor(self._at(state.last))
        oldest = read_cursor(await self._before.cursor("beginning"))
        # What is left in Postgres from before the stream moved is older than all that is here.
        first = self._first()
        if oldest.position < first - 1:
            return write_cursor(oldest)
        return write_cursor(self._at(max(state.first, first) - 1))

    async def read(self, tenant_id: TenantId, wanted: SubjectFilter, *, after: str, limit: int) -> FeedPage:
        """The next events behind the cursor."""
        named = read_cursor(after)
        state = await self._state()
        first = self._first()
        if named.position < first - 1:
            page = await self._before.read(tenant_id, wanted, after=after, limit=limit)
            if not page.at_end:
                return page
            # All of it is behind; what comes next is here.
            begins = write_cursor(self._at(first - 1))
            return FeedPage(events=page.events, cursors=page.cursors, next_cursor=begins, at_end=False)
        if named.position > state.last:
            raise CursorError
        if named.published_at < self._clock.now() - KEEP:
            raise CursorExpiredError
        return await self._page(tenant_id, wanted, named, limit=limit)

    @contextmanager
    def listen(self, tenant_id: TenantId, wanted: SubjectFilter) -> Iterator[asyncio.Event]:
        """An event that is set whenever there may be more to read."""
        listener = _Listener(tenant_id, wanted, asyncio.Event())
        self._listeners.add(listener)
        self._changed.set()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        try:
            with self._wakeups.awaiting_events():
                yield listener.called
        finally:
            self._listeners.discard(listener)
            self._changed.set()

    async def close(self) -> None:
        """Watch no more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _state(self) -> StreamState:
        await self._stream.ensure()
        state = await self._stream.state()
        if state is None:
            raise BusUnavailableError("NATS: the stream is gone; it is made anew")
        return state

    def _first(self) -> int:
        return self._stream.first_position or 1

    def _at(self, position: int, since: datetime | None = None) -> Cursor:
        """That place; all that is older than some minutes is behind it."""
        time = self._clock.now() - _COPIES_BEHIND
        return Cursor(position=position, published_at=max(time, since) if since is not None else time)

    async def _page(
        self, tenant_id: TenantId, wanted: SubjectFilter, after: Cursor, *, limit: int
    ) -> FeedPage:
        filters = filters_of(self._stream.name, wanted.patterns, tenant=tenant_id)
        own = f"{self._stream.name}.{tenant_id}.>"
        messages, left = await self._stored(
            after.position + 1, filters[0] if len(filters) == 1 else own, limit=limit
        )
        events: list[Event] = []
        cursors: list[str] = []
        end = after
        for position, time, data in messages:
            end = Cursor(position=position, published_at=time)
            event = _event(data)
            if event is not None and event.tenant_id == tenant_id and wanted.takes(event.subject):
                events.append(event)
                cursors.append(write_cursor(end))
        if left == 0:
            end = self._at(end.position, since=end.published_at)
        return FeedPage(
            events=tuple(events), cursors=tuple(cursors), next_cursor=write_cursor(end), at_end=left == 0
        )

    async def _stored(
        self, start: int, subject: str, *, limit: int
    ) -> tuple[list[tuple[int, datetime, bytes]], int]:
        """Up to so many messages from a place on, in their order, and how many there are behind them."""
        client = await self._stream.connection.client()
        found: list[tuple[int, datetime, bytes]] = []
        over: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def heard(message: "Msg") -> None:
            headers = message.headers or {}
            status = headers.get("Status")
            if status is None:
                time = moment(headers["Nats-Time-Stamp"])
                found.append((int(headers["Nats-Sequence"]), time, message.data))
            elif over.done():
                return
            elif status == "204":
                over.set_result(int(headers.get("Nats-Num-Pending", "0")))
            elif status == "404":
                over.set_result(0)
            else:
                over.set_exception(
                    BusUnavailableError(
                        "NATS: the stream can't be read directly; it needs NATS 2.11 or newer"
                    )
                )

        question = {"seq": start, "next_by_subj": subject, "batch": limit}
        inbox = client.new_inbox()
        subscription = await self._stream.connection.subscribe(inbox, heard)
        try:
            await client.publish(
                f"$JS.API.DIRECT.GET.{self._stream.name}", msgspec.json.encode(question), reply=inbox
            )
            left = await asyncio.wait_for(over, _SECONDS)
        except (TimeoutError, nats.errors.Error, OSError) as error:
            raise BusUnavailableError(f"NATS: reading failed ({type(error).__name__})") from None
        finally:
            await self._stream.connection.unsubscribe(subscription)
        return found, left

    async def _watch(self) -> None:
        """For as long as somebody waits: a watch for each tenant that somebody waits for."""
        try:
            while self._listeners:
                self._changed.clear()
                with contextlib.suppress(TidingsError, nats.errors.Error, OSError):
                    await self._fit_watches()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self._wakeups.poll_seconds)
                    continue
                # Nothing was heard for long: whoever waits looks for himself.
                self._call(self._listeners)
        finally:
            for tenant_id in list(self._watches):
                await self._end_watch(tenant_id)

    async def _fit_watches(self) -> None:
        wanted = {listener.tenant_id for listener in self._listeners}
        for tenant_id in set(self._watches) - wanted:
            await self._end_watch(tenant_id)
        await self._stream.ensure()
        for tenant_id in wanted:
            watch = self._watches.get(tenant_id)
            if watch is None or watch.look != self._stream.looks:
                self._watches[tenant_id] = await self._begin_watch(tenant_id)
                # Something may have come before.
                self._call(one for one in self._listeners if one.tenant_id == tenant_id)

    async def _begin_watch(self, tenant_id: TenantId) -> _TenantWatch:
        look = self._stream.looks
        client = await self._stream.connection.client()

        async def heard(message: "Msg") -> None:
            subject = message.subject.split(".", 2)[-1]
            self._call(
                one for one in self._listeners if one.tenant_id == tenant_id and one.wanted.takes(subject)
            )

        inbox = client.new_inbox()
        subscription = await self._stream.connection.subscribe(inbox, heard)
        try:
            await self._stream.ask(
                f"CONSUMER.CREATE.{self._stream.name}",
                stream_name=self._stream.name,
                config={
                    "deliver_subject": inbox,
                    "deliver_policy": "new",
                    "ack_policy": "none",
                    "filter_subject": f"{self._stream.name}.{tenant_id}.>",
                    "headers_only": True,
                    "mem_storage": True,
                    "num_replicas": 1,
                    "inactive_threshold": _FORGOTTEN_SECONDS * 1_000_000_000,
                },
            )
        except (JetStreamError, BusUnavailableError):
            await self._stream.connection.unsubscribe(subscription)
            raise
        return _TenantWatch(look, subscription)

    async def _end_watch(self, tenant_id: TenantId) -> None:
        watch = self._watches.pop(tenant_id)
        # JetStream forgets a watch that nobody hears.
        await self._stream.connection.unsubscribe(watch.inbox)

    def _call(self, listeners: Iterable[_Listener]) -> None:
        for listener in listeners:
            listener.called.set()


def _event(data: bytes) -> Event | None:
    try:
        return from_cloudevent(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
