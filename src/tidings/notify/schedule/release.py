"""What is due leaves the schedule: notifications go into the queue, and what is planned becomes notifications.

A claim is one set, of whatever tenants, and one transaction: an order is accepted in the transaction that marks its
entry as processed, so that it is accepted once, wherever a worker is killed. Where a row is locked the set is parted by
tenants, and where an entry fails, by halves: it fails alone, is tried again later and later, and is given up at last.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.claims import Claim, ClaimSettings, SetAnswered, TableClaims
from tidings.kernel.durable.halving import SetFailed, halve, in_two
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.errors import (
    BadValueError,
    DatabaseBusyError,
    DatabaseUnavailableError,
    TidingsError,
)
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger, where
from tidings.kernel.mapping import RowMapper, tuple_columns
from tidings.kernel.refusals import InvalidError, RefusalError
from tidings.kernel.sql import Queries
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import DuplicateOrder, Order, OrderedBy, Outcome, RefusedOrder
from tidings.notify.facts import store as facts_store
from tidings.notify.facts.store import PersonRow
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.schedule import store
from tidings.notify.schedule.firings import FiringEnd, FiringResult, end_firings
from tidings.notify.schedule.model import PLANNED_PURPOSE, PlannedOrder, PlannedRow, WorkStatus
from tidings.notify.schedule.store import Ended
from tidings.notify.tenants.model import zone_exists

QUERIES = Queries.beside(__file__)

#: How long entries are kept that are over: those that waited for their notification, and what was planned.
_KEPT: Final = timedelta(days=1)
_PLANNED_KEPT: Final = timedelta(days=30)
#: An entry that breaks is tried again for about a day.
_RETRY: Final = RetryPolicy(
    max_attempts=8, first_delay=timedelta(seconds=10), factor=4.0, longest_delay=timedelta(hours=6)
)

#: What is due. The work behind a claim takes milliseconds, and a worker that needs longer than the lease is gone.
SCHEDULED: Final = TableClaims[str](
    claim=QUERIES.claim_due, next_due=QUERIES.next_due, lease=timedelta(seconds=15)
)
#: What another process has scheduled is found within the longest sleep.
SCHEDULE_SETTINGS: Final = ClaimSettings(
    limit=1_000,
    most_in_hand=1_000,
    most_of_a_tenant=None,
    longest_sleep=1.0,
    locked_pause=0.02,
    longest_outage_pause=2.0,
)

_planned = RowMapper(PlannedRow, [QUERIES.release], omit="obsolete_reason")
_read = msgspec.json.Decoder(PlannedOrder).decode
_log = get_logger("schedule")


def error_code(error: Exception) -> str:
    """What is kept of an error: its code, with the names of the fields that it is about, and never its words."""
    if isinstance(error, InvalidError) and error.code == InvalidError.code:
        fields = dict.fromkeys(one.field.partition(".")[0].partition("[")[0] for one in error.errors)
        return f"{error.code}:{','.join(name for name in fields if name)}"[:200].rstrip(":")
    if isinstance(error, BadValueError):
        return f"{error.code}:{error.field.partition('.')[0]}"[:200]
    return error.code if isinstance(error, TidingsError) else type(error).__name__


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScheduleReleaser:
    """Takes what is due out of the schedule, one set after the other: the dispatcher needs the connections."""

    db: Database
    acceptor: Acceptor
    keyring: Keyring
    clock: Clock
    wake_dispatcher: Callable[[], None]
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def release(self, _worker: str, claims: Sequence[Claim[str]], answered: SetAnswered) -> None:
        """Release claimed entries; each leaves the schedule, or is tried again later."""
        async with self._one_at_a_time:
            async for part in halve(claims, self._release_set, blames_item=_can_be_parted, cut=_parted):
                if isinstance(part, SetFailed):
                    await self._failed(part)
                answered(len(part.items))
        self.wake_dispatcher()

    async def _release_set(self, claims: Sequence[Claim[str]]) -> None:
        tenants = {claim.tenant_id for claim in claims}
        now = self.clock.now()
        async with self.db.tenants(tenants, by_index=True) as tx:
            rows = await tx.fetch(QUERIES.release, now=now, **tuple_columns(claims, "tenant_ids ids"))
            if rows:
                await self._order(tx, [_planned(row) for row in rows], now)

    async def _order(self, tx: TenantsTx, rows: Sequence[PlannedRow], now: datetime) -> None:
        """What is planned is accepted, or moved where it is not due any more."""
        named = [(row.tenant_id, row.recipient_id) for row in rows if row.recipient_id is not None]
        people = await facts_store.load_people(tx, named)
        ended = [
            Ended(tenant_id=row.tenant_id, id=row.id, status=WorkStatus.OBSOLETE, reason="erased")
            for row in rows
            if row.recipient_id is not None and _is_gone(people.get((row.tenant_id, row.recipient_id)))
        ]
        gone = {one.id for one in ended}
        moved = [
            (row.tenant_id, row.id, at, zone)
            for row in rows
            if row.id not in gone
            and row.recipient_id is not None
            and (zone := _zone_of(row, people[row.tenant_id, row.recipient_id])) is not None
            and (due := row.rule.due(zone)) is not None
            and (at := due.at) > now
        ]
        if moved:
            await tx.execute(
                QUERIES.move_planned, now=now, **tuple_columns(moved, "tenant_ids ids run_afters zones")
            )
        elsewhere = gone | {work_id for _, work_id, _, _ in moved}
        ended += await self._accept(tx, [row for row in rows if row.id not in elsewhere])
        await store.end_planned(tx, ended, now=now)
        events = {row.id: row.source_event_id for row in rows}
        await end_firings(tx, [_firing_end(one, events[one.id]) for one in ended])

    async def _accept(self, tx: TenantsTx, rows: Sequence[PlannedRow]) -> list[Ended]:
        if not rows:
            return []
        keys = await self.keyring.data_keys_of(tx, {row.key_subject for row in rows})
        ended: list[Ended] = []
        for is_test in (False, True):
            orders: list[tuple[PlannedRow, Order]] = []
            for row in rows:
                if row.is_test is not is_test:
                    continue
                try:
                    kept = _read(keys[row.key_subject].unseal(row.payload, PLANNED_PURPOSE))
                    orders.append((row, kept.order(OrderedBy(row.tenant_id, is_test=is_test))))
                except (RefusalError, BadValueError, msgspec.ValidationError) as error:
                    ended.append(_refused(row, error))
            if orders:
                outcomes = await self.acceptor.accept_within(tx, [order for _, order in orders])
                ended += [_ended(row, outcome) for (row, _), outcome in zip(orders, outcomes, strict=True)]
        return ended

    async def _failed(self, part: SetFailed[Claim[str]]) -> None:
        """One entry failed: it is tried again, or given up. What no entry is to blame for is free when its lease ends."""
        error = part.error
        if not _can_be_parted(error) or isinstance(error, DatabaseBusyError) or len(part.items) > 1:
            _log.warning("release_left", count=len(part.items), error=error_code(error))
            return
        [(tenant_id, work_id)] = part.items
        _log.error("release_failed", scheduled_id=work_id, error=type(error).__name__, where=where(error))
        now, code = self.clock.now(), error_code(error)
        async with self.db.tenants([tenant_id]) as tx:
            row = await tx.fetch_one(QUERIES.hold_attempt, tenant_id=tenant_id, id=work_id)
            if row is None:
                return
            delay = _RETRY.next_delay(row["attempt_count"] + 1, random.random())  # noqa: S311  # a jitter
            if delay is not None:
                await tx.execute(
                    QUERIES.put_off,
                    tenant_id=tenant_id,
                    id=work_id,
                    error=code,
                    run_after=now + delay,
                    now=now,
                )
                return
            given_up = Ended(
                tenant_id=tenant_id, id=ScheduledWorkId(work_id), status=WorkStatus.FAILED, reason=code
            )
            await store.end_planned(tx, [given_up], now=now)
            if row["source_event_id"] is not None:
                await end_firings(tx, [_firing_end(given_up, row["source_event_id"])])


def _can_be_parted(error: Exception) -> bool:
    return not isinstance(error, DatabaseUnavailableError | TimeoutError)


def _parted(claims: Sequence[Claim[str]], error: Exception) -> Sequence[Sequence[Claim[str]]]:
    """A set that waited for a lock is done tenant by tenant; another one, and the set of one tenant, by halves."""
    if isinstance(error, DatabaseBusyError):
        by_tenant: dict[TenantId, list[Claim[str]]] = {}
        for claim in claims:
            by_tenant.setdefault(claim.tenant_id, []).append(claim)
        if len(by_tenant) > 1:
            return list(by_tenant.values())
    return in_two(claims, error)


def _is_gone(person: PersonRow | None) -> bool:
    return person is None or person.erased


def _zone_of(row: PlannedRow, person: PersonRow) -> str | None:
    """Where the person is by now; None where no zone matters, or theirs is none."""
    return person.timezone if row.zone is not None and zone_exists(person.timezone) else None


def _ended(row: PlannedRow, outcome: Outcome) -> Ended:
    if isinstance(outcome, RefusedOrder):
        return _refused(row, outcome.error)
    return Ended(
        tenant_id=row.tenant_id,
        id=row.id,
        status=WorkStatus.PROCESSED,
        notification_id=outcome.id,
        recipient_id=RecipientId(outcome.recipient_id),
        reason="duplicate" if isinstance(outcome, DuplicateOrder) else None,
    )


def _refused(row: PlannedRow, error: Exception) -> Ended:
    return Ended(tenant_id=row.tenant_id, id=row.id, status=WorkStatus.FAILED, reason=error_code(error))


def _firing_end(one: Ended, event_id: str) -> FiringEnd:
    results = {
        WorkStatus.PROCESSED: FiringResult.SENT if one.reason is None else FiringResult.SKIPPED,
        WorkStatus.FAILED: FiringResult.FAILED,
    }
    return FiringEnd(
        tenant_id=one.tenant_id,
        event_id=event_id,
        scheduled_id=one.id,
        result=results.get(one.status, FiringResult.OBSOLETE),
        notification_id=one.notification_id,
        reason=one.reason,
        ended_by=one.by_event,
    )


async def sweep_done(db: Database, clock: Clock, *, limit: int) -> int:
    """Remove about so many entries that are over."""
    now = clock.now()
    async with db.worker() as tx:
        done = await tx.execute(QUERIES.sweep_done, before=now - _KEPT, limit=limit)
        return done + await tx.execute(QUERIES.sweep_planned, before=now - _PLANNED_KEPT, limit=limit)
