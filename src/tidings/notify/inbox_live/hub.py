"""All live streams of a process: hears which inboxes have changed, reads those that somebody listens to, and tells everybody once.

What is heard names inboxes and nothing else, and one that nobody listens to here costs a look into a table. What was missed,
because the connection that hears was away, is found by looking at all inboxes from time to time. Inboxes that changed at the
same moment are read together, whatever tenants they are of.
"""

import asyncio
import contextlib
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.kernel.announcer import ChannelAnnouncer
from tidings.kernel.clock import Clock
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import TidingsError
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why
from tidings.kernel.refusals import RefusalError
from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox.store import name_of
from tidings.notify.inbox_live.errors import TooManyStreamsError
from tidings.notify.inbox_live.listener import InboxListener
from tidings.notify.inbox_live.model import ONLY_NEW, Ending, LiveNews, Transport
from tidings.notify.inbox_live.presence import InboxPresence
from tidings.notify.inbox_live.read_news import AT_ONCE, LiveNewsReader
from tidings.notify.inbox_live.turns import WaitingInboxes
from tidings.notify.metrics import NotifyMetrics

#: Where transactions that change inboxes say which.
CHANNEL: Final = "tidings_inbox"

_log = get_logger("inbox_live")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLimits:
    """How many streams may be open in one process, and how they are kept alive."""

    most: int = 8_000
    most_of_a_tenant: int = 4_000
    most_of_a_person: int = 20
    #: Seconds without a message after which a stream is given a sign of life.
    heartbeat: float = 20.0
    #: Seconds that a client may leave its messages untaken.
    patience: float = 60.0
    #: Seconds between two looks at all inboxes, while announcements are heard and while they are not.
    look_every: float = 30.0
    look_often: float = 1.0
    #: Seconds between two looks at tokens, tenants and silent streams.
    tick: float = 1.0


