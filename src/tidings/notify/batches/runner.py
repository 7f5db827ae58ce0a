"""Makes the messages of batches, a chunk of people in a transaction, and sees how they end.

A chunk is people in the ledger, their messages, and the cursor behind them, all in one transaction under the lock of the
batch: a runner that is killed, a pause, and two runners at once skip and repeat nobody. Messages are made only as far ahead
as the dispatcher can follow.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.claims import ClaimSettings
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.errors import DatabaseError, DatabaseUnavailableError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger, why
from tidings.kernel.mapping import by_name
from tidings.notify.accept.group_commit import Wake
from tidings.notify.accept.row import RANKS
from tidings.notify.batches import store
from tidings.notify.batches.account_pace import MostAhead, PacedBatch, most_ahead, pace_at
from tidings.notify.batches.control import BatchControl, due_now, totals_of
from tidings.notify.batches.domain_pace import DomainRows
from tidings.notify.batches.messages import BatchMessages
from tidings.notify.batches.model import (
    BatchCounts,
    BatchStatus,
    BatchVariables,
    LedgerLine,
    Person,
    PersonState,
    StoredBatch,
)
from tidings.notify.batches.orders import BatchOrders
from tidings.notify.batches.store import PlannedPerson
from tidings.notify.batches.timing import open_from, room_in_minute, slot_after, time_of_person, zone_of
from tidings.notify.ids import BatchId
from tidings.notify.recipients.addresses import load_addresses
from tidings.notify.recipients.model import address_purpose
from tidings.notify.tenants.model import Tenant, TenantStatus
from tidings.notify.tenants.store import find_tenant

#: A batch or two of a tenant at a time, for a second each: others have their turn.
CLAIM_SETTINGS: Final = ClaimSettings(limit=8, most_in_hand=8, most_of_a_tenant=2, longest_sleep=1.0)
_RETRY: Final = RetryPolicy(max_attempts=10, first_delay=timedelta(seconds=1))
#: After this long the ledger is held against the messages that it waits for.
_OVERDUE: Final = timedelta(minutes=10)
#: The first look at what a batch that ended before its time has under way still; the others are later and later.
_WIND_UP: Final = timedelta(seconds=2)
_NO_PACE: Final = MostAhead(waiting=1_000_000_000, under_way=1_000_000_000)
_FAILED_OFTEN: Final = "its messages could not be made; the log of the workers says why"

_log = get_logger("batches")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerSettings:
    """How the runner paces itself."""

    #: People of one transaction.
    chunk: int = 500
    #: Messages of the tenant and the priority that may wait in the queue before no more are made.
    most_ahead: int = 2_000
    #: Messages of one batch that may wait for anything: the queue, the end of quiet hours, a limit, a digest.
    most_deferred: int = 20_000
    #: Seconds until the next look where the queue is full.
    queue_pause: float = 0.25
    #: The same where the queue is not, and those of the batch wait for something else.
    deferred_pause: float = 2.0
    #: Seconds that one batch is worked on before others are looked at.
    turn: float = 1.0
    #: Seconds until the next look at a tenant that is suspended or frozen.
    held_pause: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BatchRunner:
    """Works on batches that are due."""

    db: Database
    messages: BatchMessages
    orders: BatchOrders
    control: BatchControl
    keyring: Keyring
    wake: Wake
    clock: Clock
    #: Which of the counts this process adds to.
    stripe: int = 0
    settings: RunnerSettings = field(default_factory=RunnerSettings)

    async def run(self, tenant_id: TenantId, worker: str, ids: Sequence[BatchId]) -> None:
        """Work on each of the claimed batches for a while, and give it back."""
        for batch_id in ids:
            try:
                await self._work(tenant_id, worker, batch_id)
            except DatabaseUnavailableError:
                # No batch is at fault. The claims are freed as ours by name only.
                raise
            except Exception as error:  # noqa: BLE001  # one batch that fails holds up no other
                await self._put_off(tenant_id, worker, batch_id, error)
            async with self.db.tenant(tenant_id) as tx:
                await store.give_back(tx, batch_id, worker=worker)

    async def _work(self, tenant_id: TenantId, worker: str, batch_id: BatchId) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self.settings.turn
        while True:
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                batch = await store.lock_claimed(tx, batch_id, worker=worker)
                if batch is None or not due_now(batch, self.clock.now()):
                    return
                made = await _Turn(self, tx, batch).take()
            if made:
                self.wake(express=False)
            if made is None or loop.time() >= until:
                return

    async def _put_off(self, tenant_id: TenantId, worker: str, batch_id: BatchId, error: Exception) -> None:
        told = why(error) if isinstance(error, TidingsError) else {"error": type(error).__name__}
        _log.error("batch_turn_failed", tenant_id=tenant_id, batch_id=batch_id, **told)
        async with self.db.tenant(tenant_id) as tx:
            batch = await store.lock_claimed(tx, batch_id, worker=worker)
            if batch is None:
                return
            delay = _RETRY.next_delay(batch.attempts + 1, 1.0)
            if delay is not None:
                await store.put_off(tx, batch_id, worker=worker, due_at=self.clock.now() + delay)
            elif batch.status in (BatchStatus.RUNNING, BatchStatus.SCHEDULED):
                reason = error.code if isinstance(error, TidingsError) else "internal"
                await self.control.fail(tx, batch, problem=_FAILED_OFTEN, reason=reason)
            else:
                await store.put_off(
                    tx, batch_id, worker=worker, due_at=self.clock.now() + timedelta(minutes=10)
                )


class _Turn:
    """One transaction with one batch, which is locked."""

    def __init__(self, runner: BatchRunner, tx: TenantTx, batch: StoredBatch) -> None:
        self._runner = runner
        self._tx = tx
        self._batch = batch
        self._now = runner.clock.now()

    async def take(self) -> int | None:
        """How many messages were made; None where nothing more is to be done for now."""
        match self._batch.status:
            case BatchStatus.SCHEDULED:
                return await self._begin()
            case BatchStatus.RUNNING:
                return await self._chunk()
            case BatchStatus.CANCELLED | BatchStatus.FAILED:
                return await self._wind_up()
            case _:
                return await self._look_again(None)

    async def _begin(self) -> int | None:
        try:
            await self._runner.control.refuse_unready(self._tx, self._batch)
        except TidingsError as error:
            if isinstance(error, DatabaseError):
                raise
            return await self._rest(str(error), error.code)
        await self._runner.control.begin(self._tx, self._batch)
        return 0

    async def _chunk(self) -> int | None:
        batch, settings = self._batch, self._runner.settings
        tenant = await find_tenant(self._tx, tenant_id=self._tx.tenant_id)
        if tenant is None or tenant.status is not TenantStatus.ACTIVE or tenant.frozen_at is not None:
            return await self._look_again(self._now + timedelta(seconds=settings.held_pause))
        planned = await self._plan() if batch.is_planned and batch.walked_at is None else 0
        made = await self._make(tenant) if batch.is_planned or batch.walked_at is None else 0
        if made is None:
            if planned:
                # What keeps messages from being made keeps nobody from being planned.
                await self._look_again(self._now)
            return 0 if planned else None
        if made or planned:
            await self._look_again(self._now)
            return made
        return await self._wait_or_complete()

    async def _make(self, tenant: Tenant) -> int | None:
        """Make messages as far as window, queue and pace let; how many, None where they let none."""
        batch, settings, now = self._batch, self._runner.settings, self._now
        if batch.window is not None and batch.window.timezone != "recipient":
            own = batch.window.timezone == "tenant"
            zone = zone_of(tenant.default_timezone if own else batch.window.timezone)
            opens = open_from(batch.window, zone, now)
            if opens > now:
                return await self._look_again(opens)
        waiting = await store.waiting_in_queue(self._tx, rank=RANKS[batch.priority], most=settings.most_ahead)
        counts, ahead = await self._counts(), self._most_ahead(tenant)
        room = min(
            settings.chunk,
            settings.most_ahead - waiting,
            min(settings.most_deferred, ahead.waiting) - counts.not_handed_over,
            ahead.under_way - counts.under_way,
        )
        if room <= 0:
            pause = settings.queue_pause if waiting else settings.deferred_pause
            return await self._look_again(now + timedelta(seconds=pause))
        pace = batch.pacing.per_minute if batch.pacing else None
        if pace is not None:
            allowed, at = room_in_minute(pace, batch.slots, now)
            if not allowed:
                return await self._look_again(at)
            room = min(room, allowed)
        variables = await self._runner.orders.open(self._tx, batch)
        problem = await self._runner.orders.problem(batch, variables)
        if problem is not None:
            return await self._rest(problem, "invalid")
        if batch.is_planned:
            return await self._make_due(variables, room, pace)
        return await self._make_next(variables, room, pace)

    def _most_ahead(self, tenant: Tenant) -> MostAhead:
        """How far it may be ahead of its pace through vendors and accounts: few wait there, so that none waits for long."""
        batch = self._batch
        if batch.pacing is None or not batch.pacing.by_account:
            return _NO_PACE
        paced = by_name(
            PacedBatch,
            batch,
            started_at=batch.started_at or self._now,
            default_timezone=tenant.default_timezone,
        )
        return most_ahead(pace_at(paced, self._now)) or _NO_PACE

    async def _make_next(self, variables: BatchVariables, room: int, pace: int | None) -> int:
        """Messages for the next people."""
        batch = self._batch
        people = await store.next_people(self._tx, batch, as_of=batch.started_at or self._now, limit=room)
        lines = await self._make_messages(
            variables, [(one, batch.variant_of(one.recipient_id)) for one in people]
        )
        await store.write_people(self._tx, batch.id, lines, stripe=self._runner.stripe)
        self._walked(people, asked=room)
        self._paced(pace, len(people))
        return len(people)

    async def _make_due(self, variables: BatchVariables, room: int, pace: int | None) -> int:
        """Messages for those planned whose time has come."""
        batch, now = self._batch, self._now
        due = await store.due_people(self._tx, batch.id, now=now, limit=room)
        later = await self._put_off(due)
        lines = [
            LedgerLine(
                recipient_id=one.recipient_id,
                variant=one.variant,
                state=PersonState.PLANNED,
                send_at=later[one.recipient_id],
            )
            for one in due
            if one.recipient_id in later
        ]
        lines += await self._make_messages(
            variables, [(one, one.variant) for one in due if one.recipient_id not in later]
        )
        await store.settle_planned(self._tx, batch.id, lines, stripe=self._runner.stripe)
        self._paced(pace, len(due) - len(later))
        return len(due)

    async def _put_off(self, due: Sequence[PlannedPerson]) -> dict[RecipientId, datetime]:
        """Those whose time has come and who are written to later all the same, and when."""
        domains = await self._domains([one.recipient_id for one in due])
        rows = self._rows()
        later: dict[RecipientId, datetime] = {}
        # Who is in time has a place that was kept for them; who is late gets what is left.
        for one in sorted(due, key=lambda one: rows.is_late(one.send_at)):
            domain, at = domains.get(one.recipient_id), self._planned_anew(one)
            if at > self._now or not rows.may_go(domain, one.send_at):
                later[one.recipient_id] = rows.place(domain, at)
        self._batch = structs.replace(self._batch, slots=rows.slots)
        return later

    def _rows(self) -> DomainRows:
        pacing = self._batch.pacing
        return DomainRows(pacing.domains if pacing else {}, self._batch.slots, self._now)

    def _planned_anew(self, one: PlannedPerson) -> datetime:
        """When somebody is written to whose time has come: later, where it came while the batch rested, or is out of their hours."""
        batch = self._batch
        own_window = batch.window if batch.window and batch.window.timezone == "recipient" else None
        missed = batch.resumed_at is not None and one.send_at < batch.resumed_at
        if batch.local_time is not None and not missed:
            return self._now
        return time_of_person(
            zone_of(one.timezone), local_time=batch.local_time, window=own_window, not_before=self._now
        )

    async def _plan(self) -> int:
        """Give the next people a time of their own."""
        batch = self._batch
        asked = self._runner.settings.chunk
        people = await store.next_people(self._tx, batch, as_of=batch.started_at or self._now, limit=asked)
        domains = await self._domains([one.recipient_id for one in people])
        rows = self._rows()
        lines = [
            LedgerLine(
                recipient_id=one.recipient_id,
                variant=batch.variant_of(one.recipient_id),
                state=PersonState.PLANNED,
                send_at=rows.place(domains.get(one.recipient_id), self._time_of(one)),
            )
            for one in people
        ]
        await store.write_people(self._tx, batch.id, lines, stripe=self._runner.stripe)
        self._walked(people, asked=asked)
        self._batch = structs.replace(self._batch, slots=rows.slots)
        return len(people)

    def _time_of(self, one: Person) -> datetime:
        batch = self._batch
        window = batch.window if batch.window and batch.window.timezone == "recipient" else None
        return time_of_person(
            zone_of(one.timezone), local_time=batch.local_time, window=window, not_before=self._now
        )

    async def _domains(self, ids: Sequence[RecipientId]) -> dict[RecipientId, str]:
        """Of those who have a mail address: its domain, where domains are paced."""
        if not (self._batch.pacing and self._batch.pacing.domains and ids):
            return {}
        addresses = await load_addresses(self._tx, recipient_ids=ids, channels=["email"])
        keys = await self._runner.keyring.data_keys(self._tx, ids, create=False)
        found: dict[RecipientId, str] = {}
        # The one that is used comes first.
        for address in addresses:
            key = keys.get(address.recipient_id)
            if key is None or address.recipient_id in found:
                continue
            with suppress(DestroyedKeyError, UnreadableError):
                written = key.unseal(address.ciphertext, address_purpose("email")).decode()
                found[address.recipient_id] = written.rpartition("@")[2]
        return found

    async def _make_messages(
        self, variables: BatchVariables, people: Sequence[tuple[Person | PlannedPerson, int]]
    ) -> list[LedgerLine]:
        return await self._runner.messages.make(self._tx, self._batch, variables, people, now=self._now)

    def _walked(self, people: Sequence[Person], *, asked: int) -> None:
        self._batch = structs.replace(
            self._batch,
            walked_to=people[-1].recipient_id if people else self._batch.walked_to,
            walked_at=self._now if len(people) < asked else None,
        )

    def _paced(self, pace: int | None, count: int) -> None:
        if pace is not None and count:
            slots = self._batch.slots
            at = slot_after(pace, slots, "*", self._now, count)
            self._batch = structs.replace(self._batch, slots={**slots, "*": at})

    async def _wait_or_complete(self) -> int | None:
        """Everybody has been met: whether all is over, or when to look again."""
        batch, now = self._batch, self._now
        if batch.walked_at is None:
            # The last page was empty.
            return await self._look_again(now)
        counts = await self._counts()
        if counts.planned:
            at = await store.next_send_at(self._tx, batch.id)
            return await self._look_again(max(at, now) if at is not None else now + _soon(batch, now))
        if counts.under_way:
            if now - batch.walked_at > _OVERDUE:
                await self._settle_next()
            return await self._look_again(now + _soon(batch, now))
        await store.advance(self._tx, batch)
        await self._runner.control.complete(self._tx, batch, await totals_of(self._tx, batch))
        return None

    async def _counts(self) -> BatchCounts:
        """A few rows, however many people it has."""
        return store.all_together((await store.sum_counts(self._tx, [self._batch.id]))[self._batch.id])

    async def _settle_next(self) -> None:
        """Hold the next lines against their messages, around and around: the cursor is not needed for anything else by now."""
        limit = self._runner.settings.chunk
        lines = await store.walk_ledger(self._tx, self._batch, limit=limit)
        await self._settle_missed(lines)
        after = lines[-1][0] if len(lines) == limit else ""
        self._batch = structs.replace(self._batch, walked_to=after)

    async def _settle_missed(
        self, lines: Sequence[tuple[RecipientId, PersonState, NotificationId | None]]
    ) -> None:
        """End lines whose messages are over: what the ledger was not told must not keep it open for ever."""
        batch = self._batch
        under_way = [
            (who, which)
            for who, state, which in lines
            if state in (PersonState.ACCEPTED, PersonState.SENT) and which is not None
        ]
        found = await store.settle_missed(self._tx, batch.id, under_way, stripe=self._runner.stripe)
        if found:
            _log.error("batch_lines_missed", tenant_id=batch.tenant_id, batch_id=batch.id, count=found)

    async def _wind_up(self) -> int | None:
        """A batch that has ended before its time: whose message waits is not written to."""
        batch, limit = self._batch, self._runner.settings.chunk
        since = self._now - (batch.cancelled_at or batch.failed_at or self._now)
        overdue = since > _OVERDUE
        if batch.started_at is not None and batch.completed_at is None:
            lines = await store.walk_ledger(self._tx, batch, limit=limit)
            waiting = [id_ for _, state, id_ in lines if state is PersonState.ACCEPTED and id_ is not None]
            await store.cancel_waiting(self._tx, waiting, now=self._now, stripe=self._runner.stripe)
            withdrawn = [
                LedgerLine(recipient_id=recipient_id, variant=0, state=PersonState.WITHDRAWN)
                for recipient_id, state, _ in lines
                if state is PersonState.PLANNED
            ]
            await store.settle_planned(self._tx, batch.id, withdrawn, stripe=self._runner.stripe)
            if overdue:
                await self._settle_missed(lines)
            if lines:
                self._batch = structs.replace(batch, walked_to=lines[-1][0])
            if len(lines) == limit:
                await self._look_again(self._now)
                return 0
            counts = await self._counts()
            if counts.under_way or counts.planned:
                if counts.not_handed_over or counts.planned or overdue:
                    # One that the dispatcher had in hand may be waiting again: from the beginning.
                    self._batch = structs.replace(self._batch, walked_to="")
                # Of the others nothing but the outcome is awaited: a look at the counts, and the ledger stays unread.
                return await self._look_again(self._now + min(max(since / 10, _WIND_UP), _OVERDUE))
        await store.close(self._tx, batch, await totals_of(self._tx, batch), now=self._now)
        return None

    async def _rest(self, problem: str, reason: str) -> int | None:
        """Nothing can be made of it: it rests until somebody has mended it."""
        await store.advance(self._tx, self._batch)
        await self._runner.control.rest(self._tx, self._batch, problem=problem, reason=reason)
        return None

    async def _look_again(self, at: datetime | None) -> int | None:
        self._batch = structs.replace(self._batch, due_at=at)
        await store.advance(self._tx, self._batch)
        return None


def _soon(batch: StoredBatch, now: datetime) -> timedelta:
    """Often while the end is near, and less so the longer it takes."""
    since = now - (batch.walked_at or now)
    return min(max(since / 10, timedelta(seconds=0.5)), timedelta(seconds=15))
