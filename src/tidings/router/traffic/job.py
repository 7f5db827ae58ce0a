"""Looks once a second: tells the others what this process saw, learns what they decided, decides where it is first."""

import asyncio
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import DatabaseError
from tidings.kernel.logs import get_logger, why
from tidings.router.traffic import store
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.evaluation import (
    CircuitChange,
    WeightsChange,
    circuit_changes,
    weights_change,
    weights_to_look_at,
)
from tidings.router.traffic.observe import TrafficObserver
from tidings.router.traffic.sums import AnswerTotals
from tidings.router.traffic.traffic_state import AccountCircuit
from tidings.router.traffic.vendor_selection import VendorSelection

#: What is counted together.
BUCKET: Final = timedelta(seconds=10)
#: A change is looked for so long after its time: clocks differ, and commits take a while.
_OVERLAP: Final = timedelta(minutes=1)
#: After this all is read again, whatever its time.
_ALL_AGAIN: Final = timedelta(minutes=1)
#: Counts are kept a little longer than they count.
_KEPT: Final = timedelta(minutes=5)

_log = get_logger("traffic")


class CircuitWakeup(Protocol):
    """Has those who wait for circuits looked at again."""

    async def __call__(self, tx: WorkerTx, *, now: datetime, spread: timedelta) -> object:
        """From now on, within so long."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class TrafficJob:
    """Keeps one process' `VendorSelection` in step with all the others'; every process that sends runs one."""

    db: Database
    traffic: VendorSelection
    changer: TrafficChanger
    _: KW_ONLY
    clock: Clock
    observer: TrafficObserver = TrafficObserver()
    #: Has the messages that wait for circuits looked at again, from now on within so long.
    wake: CircuitWakeup | None = None
    _wake_again: bool = field(init=False, default=False)
    _backoff: Backoff = field(init=False, default_factory=lambda: Backoff(longest=5.0))
    _read_at: datetime | None = field(init=False, default=None)
    _all_read_at: datetime | None = field(init=False, default=None)
    _swept_at: datetime | None = field(init=False, default=None)

    async def run(self, stop: asyncio.Event) -> None:
        """Look until told to stop."""
        every = self.traffic.settings.look_every.total_seconds()
        while not stop.is_set():
            try:
                await self.look()
                self._backoff.after_success()
                pause = every
            except DatabaseError as error:
                pause = max(every, self._backoff.after_failure())
                _log.warning("traffic_not_looked_at", retry_seconds=pause, **why(error))
            await wait_for_stop(stop, pause)

    async def look(self) -> None:
        """Once: tell, learn, decide."""
        now = self.clock.now()
        sums = await self._exchange(now)
        self.traffic.learn_taken(sums.took_at)
        for change in circuit_changes(self.traffic, sums, now=now):
            await self._change_circuit(change)
        for moved in await self._weights_changes(sums, now):
            await self._move_weights(moved)
        await self._wake_waiting(now)
        self.observer.circuits(self.traffic.barred())
        if self._swept_at is None or now >= self._swept_at + _ALL_AGAIN:
            async with self.db.worker() as tx:
                await store.sweep_counts(tx, before=now - _KEPT)
            self._swept_at = now

    async def _wake_waiting(self, now: datetime) -> None:
        """Those who wait for a circuit are woken where it may be gone through sooner than they were told.

        Once more at the next look: until this one, others of this process were still told the old time.
        """
        sooner = self.traffic.sooner
        if self.wake is None or not (sooner or self._wake_again):
            return
        async with self.db.worker(claims=True) as tx:
            await self.wake(tx, now=now, spread=self.traffic.settings.spread)
        self.traffic.sooner = False
        self._wake_again = sooner

    async def _exchange(self, now: datetime) -> AnswerTotals:
        """Tell what was seen, learn what changed; the sums of all."""
        observed = self.traffic.tally.take()
        settings = self.traffic.settings
        asked = [one.account_id for one in self.traffic.barred()]
        window = max(settings.circuits.window, settings.weights.window)
        try:
            # Counts need not survive a crash: they fade within a minute anyway.
            async with self.db.worker(claims=True) as tx:
                if observed:
                    await store.add_counts(tx, observed, bucket=_bucket(now), worker=self.traffic.name)
                await self._learn(tx, now)
                found = await store.read_sums(tx, since=_bucket(now - window), account_ids=asked)
        except BaseException:
            self.traffic.tally.give_back(observed)
            raise
        return AnswerTotals.of(found)

    async def _learn(self, tx: WorkerTx, now: datetime) -> None:
        since = None
        if (
            self._read_at is not None
            and self._all_read_at is not None
            and now < self._all_read_at + _ALL_AGAIN
        ):
            since = self._read_at - _OVERLAP
        self.traffic.learn_circuits(await store.read_circuits(tx, since=since))
        self.traffic.learn_weights(await store.read_weights(tx, since=since))
        self._read_at = now
        if since is None:
            self._all_read_at = now

    async def _change_circuit(self, change: CircuitChange) -> None:
        before, after = change.before, change.after
        try:
            written = await self.changer.change_circuit(change)
        except DatabaseError as error:
            # One account's trouble must not keep the others from their turn; the next look tries again.
            _log.warning("circuit_not_changed", account_id=before.account_id, error=error.code)
            return
        if not written:
            return
        self.traffic.learn_circuits(
            [
                AccountCircuit(
                    account_id=before.account_id,
                    tenant_id=before.tenant_id,
                    vendor=before.vendor,
                    circuit=after,
                )
            ]
        )
        self.observer.changed(before.vendor, after.state)
        _log.warning(
            "circuit_changed",
            account_id=before.account_id,
            vendor=before.vendor,
            state=after.state,
            was=before.circuit.state,
            reason=after.reason,
        )

    async def _weights_changes(self, sums: AnswerTotals, now: datetime) -> list[WeightsChange]:
        looked_at = weights_to_look_at(self.traffic, sums)
        if not looked_at:
            return []
        asks = [
            (one.tenant_id, sorted({*one.home, *(v for points in one.by_prefix.values() for v in points)}))
            for one in looked_at
        ]
        async with self.db.worker() as tx:
            accounts = await store.accounts_of_tenants(tx, asks)
        changes = [
            weights_change(self.traffic, one, theirs, sums, now=now)
            for one, theirs in zip(looked_at, accounts, strict=True)
        ]
        return [change for change in changes if change is not None]

    async def _move_weights(self, change: WeightsChange) -> None:
        try:
            written = await self.changer.change_weights(change)
        except DatabaseError as error:
            _log.warning("weights_not_moved", weights_id=change.before.id, error=error.code)
            return
        if written:
            self.traffic.learn_weights([change.after])
            self._tell_moves(change)

    def _tell_moves(self, change: WeightsChange) -> None:
        for prefix, move in change.moves.items():
            if move.frm is None or move.to is None:
                continue
            self.observer.moved(change.before.channel, move.frm, move.to, move.many)
            _log.info(
                "weights_moved",
                weights_id=change.before.id,
                channel=change.before.channel,
                prefix=prefix,
                frm=move.frm,
                to=move.to,
                points=move.many,
                reason=move.reason,
            )


def _bucket(moment: datetime) -> datetime:
    return moment - timedelta(
        seconds=moment.second % int(BUCKET.total_seconds()), microseconds=moment.microsecond
    )
