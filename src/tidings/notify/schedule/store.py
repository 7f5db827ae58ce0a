"""The only Python that reads and writes planned entries of the schedule, but for claiming and releasing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from msgspec import Struct

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.bounded_scan import Glance
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns, sparse_columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.schedule.model import PlannedRow, ScheduledWork, StandingPlan, WorkStatus

QUERIES = Queries.beside(__file__)

_ALWAYS: Final = (
    "tenant_id id run_after payload trigger_id trigger_version template_key channel priority source_event_id "
    "event_type event_source event_time anchor is_test"
)
_SELDOM: Final = (
    "recipient_id event_subject anchor_offset local_time zone failed_at last_error obsolete_reason"
)

_work = RowMapper(ScheduledWork, [QUERIES.find_several, QUERIES.find_work])
_standing = RowMapper(StandingPlan, [QUERIES.lock_planned_of_subjects, QUERIES.planned_of_subject])


class Ended(Struct, frozen=True, kw_only=True):
    """A planned entry that is over."""

    tenant_id: TenantId
    id: ScheduledWorkId
    status: WorkStatus
    notification_id: NotificationId | None = None
    recipient_id: RecipientId | None = None
    #: A code: why it failed, or why it is obsolete.
    reason: str | None = None
    #: The event that made it obsolete.
    by_event: str | None = None


class TriggerSubject(Struct, frozen=True, kw_only=True):
    """What a trigger's events are about."""

    tenant_id: TenantId
    trigger_id: str
    event_source: str
    event_subject: str


async def insert_planned(tx: TenantTx | TenantsTx, rows: Sequence[PlannedRow], *, now: datetime) -> None:
    """Write planned entries, and those that have failed already."""
    if rows:
        await tx.execute(
            QUERIES.insert_planned, now=now, **columns(rows, _ALWAYS), **sparse_columns(rows, _SELDOM)
        )


async def lock_planned_of_subjects(
    tx: TenantTx | TenantsTx, subjects: Sequence[TriggerSubject]
) -> list[StandingPlan]:
    """What these triggers have planned about these subjects, and what has failed of it; locked in one order."""
    if not subjects:
        return []
    rows = await tx.fetch(
        QUERIES.lock_planned_of_subjects,
        **columns(subjects, "tenant_id trigger_id event_source event_subject"),
    )
    return [_standing(row) for row in rows]


async def planned_of_subject(tx: TenantTx, subject: TriggerSubject) -> list[StandingPlan]:
    """The same of one subject, to look at."""
    rows = await tx.fetch(QUERIES.planned_of_subject, subject)
    return [_standing(row) for row in rows]


async def load_orders(
    tx: TenantTx | TenantsTx, plans: Sequence[StandingPlan]
) -> dict[ScheduledWorkId, bytes]:
    """What these plans are to order; sealed."""
    if not plans:
        return {}
    rows = await tx.fetch(QUERIES.load_orders, **columns(plans, "tenant_id id"))
    return {ScheduledWorkId(row["id"]): row["payload_ciphertext"] for row in rows}


async def end_planned(tx: TenantTx | TenantsTx, ended: Sequence[Ended], *, now: datetime) -> None:
    """Say what became of entries. The order goes, unless it failed and may be tried again."""
    if ended:
        await tx.execute(
            QUERIES.end_planned,
            now=now,
            **columns(ended, "tenant_id id status"),
            **sparse_columns(ended, "notification_id recipient_id reason by_event"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCriteria:
    """Which entries are asked for; None: any."""

    status: WorkStatus | None = None
    trigger_id: str | None = None
    subject: str | None = None
    recipient_id: str | None = None
    #: Those alone that test events have planned.
    tests_only: bool = False

    @property
    def narrows(self) -> bool:
        """Whether it leaves any out."""
        return self != WorkCriteria()


async def look_back(
    tx: TenantTx, wanted: WorkCriteria, *, before_at: datetime, before_id: str, most: int
) -> Glance[ScheduledWorkId]:
    """Look at up to `most` entries older than a place, by the narrowest index that the filter has."""
    del before_at  # Ids begin with their time.
    if wanted.subject is not None:
        query = QUERIES.look_back_at_subject
    elif wanted.recipient_id is not None:
        query = QUERIES.look_back_at_recipient
    elif wanted.status is WorkStatus.FAILED:
        query = QUERIES.look_back_at_failed
    else:
        query = QUERIES.look_back
    row = await tx.fetch_one(
        query,
        status=wanted.status,
        trigger_id=wanted.trigger_id,
        subject=wanted.subject,
        recipient_id=wanted.recipient_id,
        tests_only=wanted.tests_only,
        before_id=before_id,
        most=most,
    )
    return Glance.of(row)


async def find_several(tx: TenantTx, ids: Sequence[ScheduledWorkId]) -> dict[ScheduledWorkId, ScheduledWork]:
    """These entries, by id."""
    rows = await tx.fetch(QUERIES.find_several, ids=list(ids)) if ids else []
    return {found.id: found for found in map(_work, rows)}


async def find_work(tx: TenantTx, work_id: ScheduledWorkId, *, hold: bool = False) -> ScheduledWork | None:
    """One entry; `hold` locks it until the transaction ends."""
    if hold:
        await tx.fetch(QUERIES.hold_work, id=work_id)
    row = await tx.fetch_one(QUERIES.find_work, id=work_id)
    return None if row is None else _work(row)


async def retry_planned(tx: TenantTx, work_id: ScheduledWorkId, *, now: datetime) -> None:
    """A failed entry is due now, with all its attempts before it."""
    await tx.execute(QUERIES.retry_planned, id=work_id, now=now)
