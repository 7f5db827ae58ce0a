"""Reads the stream for one group: claims the lease, takes a set, hands it on, moves the cursor."""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

from tidings.kernel.bus import BusObserver, BusUnavailableError, Subscription
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import DatabaseError, DatabaseUnavailableError
from tidings.kernel.logs import get_logger, why
from tidings.kernel.postgres_bus import lease as leases
from tidings.kernel.postgres_bus.delivery import EventDelivery
from tidings.kernel.postgres_bus.event_stream import Batch, Cursor, StreamReader
from tidings.kernel.postgres_bus.lease import LeaseClaim, LeaseLostError, ReaderLease
from tidings.kernel.postgres_bus.parked import ParkedLane, Settlement, due_lanes, settle
from tidings.kernel.postgres_bus.stream import PostgresReader
from tidings.kernel.postgres_bus.wakeups import BUS_CHANNEL, Wakeups

_log = get_logger("bus.consumer")
#: The pause after a reader has begun to read: none.
_BEGUN = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """How a consumer paces itself."""

    #: Events looked at in one turn at most.
    batch: int = 1_000
    #: Tenants whose sets are applied at the same time; each takes a connection.
    tenants_at_once: int = 4
    #: How long a process may be silent before another one takes its group over.
    lease: timedelta = timedelta(seconds=5)
    #: Seconds between the beginnings of two turns at least, after one with more than `few` events: under load they come in
    #: sets, otherwise at once.
    gather: float = 0.05
    few: int = 4
    #: Outages in a row after which the events at hand are blamed for them.
    outages_forgiven: int = 3
    #: Seconds of the longest pause while the database does not answer.
    longest_outage_pause: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What one turn has to do."""

    lease: ReaderLease
    batch: Batch
    lanes: list[ParkedLane]
    #: Something of the group is set aside, to be tried now or later.
    parked: bool

    @property
    def is_nothing(self) -> bool:
        return self.batch.looked_at == 0 and not self.lanes

    def is_all(self, settings: ConsumerSettings) -> bool:
        """Nothing speaks for more: no crowd of ours, the stream's end, nothing set aside."""
        ours, seen = len(self.batch.arrivals), self.batch.looked_at
        return ours <= settings.few and seen < settings.batch and not self.parked


