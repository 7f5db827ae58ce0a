"""The use case "a reader wants its events": a page of them, or what comes within a while."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from tidings.kernel.bus import CursorExpiredError, EventFeed, FeedPage, SubjectFilter
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId
from tidings.notify.event_feed.errors import EventsExpiredError, TooManyListenersError

#: Connections that wait for events, of one tenant and of all, in one process at most.
MOST_OF_A_TENANT: Final = 50
MOST_LISTENERS: Final = 1_000
#: Pages that are read for one answer at most, where all that was found was others'.
_MOST_PAGES: Final = 10
#: Seconds of a turn of the job that ends all waiting.
_TURN: Final = 60.0


class _SaysTest(msgspec.Struct):
    is_test: bool = False


_says_test = msgspec.json.Decoder(_SaysTest).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a reader wants, and where it stands."""

    tenant_id: TenantId
    types: SubjectFilter
    #: A test key hears of tests alone.
    tests_only: bool
    after: str
    limit: int


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class FeedReader:
    """Reads for callers of the API; one per process."""

    feed: EventFeed
    #: The process ends: nobody is to wait any longer.
    stopping: bool = field(default=False, init=False)
    _waiting: Counter[TenantId] = field(default_factory=Counter, init=False)
    _calls: set[asyncio.Event] = field(default_factory=set, init=False)

    async def run(self, stop: asyncio.Event) -> None:
        """When the process ends, so does all waiting: whoever waits is answered at once, and comes back to another process."""
        while not await wait_for_stop(stop, _TURN):
            pass
        self.stopping = True
        for called in self._calls:
            called.set()

    async def read(self, wanted: Wanted) -> FeedPage:
        """The next events that it wants; an empty page only at the end, or after a long stretch of others' events."""
        for _ in range(_MOST_PAGES):
            page = await self._page(wanted)
            if page.events or page.at_end:
                break
            wanted = behind(wanted, page)
        return page

    async def check(self, wanted: Wanted) -> None:
        """Refuse a cursor that is none, or that is too old."""
        await self._page(replace(wanted, limit=1))

    async def read_within(self, wanted: Wanted, seconds: float, gone: Awaitable[None]) -> FeedPage:
        """The next events, as soon as there are some, but within that time; `gone` is when the caller hangs up."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        with self.listening(wanted) if seconds > 0 else nullcontext(asyncio.Event()) as called:
            leaving = asyncio.ensure_future(gone)
            try:
                while True:
                    called.clear()
                    page = await self.read(wanted)
                    left = until - loop.time()
                    if page.events or left <= 0 or leaving.done() or self.stopping:
                        return page
                    wanted = behind(wanted, page)
                    if page.at_end:
                        await first_of(called, leaving, seconds=left)
            finally:
                leaving.cancel()

    @contextmanager
    def listening(self, wanted: Wanted) -> Iterator[asyncio.Event]:
        """Hear of what comes; a `TooManyListenersError` where as many do as may."""
        tenant_id = wanted.tenant_id
        if self._waiting[tenant_id] >= MOST_OF_A_TENANT or self._waiting.total() >= MOST_LISTENERS:
            raise TooManyListenersError
        self._waiting[tenant_id] += 1
        try:
            with self.feed.listen(tenant_id, wanted.types) as called:
                self._calls.add(called)
                try:
                    yield called
                finally:
                    self._calls.discard(called)
        finally:
            self._waiting[tenant_id] -= 1
            if not self._waiting[tenant_id]:
                del self._waiting[tenant_id]

    async def _page(self, wanted: Wanted) -> FeedPage:
        try:
            page = await self.feed.read(
                wanted.tenant_id, wanted.types, after=wanted.after, limit=wanted.limit
            )
        except CursorExpiredError:
            raise EventsExpiredError from None
        if not wanted.tests_only:
            return page
        tests = [
            (event, cursor)
            for event, cursor in zip(page.events, page.cursors, strict=True)
            if _is_of_a_test(event)
        ]
        return replace(
            page,
            events=tuple(event for event, _ in tests),
            cursors=tuple(cursor for _, cursor in tests),
        )


async def first_of(called: asyncio.Event, leaving: "asyncio.Future[None]", *, seconds: float) -> None:
    """Until called, until the caller leaves, or that long."""
    waiting = asyncio.ensure_future(called.wait())
    either: set[asyncio.Future[Any]] = {waiting, leaving}
    try:
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


def behind(wanted: Wanted, page: FeedPage) -> Wanted:
    """What it wants next."""
    return replace(wanted, after=page.next_cursor)


def _is_of_a_test(event: Event) -> bool:
    return _says_test(event.data).is_test