class InboxHub:
    """The streams of this process."""

    def __init__(
        self,
        announcements: ChannelAnnouncer,
        *,
        reader: LiveNewsReader,
        gate: TenantGate,
        clock: Clock,
        metrics: NotifyMetrics,
        presence: InboxPresence,
        limits: LiveLimits | None = None,
    ) -> None:
        self.limits = limits or LiveLimits()
        #: Names this process among those that hold streams.
        self.process = secrets.token_hex(4)
        self._announcements = announcements
        self._reader = reader
        self._gate = gate
        self._clock = clock
        self._metrics = metrics
        self._presence = presence
        self._by_inbox: dict[str, list[InboxListener]] = {}
        self._of_tenant: Counter[TenantId] = Counter()
        self._count = 0
        self._opened = 0
        self._waiting = WaitingInboxes()
        self._called = asyncio.Event()
        self._stopping = False
        self._looked_at = float("-inf")
        self._backoff = Backoff(longest=5.0)
        announcements.hear(CHANNEL, self._hear)

    def __len__(self) -> int:
        return self._count

    def listeners(self) -> Iterator[InboxListener]:
        """All that are open."""
        for mine in list(self._by_inbox.values()):
            yield from list(mine)

    def join(
        self,
        key: InboxKey,
        *,
        transport: Transport,
        since: datetime | None,
        until: datetime | None,
        after: int | None,
        wake: Callable[[], None],
    ) -> InboxListener:
        """Listen from now on; a `TooManyStreamsError` where as many do as may. What it has missed since `after` comes first."""
        name = name_of(key)
        mine = self._by_inbox.get(name, ())
        for limit, open_, most in (
            ("process", self._count, self.limits.most),
            ("tenant", self._of_tenant[key.tenant_id], self.limits.most_of_a_tenant),
            ("person", len(mine), self.limits.most_of_a_person),
        ):
            if open_ >= most:
                self._metrics.inbox_streams_refused.labels(limit).inc()
                raise TooManyStreamsError(limit, most)
        self._opened += 1
        listener = InboxListener(
            key,
            id_=f"{self.process}-{self._opened}",
            transport=transport,
            since=since,
            until=until,
            after=after,
            opened_at=self._clock.now(),
            wake=wake,
        )
        self._by_inbox.setdefault(name, []).append(listener)
        self._of_tenant[key.tenant_id] += 1
        self._count += 1
        self._metrics.inbox_streams.labels(transport).inc()
        if self._stopping:
            listener.end(Ending.RESTARTING)
        self._put(key)
        return listener

    def leave(self, listener: InboxListener) -> None:
        """It listens no longer; said again, nothing happens."""
        name = name_of(listener.key)
        mine = self._by_inbox.get(name, [])
        if listener not in mine:
            return
        mine.remove(listener)
        if not mine:
            del self._by_inbox[name]
        tenant_id = listener.key.tenant_id
        self._of_tenant[tenant_id] -= 1
        if not self._of_tenant[tenant_id]:
            del self._of_tenant[tenant_id]
        self._count -= 1
        self._metrics.inbox_streams.labels(listener.transport).dec()
        self._metrics.inbox_streams_ended.labels(listener.ended or "client").inc()

    async def run(self, stop: asyncio.Event) -> None:
        """Tell news until `stop`; then end all streams, so that their clients go elsewhere."""
        self._stopping = False
        reading = asyncio.create_task(self._read_on())
        try:
            while not await wait_for_stop(stop, self.limits.tick):
                if reading.done():
                    reading.result()
                await self.tick()
        finally:
            self._stopping = True
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            for listener in self.listeners():
                listener.end(Ending.RESTARTING)
            await self._tell_presence(nobody=True)

    async def tick(self) -> None:
        """End what may not go on, give silent streams a sign of life, and look at all inboxes when it is time."""
        now, since = self._clock.now(), self._clock.monotonic()
        for listener in self.listeners():
            if listener.until is not None and listener.until <= now:
                listener.end(Ending.TOKEN_EXPIRED)
            elif (
                listener.untaken_since is not None and since - listener.untaken_since >= self.limits.patience
            ):
                listener.end(Ending.TOO_SLOW)
            elif listener.told_at is not None and since - listener.told_at >= self.limits.heartbeat:
                listener.beat(since)
        every = self.limits.look_every if self._announcements.proved else self.limits.look_often
        # A process that is behind with reading is not given more of it.
        if since - self._looked_at >= every and not self._waiting:
            self._hear(None)
        for tenant_id in list(self._of_tenant):
            await self._check(tenant_id)
        await self._tell_presence()

    async def tell_waiting(self) -> int:
        """Read the next inboxes that wait, and tell what is new in them; how many there were."""
        keys = self._waiting.take(AT_ONCE)
        told = {key: list(mine) for key in keys if (mine := self._by_inbox.get(name_of(key)))}
        if not told:
            return len(keys)
        wanted = {
            key: min(ONLY_NEW if one.position is None else one.position for one in mine)
            for key, mine in told.items()
        }
        try:
            news = await self._reader.read(wanted)
        except BaseException:
            for key in keys:
                self._put(key)
            raise
        for key, mine in told.items():
            for listener in mine:
                self._tell(listener, news[key])
        return len(keys)

    def _tell(self, listener: InboxListener, news: LiveNews) -> None:
        voided = news.inbox.tokens_from
        if listener.since is not None and voided is not None and listener.since <= voided:
            listener.end(Ending.TOKEN_VOIDED)
        elif listener.ended is None:
            before = listener.waiting
            if listener.tell(news, self._clock.monotonic()):
                self._metrics.inbox_streams_reset.inc()
            self._metrics.inbox_frames.inc(max(0, listener.waiting - before))

    async def _read_on(self) -> None:
        while True:
            await self._called.wait()
            self._called.clear()
            try:
                while self._waiting:
                    await self.tell_waiting()
                    # Those who were told get to write before the next set is read.
                    await asyncio.sleep(0)
                self._backoff.after_success()
            except TidingsError as error:
                pause = self._backoff.after_failure()
                _log.warning("inbox_news_delayed", retry_seconds=pause, **why(error))
                await asyncio.sleep(pause)
                self._called.set()

    async def _check(self, tenant_id: TenantId) -> None:
        try:
            await self._gate.check(tenant_id, writes=False)
        except RefusalError:
            for listener in self.listeners():
                if listener.key.tenant_id == tenant_id:
                    listener.end(Ending.TENANT_CLOSED)
        except TidingsError as error:
            # While the database is away nothing new can be told either; streams wait for it.
            _log.warning("inbox_tenant_unchecked", tenant_id=tenant_id, **why(error))

    async def _tell_presence(self, *, nobody: bool = False) -> None:
        try:
            await self._presence.keep(() if nobody else self.listeners())
        except TidingsError as error:
            _log.warning("inbox_presence_delayed", **why(error))

    def _hear(self, payload: str | None) -> None:
        if payload is None:
            self._looked_at = self._clock.monotonic()
        for name in list(self._by_inbox) if payload is None else payload.split("\n"):
            if mine := self._by_inbox.get(name):
                self._put(mine[0].key)

    def _put(self, key: InboxKey) -> None:
        self._waiting.put(key)
        self._called.set()
