"""Reads one subscription in this process, while it has the lease: a set, its effect, the acknowledgement, the next set.

The lease keeps the order, and nothing else: two that read at once would make no event twice.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from secrets import token_hex
from typing import Protocol, TypeVar

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import DatabaseError, TidingsError
from tidings.kernel.hot_state import Lease, Leases
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger, why
from tidings.kernel.outside_subjects import OutsideMessage, OutsideReading, OutsideSubjects
from tidings.notify.event_subscriptions import store
from tidings.notify.event_subscriptions.model import (
    EventSubscription,
    KeptMessage,
    MessageRefusal,
    SubscriptionProgress,
)
from tidings.notify.event_subscriptions.store import NewRefusal, SetResult
from tidings.notify.event_subscriptions.take import MessageTaker
from tidings.notify.ids import REFUSED_MESSAGE, EventSubscriptionId
from tidings.notify.received_events.read import MOST_BYTES

_log = get_logger("event_subscriptions")
T = TypeVar("T")


class SubscriptionObserver(Protocol):
    """Counts what comes."""

    def taken(
        self, subscription_id: EventSubscriptionId, *, accepted: int, repeated: int, refused: int
    ) -> None:
        """So many messages of a set became events, were repeats, were refused."""
        ...

    def troubled(self, subscription_id: EventSubscriptionId, *, troubled: bool) -> None:
        """Whether this process, whose turn it is, can't read it."""
        ...

    def stopped(self, subscription_id: EventSubscriptionId) -> None:
        """This process does not read it any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingParts:
    """What readers share."""

    db: Database
    subjects: OutsideSubjects
    leases: Leases
    taker: MessageTaker
    keyring: Keyring
    clock: Clock
    observer: SubscriptionObserver
    #: How long a reader may be silent before another process takes over.
    lease: timedelta


class SubscriptionReader:
    """Reads one subscription, as it was when this was made."""

    def __init__(self, subscription: EventSubscription, parts: ReadingParts) -> None:
        self._subscription = subscription
        self._id = subscription.id
        self._parts = parts
        self._holder = token_hex(8)
        self._backoff = Backoff(first=0.2, longest=10.0)

    async def run(self, stop: asyncio.Event) -> None:
        """Read until `stop`, or stand by for the process that reads."""
        try:
            while not stop.is_set():
                # Whoever stands by looks twice while a lease runs out.
                pause = self._parts.lease.total_seconds() / 2
                try:
                    async with self._leased() as lost:
                        if lost is not None:
                            await self._read(stop, lost)
                            pause = 0.0
                        else:
                            self._parts.observer.troubled(self._id, troubled=False)
                except Exception as error:  # noqa: BLE001  # one subscription's trouble must not stop the others
                    pause = self._backoff.after_failure()
                    await self._tell(error, pause)
                if pause:
                    await wait_for_stop(stop, pause)
        finally:
            self._parts.observer.stopped(self._id)

    @asynccontextmanager
    async def _leased(self) -> AsyncIterator[asyncio.Event | None]:
        """What is set when the lease is lost; None while another process has it."""
        leases = self._parts.leases
        lease = await leases.acquire(None, f"event_subscription:{self._id}", self._holder, self._parts.lease)
        if lease is None:
            yield None
            return
        lost = asyncio.Event()
        renewing = asyncio.create_task(self._renew(lease, lost))
        try:
            yield lost
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            with contextlib.suppress(TidingsError):
                await leases.release(lease)

    async def _renew(self, lease: Lease, lost: asyncio.Event) -> None:
        ttl, monotonic = self._parts.lease, self._parts.clock.monotonic
        until = monotonic() + ttl.total_seconds()
        held: Lease | None = lease
        while held is not None and monotonic() < until:
            await asyncio.sleep(ttl.total_seconds() / 3)
            asked_at = monotonic()
            with contextlib.suppress(TidingsError):
                if (held := await self._parts.leases.renew(lease, ttl)) is not None:
                    until = asked_at + ttl.total_seconds()
        lost.set()

    async def _read(self, stop: asyncio.Event, lost: asyncio.Event) -> None:
        parts, known = self._parts, await self._progress()
        reading = await _unless(parts.subjects.open(self._subscription.interest(known)), stop, lost)
        if reading is None:
            return
        try:
            async with parts.db.platform() as tx:
                await store.note_reading(
                    tx,
                    self._id,
                    stream=reading.stream,
                    own_stream=reading.own_stream,
                    waiting=reading.waiting,
                    now=parts.clock.now(),
                )
            parts.observer.troubled(self._id, troubled=False)
            while (messages := await _unless(reading.take(), stop, lost)) is not None:
                if not await self._take(reading, messages, stop, lost):
                    return
                self._backoff.after_success()
        finally:
            await reading.close()

    async def _take(
        self,
        reading: OutsideReading,
        messages: Sequence[OutsideMessage],
        stop: asyncio.Event,
        lost: asyncio.Event,
    ) -> bool:
        """Whether these had their effect. While the database is away they are kept in hand: nothing may come before them."""
        while True:
            try:
                await self._have_effect(reading, messages)
            except DatabaseError as error:
                pause = self._backoff.after_failure()
                await self._tell(error, pause)
                if await _first_of(stop, lost, seconds=pause):
                    return False
            else:
                return True

    async def _progress(self) -> SubscriptionProgress | None:
        async with self._parts.db.platform() as tx:
            return (await store.find_progress(tx, [self._id])).get(self._id)

    async def _have_effect(self, reading: OutsideReading, messages: Sequence[OutsideMessage]) -> None:
        kept = [KeptMessage(subject=one.subject, headers=one.headers, data=one.data) for one in messages]
        outcomes = await self._parts.taker.take(self._subscription, kept)
        refused = [place for place, outcome in enumerate(outcomes) if isinstance(outcome, MessageRefusal)]
        repeated = sum(not isinstance(one, MessageRefusal) and one.duplicate for one in outcomes)
        reasons = [one for one in outcomes if isinstance(one, MessageRefusal)]
        result = SetResult(
            stream=reading.stream,
            own_stream=reading.own_stream,
            position=messages[-1].position,
            accepted=len(messages) - len(refused) - repeated,
            repeated=repeated,
            refused=len(refused),
            waiting=reading.waiting,
            last_refusal=reasons[-1].code if reasons else None,
        )
        now = self._parts.clock.now()
        async with self._parts.db.platform() as tx:
            if refused:
                # Ids in the order of the messages: that is the order in which they are tried again.
                ids = sorted(REFUSED_MESSAGE.new(now) for _ in refused)
                fresh = [
                    NewRefusal(id=id_, position=messages[place].position, message=kept[place], refusal=reason)
                    for id_, place, reason in zip(ids, refused, reasons, strict=True)
                ]
                await store.keep_refused(
                    tx,
                    self._parts.keyring,
                    self._id,
                    fresh,
                    stream=reading.stream,
                    most_bytes=MOST_BYTES,
                    now=now,
                )
            await store.note_set(tx, self._id, result, now=now)
        gone = set(refused)
        await reading.settle(
            done=[one for place, one in enumerate(messages) if place not in gone],
            refused=[messages[place] for place in refused],
        )
        self._parts.observer.taken(
            self._id, accepted=result.accepted, repeated=repeated, refused=len(refused)
        )
        if refused:
            codes = sorted({one.code for one in reasons})
            _log.warning(
                "messages_refused", subscription_id=self._id, count=len(refused), codes=" ".join(codes)
            )

    async def _tell(self, error: Exception, pause: float) -> None:
        """Say what is wrong: in the log, by the metric, and where the subscription is shown."""
        self._parts.observer.troubled(self._id, troubled=True)
        _log.warning("subscription_not_read", subscription_id=self._id, retry_seconds=pause, **why(error))
        if isinstance(error, DatabaseError):
            return
        words = (
            str(error) if isinstance(error, TidingsError) else f"an error of ours ({type(error).__name__})"
        )
        with contextlib.suppress(TidingsError):
            async with self._parts.db.platform() as tx:
                await store.note_reading(tx, self._id, problem=words[:500], now=self._parts.clock.now())


async def _first_of(*ends: asyncio.Event, seconds: float) -> bool:
    """Whether one of these is set within so many seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await _unless(asyncio.Event().wait(), *ends)
            return True
    return False


async def _unless(work: Awaitable[T], *ends: asyncio.Event) -> T | None:
    """Its result; None where one of these is set before."""
    task = asyncio.ensure_future(work)
    waiters = [asyncio.ensure_future(one.wait()) for one in ends]
    try:
        await asyncio.wait([task, *waiters], return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for one in (task, *waiters):
            one.cancel()
        await asyncio.gather(task, *waiters, return_exceptions=True)
