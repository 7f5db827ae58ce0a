"""All streams of a process: hears which tenants were told something, reads it once for each tenant, and wakes who listens.

Nothing waits in a queue for a slow client. What was told lately stands once for each tenant, and a stream takes what is behind its
own place when its connection has taken what came before. Who has fallen further behind reads from the table, and who has
missed what is not kept any more is told to reload.
"""

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tidings.backoffice.announcements import store
from tidings.backoffice.announcements.model import Announcement
from tidings.backoffice.stream.errors import TooManyDeviceStreamsError
from tidings.backoffice.stream.listener import StreamEnding, StreamListener
from tidings.backoffice.stream.metrics import StreamMetrics
from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.announcer import ChannelAnnouncer
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import TidingsError
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why

#: Where announcements that commit say of which tenant they are; empty: of the platform.
CHANNEL: Final = "tidings_announcements"
#: Announcements of a tenant that are read at once, and that are kept in memory for those who listen.
AT_ONCE: Final = 200
_KEPT: Final = 1_000

_log = get_logger("device_streams")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """How many streams may be open in one process, and how they are kept alive."""

    most: int = 4_000
    most_of_a_tenant: int = 2_000
    #: Tabs of one browser; one more ends the oldest.
    most_of_a_device: int = 6
    #: Seconds without a message after which a stream is given a sign of life.
    heartbeat: float = 20.0
    #: Seconds between two looks at all tenants, while announcements are heard and while they are not.
    look_every: float = 30.0
    look_often: float = 0.3


class News(NamedTuple):
    """What a stream is to be told next."""

    #: All behind its place, in order; whom each is for is not looked at yet.
    announcements: Sequence[Announcement]
    #: Some of what it has missed is not kept any more.
    is_cut: bool = False


@dataclass(slots=True, kw_only=True)
class _Tail:
    """What a tenant was told lately."""

    #: None: not asked yet.
    latest: int | None = None
    kept: deque[Announcement] = field(default_factory=lambda: deque(maxlen=_KEPT))
    listeners: list[StreamListener] = field(default_factory=list)