class Consumer:
    """The reader of one group in this process."""

    def __init__(
        self,
        db: Database,
        subscription: Subscription,
        *,
        wakeups: Wakeups,
        clock: Clock,
        observer: BusObserver | None = None,
        settings: ConsumerSettings | None = None,
        reader: StreamReader | None = None,
    ) -> None:
        self._db = db
        self._subscription = subscription
        self._group = subscription.group
        self._wakeups = wakeups
        self._clock = clock
        self._observer = observer or BusObserver()
        self._settings = settings or ConsumerSettings()
        self._delivery = EventDelivery(
            db, subscription, clock=clock, tenants_at_once=self._settings.tenants_at_once
        )
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._wake = wakeups.on_subjects(BUS_CHANNEL, subscription.expression(), subscription.group)
        self._reader = reader or PostgresReader(subscription)
        #: The last lease that was granted, on an engine whose readers stay.
        self._held: ReaderLease | None = None
        self._lease_ends = 0.0
        self._outages = 0
        self._backoff = Backoff(longest=self._settings.longest_outage_pause)

    async def run(self, stop: asyncio.Event) -> None:
        """Consume until `stop`; an outage of the database or of the stream is waited out."""
        try:
            while not stop.is_set():
                try:
                    await self.register()
                    await self._consume(stop)
                except BusUnavailableError:
                    # The engine tells of its outage itself, once, and wakes us when it is back. Others may reach it.
                    await self._leave()
                    self._wake.clear()
                    await self._wake.wait(stop, self._backoff.after_failure())
                except Exception as error:  # noqa: BLE001  # a consumer that dies stops its part of the system
                    pause = self._backoff.after_failure()
                    self._observer.failed(f"consumer_{self._group}")
                    _log.warning("consumer_failed", group=self._group, retry_seconds=pause, **why(error))
                    # Where a reader stays, another process may fare better.
                    await self._leave()
                    # The wake-up connection may be back before the pause is over.
                    self._wake.clear()
                    await self._wake.wait(stop, pause)
        finally:
            await self._leave()

    async def register(self) -> None:
        """Make the group known; from now on it misses nothing."""
        from_now = self._subscription.start == "now"
        newest = await self._reader.newest() if from_now else None
        async with self._db.worker() as tx:
            await leases.register_group(tx, group=self._group, from_now=from_now, newest=newest)

    async def drain(self) -> int:
        """Consume all that is there and due now; how many events had their effect."""
        await self.register()
        consumed = 0
        try:
            while True:
                work, pause = await self._claim()
                if work is None and self._reader.stays and pause == _BEGUN:
                    continue
                if work is None and not await self._reader.more():
                    return consumed
                while work is not None:
                    settlement = await self._do(work)
                    consumed += settlement.consumed
                    work = await self._finish(work, settlement, rest=False)
        finally:
            await self._leave()

    async def _leave(self) -> None:
        """Let another process read, where this one would stay."""
        await self._reader.close()
        held, self._held = self._held, None
        if held is not None:
            with contextlib.suppress(DatabaseError):
                async with self._db.worker() as tx:
                    await leases.release_lease(tx, held, announce=True)

    async def _consume(self, stop: asyncio.Event) -> None:
        began = float("-inf")
        while not stop.is_set():
            self._wake.clear()
            work, pause = await self._claim()
            if work is None:
                self._backoff.after_success()
                await self._wake.wait(stop, pause)
                continue
            rested = False
            while work is not None:
                try:
                    settlement = await self._do(work)
                    if self._settings.few < work.batch.looked_at < self._settings.batch:
                        await self._gather(began, stop)
                    began = self._clock.monotonic()
                    # Whatever of ours came since we looked has called us, or will; a crowd of others' may pass unread.
                    is_all = work.is_all(self._settings) and not settlement.parked
                    rested = is_all and not (self._wake.called or self._reader.stays)
                    work = await self._finish(work, settlement, rest=rested or stop.is_set())
                except LeaseLostError:
                    _log.info("lease_lost", group=self._group)
                    work, rested = None, False
                else:
                    self._outages = 0
                    self._backoff.after_success()
            if rested:
                await self._wake.wait(stop, self._wakeups.poll_seconds)

    async def _gather(self, began: float, stop: asyncio.Event) -> None:
        early = began + self._settings.gather - self._clock.monotonic()
        if early > 0:
            await wait_for_stop(stop, early)

    async def _claim(self) -> tuple[_Work | None, float]:
        """Work and the lease for it; otherwise how long to wait."""
        await self._reader.prepare()
        await self._reader.gather()
        asked_at = self._clock.monotonic()
        begins = None
        async with self._db.worker(claims=True) as tx:
            claim = await leases.claim_lease(
                tx,
                group=self._group,
                owner=self._owner,
                lease=self._settings.lease,
                now=self._clock.now(),
                stays=self._reader.stays,
            )
            if claim is None:
                raise DatabaseError(f"consumer group {self._group} was removed; it is registered again")
            if claim.granted is not None:
                held, cursor = claim.granted
                if claim.from_another:
                    _log.warning("lease_taken_over", group=self._group)
                    self._observer.took_over(self._group)
                if self._reader.stays:
                    self._held = held
                if not self._reader.is_at(cursor):
                    begins = cursor
                else:
                    parked = claim.next_attempt_at is not None
                    work = await self._read(tx, held, cursor, asked_at, parked=parked)
                    if work is not None or not self._reader.stays:
                        return work, 0.0
        if begins is not None:
            # Not inside the transaction: this may ask another server.
            await self._reader.open(begins, self._wake)
            return None, _BEGUN
        return None, self._pause(claim)

    def _pause(self, claim: LeaseClaim) -> float:
        pauses = [self._wakeups.poll_seconds]
        if claim.granted is not None:
            # A reader that stays renews its lease by claiming it again.
            pauses.append(self._settings.lease.total_seconds() / 3)
        if claim.held_seconds is not None:
            pauses.append(max(claim.held_seconds, 0.0) + 0.01)
        if claim.next_attempt_at is not None:
            pauses.append(max((claim.next_attempt_at - self._clock.now()).total_seconds(), 0.001))
        return min(pauses)

    async def _read(
        self, tx: WorkerTx, held: ReaderLease, cursor: Cursor, asked_at: float, *, parked: bool
    ) -> _Work | None:
        """The next set under a lease that was just renewed; without one the lease is let go, unless the reader stays."""
        lanes = await due_lanes(tx, group=self._group, now=self._clock.now()) if parked else []
        batch = await self._reader.read(tx, after=cursor, limit=self._settings.batch)
        work = _Work(lease=held, batch=batch, lanes=lanes, parked=parked)
        if work.is_nothing:
            if not self._reader.stays:
                await leases.release_lease(tx, held)
            return None
        self._lease_ends = asked_at + self._settings.lease.total_seconds()
        return work

    async def _do(self, work: _Work) -> Settlement:
        try:
            async with self._renewing(work.lease):
                return await self._delivery.deliver(
                    work.batch.arrivals,
                    work.lanes,
                    still_ours=lambda: self._clock.monotonic() < self._lease_ends,
                    blame_outages=self._outages >= self._settings.outages_forgiven,
                )
        except DatabaseUnavailableError:
            # Only those that came while events were at hand; the rest of an outage is no event's fault.
            self._outages += 1
            raise

    async def _finish(self, work: _Work, settlement: Settlement, *, rest: bool) -> _Work | None:
        """Write down what became of a set and, unless it is time to `rest`, take the next one."""
        if not rest:
            await self._reader.gather()
        asked_at = self._clock.monotonic()
        async with self._db.worker(claims=True) as tx:
            await leases.advance_cursor(
                tx, work.lease, to=work.batch.end, lease=self._settings.lease, rest=rest
            )
            await settle(tx, settlement, group=self._group, now=self._clock.now())
            # A dead letter that is to be tried again is set aside by another process, which notifies.
            parked = work.parked or bool(settlement.parked) or self._wake.called
            following = (
                None if rest else await self._read(tx, work.lease, work.batch.end, asked_at, parked=parked)
            )
        await self._reader.done(work.batch.end)
        self._tell(settlement)
        return following

    def _tell(self, settlement: Settlement) -> None:
        if settlement.consumed:
            self._observer.consumed(self._group, settlement.consumed)
        if settlement.parked:
            self._observer.parked(self._group, len(settlement.parked))
        if settlement.dead:
            self._observer.died(self._group, len(settlement.dead))

    @contextlib.asynccontextmanager
    async def _renewing(self, held: ReaderLease) -> AsyncIterator[None]:
        """Keep the lease while the handlers work, however long they take."""
        renewal = asyncio.create_task(self._renew(held))
        try:
            yield
        finally:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)

    async def _renew(self, held: ReaderLease) -> None:
        seconds = self._settings.lease.total_seconds()
        while True:
            await asyncio.sleep(seconds / 3)
            asked_at = self._clock.monotonic()
            try:
                async with self._db.worker() as tx:
                    if not await leases.renew_lease(tx, held, lease=self._settings.lease):
                        self._lease_ends = 0.0
                        return
            except DatabaseError:
                continue  # It runs out by itself, and `still_ours` knows when.
            self._lease_ends = asked_at + seconds