class DeviceStreams:
    """The streams of this process."""

    def __init__(
        self,
        db: Database,
        announcer: ChannelAnnouncer,
        *,
        changes: AnnouncedChanges,
        metrics: StreamMetrics,
        limits: StreamLimits | None = None,
    ) -> None:
        self.limits = limits or StreamLimits()
        self._db = db
        self._announcer = announcer
        self._metrics = metrics
        self._tails: dict[TenantId | None, _Tail] = {}
        self._by_key: dict[str, list[StreamListener]] = {}
        self._of_device: Counter[str] = Counter()
        self._count = 0
        self._waiting: set[TenantId | None] = set()
        self._called = asyncio.Event()
        self._stopping = False
        self._looked_at = float("-inf")
        self._backoff = Backoff(longest=5.0)
        announcer.hear(CHANNEL, self._hear)
        changes.on_any(self._changed)

    def __len__(self) -> int:
        return self._count

    @property
    def is_prompt(self) -> bool:
        """Whether every change is heard at once at present."""
        return self._announcer.proved

    def listeners(self) -> Iterator[StreamListener]:
        """All that are open."""
        for tail in list(self._tails.values()):
            yield from list(tail.listeners)

    def join(self, caller: Caller, *, after: int | None) -> StreamListener:
        """Listen from now on, or behind a number; a `TooManyDeviceStreamsError` where as many do as may."""
        tail = self._tails.get(caller.tenant_id) or _Tail()
        for limit, open_, most in (
            ("process", self._count, self.limits.most),
            ("tenant", len(tail.listeners), self.limits.most_of_a_tenant),
        ):
            if open_ >= most:
                self._metrics.refused.labels(limit).inc()
                raise TooManyDeviceStreamsError(limit, most)
        self._tails[caller.tenant_id] = tail
        listener = StreamListener(caller, position=after)
        if self._of_device[listener.device_id] >= self.limits.most_of_a_device:
            oldest = next(one for one in tail.listeners if one.device_id == listener.device_id)
            oldest.end(StreamEnding.REPLACED)
            self.leave(oldest)
        tail.listeners.append(listener)
        for key in listener.keys:
            self._by_key.setdefault(key, []).append(listener)
        self._of_device[listener.device_id] += 1
        self._count += 1
        self._metrics.streams.inc()
        if self._stopping:
            listener.end(StreamEnding.RESTARTING)
        self._put(listener.tenant_id)
        return listener

    def leave(self, listener: StreamListener) -> None:
        """It listens no longer; said again, nothing happens."""
        tail = self._tails.get(listener.tenant_id)
        if tail is None or listener not in tail.listeners:
            return
        tail.listeners.remove(listener)
        if not tail.listeners:
            del self._tails[listener.tenant_id]
        for key in listener.keys:
            self._by_key[key].remove(listener)
            if not self._by_key[key]:
                del self._by_key[key]
        self._of_device[listener.device_id] -= 1
        if not self._of_device[listener.device_id]:
            del self._of_device[listener.device_id]
        self._count -= 1
        self._metrics.streams.dec()

    async def next(self, listener: StreamListener) -> News | None:
        """What comes behind its place, whose it then has; None: it is not known yet how far its tenant has come."""
        tail = self._tails.get(listener.tenant_id)
        if tail is None or tail.latest is None:
            return None
        place = listener.position
        if place is None:
            listener.position = tail.latest
            return News(())
        if place == tail.latest:
            return News(())
        if place > tail.latest and await self._head(listener.tenant_id) >= place:
            # Another process told it, and we have not read so far yet.
            self._put(listener.tenant_id)
            return News(())
        found: Sequence[Announcement] = [one for one in tail.kept if one.number > place]
        if not found or found[0].number != place + 1:
            found = await self._read(listener.tenant_id, place)
        if not found or found[0].number != place + 1:
            # What it missed was swept; or its place is of another database, before a restore.
            listener.position = max(tail.latest, found[-1].number if found else 0)
            return News((), is_cut=True)
        listener.position = found[-1].number
        self._metrics.events.inc(len(found))
        return News(found)

    async def run(self, stop: asyncio.Event) -> None:
        """Read what is told until `stop`; then end all streams, so that their clients go elsewhere."""
        self._stopping = False
        reading = asyncio.create_task(self._read_on())
        try:
            while not await wait_for_stop(stop, self.limits.look_often):
                if reading.done():
                    reading.result()
                every = self.limits.look_every if self.is_prompt else self.limits.look_often
                if time.monotonic() - self._looked_at >= every:
                    self._hear(None)
        finally:
            self._stopping = True
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            for listener in self.listeners():
                listener.end(StreamEnding.RESTARTING)

    async def read_waiting(self) -> None:
        """Read what those tenants were told of which something was heard, and wake who listens."""
        waiting, self._waiting = self._waiting, set()
        tails = {owner: tail for owner in waiting if (tail := self._tails.get(owner)) is not None}
        try:
            await self._read_heads({owner: tail for owner, tail in tails.items() if tail.latest is None})
            behind = {owner: tail.latest for owner, tail in tails.items() if tail.latest is not None}
            for one in await self._read_behind(behind):
                tail = tails[one.tenant_id]
                tail.kept.append(one)
                tail.latest = one.number
        except BaseException:
            self._waiting |= waiting
            raise
        for owner, tail in tails.items():
            moved = tail.latest != behind.get(owner)
            if moved:
                # There may be more than was read at once.
                self._put(owner)
            for listener in tail.listeners:
                if listener.position != tail.latest:
                    listener.called.set()

    async def _read_heads(self, tails: dict[TenantId | None, _Tail]) -> None:
        heads = await self._heads(tails)
        for owner, tail in tails.items():
            tail.latest = heads[owner]

    async def _head(self, owner: TenantId | None) -> int:
        return (await self._heads([owner]))[owner]

    async def _heads(self, owners: Collection[TenantId | None]) -> dict[TenantId | None, int]:
        tenants = [owner for owner in owners if owner is not None]
        heads: dict[TenantId | None, int] = {}
        if tenants:
            async with self._db.tenants(tenants) as tx:
                heads = await store.find_heads(tx, tenants)
        if None in owners:
            async with self._db.platform() as platform_tx:
                heads[None] = await store.find_platform_head(platform_tx)
        return heads

    async def _read_behind(self, behind: dict[TenantId | None, int]) -> list[Announcement]:
        found: list[Announcement] = []
        tenants = {owner: number for owner, number in behind.items() if owner is not None}
        if tenants:
            async with self._db.tenants(tenants) as tx:
                found += await store.find_after(tx, tenants, most=AT_ONCE)
        if None in behind:
            async with self._db.platform() as platform_tx:
                found += await store.find_platform_after(platform_tx, behind[None], most=AT_ONCE)
        return found

    async def _read(self, owner: TenantId | None, number: int) -> list[Announcement]:
        return await self._read_behind({owner: number})

    async def _read_on(self) -> None:
        while True:
            await self._called.wait()
            self._called.clear()
            try:
                while self._waiting:
                    await self.read_waiting()
                    # Those who were woken get to write before the next set is read.
                    await asyncio.sleep(0)
                self._backoff.after_success()
            except TidingsError as error:
                pause = self._backoff.after_failure()
                _log.warning("announcements_delayed", retry_seconds=pause, **why(error))
                await asyncio.sleep(pause)
                self._called.set()

    def _hear(self, payload: str | None) -> None:
        if payload is None:
            self._looked_at = time.monotonic()
            for owner in self._tails:
                self._put(owner)
            return
        owner = TenantId(payload) if payload else None
        if owner in self._tails:
            self._put(owner)

    def _changed(self, key: str | None) -> None:
        """A tenant, a session or an operator was changed: those streams ask anew whether they may go on."""
        for listener in self.listeners() if key is None else self._by_key.get(key, ()):
            listener.called.set()

    def _put(self, owner: TenantId | None) -> None:
        self._waiting.add(owner)
        self._called.set()
