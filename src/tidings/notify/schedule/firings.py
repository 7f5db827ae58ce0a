"""What events have led to: a ledger with a row for each trigger that heard one, and for each person."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.bounded_scan import CHUNK, MOST_LOOKED_AT, Glance, ScannedPage, scan_back
from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns, sparse_columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import FiringId, ScheduledWorkId

QUERIES = Queries.beside(__file__)

#: How long the ledger tells of an event that led to nothing, and of one that led to a message.
NOTHING_KEPT: Final = timedelta(days=90)
MADE_KEPT: Final = timedelta(days=400)

_COLUMNS: Final = (
    "tenant_id id event_id event_type event_source event_time trigger_id trigger_version template_key channel "
    "result fired_at expires_at"
)
#: Greater than every id.
_NEWEST: Final = "fir_~"
_SELDOM: Final = "event_subject recipient_id scheduled_id notification_id reason send_at"


class FiringResult(StrEnum):
    """What came of a trigger and an event."""

    SENT = "sent"
    PLANNED = "planned"
    SKIPPED = "skipped"
    FAILED = "failed"
    #: A later event, a person or an erasure made it needless before it was sent.
    OBSOLETE = "obsolete"
    #: The event itself cleared what was planned before.
    CLEARED = "cleared"


class Firing(Struct, frozen=True, kw_only=True):
    """A line of the ledger."""

    tenant_id: TenantId
    id: FiringId
    event_id: str
    event_type: str
    event_source: str
    event_subject: str | None
    event_time: datetime
    trigger_id: str
    trigger_version: int
    template_key: str
    channel: str
    recipient_id: RecipientId | None = None
    scheduled_id: ScheduledWorkId | None = None
    notification_id: NotificationId | None = None
    result: FiringResult
    #: A code, where nothing came of it or it ended early.
    reason: str | None = None
    #: When it was to be sent, as reckoned when the event was heard.
    send_at: datetime | None = None
    #: The later event that moved or cleared it.
    ended_by: str | None = None
    fired_at: datetime
    expires_at: datetime


class FiringEnd(Struct, frozen=True, kw_only=True):
    """What became of something planned."""

    tenant_id: TenantId
    #: The event that planned it.
    event_id: str
    scheduled_id: ScheduledWorkId
    result: FiringResult
    notification_id: NotificationId | None = None
    reason: str | None = None
    ended_by: str | None = None


_firing = RowMapper(Firing, [QUERIES.firings_of_event, QUERIES.firings_of_notification, QUERIES.find_firings])


async def insert_firings(tx: TenantTx | TenantsTx, fresh: Sequence[Firing]) -> None:
    """Write lines of the ledger."""
    if fresh:
        await tx.execute(
            QUERIES.insert_firings,
            **columns(fresh, _COLUMNS),
            **sparse_columns(fresh, _SELDOM, ended_bys="ended_by"),
        )


async def end_firings(tx: TenantTx | TenantsTx, ends: Sequence[FiringEnd]) -> None:
    """Say what became of what was planned."""
    if ends:
        await tx.execute(
            QUERIES.end_firings,
            **columns(ends, "tenant_id event_id scheduled_id result"),
            **sparse_columns(ends, "notification_id reason", ended_bys="ended_by"),
        )


async def end_sent(tx: TenantTx | TenantsTx, ends: Sequence[FiringEnd]) -> None:
    """Say that messages were taken back before they were handed over."""
    if ends:
        await tx.execute(
            QUERIES.end_sent,
            **columns(ends, "tenant_id notification_id result"),
            **sparse_columns(ends, "reason", ended_bys="ended_by"),
        )


async def firings_of_event(
    tx: TenantTx,
    event_id: str,
    *,
    trigger_id: str | None = None,
    result: str | None = None,
    after_id: str | None = None,
    limit: int,
) -> list[Firing]:
    """What one event has led to, the first lines first."""
    rows = await tx.fetch(
        QUERIES.firings_of_event,
        event_id=event_id,
        trigger_id=trigger_id,
        result=result,
        after_id=after_id,
        limit=limit,
    )
    return [_firing(row) for row in rows]


async def firing_of(tx: TenantTx, notification_id: NotificationId) -> Firing | None:
    """The trigger and the event that made a notification; None where none did."""
    row = await tx.fetch_one(QUERIES.firings_of_notification, notification_id=notification_id)
    return None if row is None else _firing(row)


async def list_firings(
    tx: TenantTx,
    *,
    trigger_id: str | None,
    result: str | None,
    after_id: str | None,
    limit: int,
    now: datetime,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> ScannedPage[FiringId, Firing]:
    """A page, the newest first, by a bounded scan."""
    return await scan_back(
        partial(_look_back, tx, trigger_id, result),
        partial(_find_firings, tx),
        start=(now, after_id or _NEWEST),
        limit=limit,
        filtered=trigger_id is not None or result is not None,
        chunk=chunk,
        most=most,
    )


async def _look_back(
    tx: TenantTx,
    trigger_id: str | None,
    result: str | None,
    *,
    before_at: datetime,
    before_id: str,
    most: int,
) -> Glance[FiringId]:
    del before_at  # Ids begin with their time.
    query = QUERIES.look_back_at_failed if result == FiringResult.FAILED else QUERIES.look_back
    row = await tx.fetch_one(query, trigger_id=trigger_id, result=result, before_id=before_id, most=most)
    return Glance.of(row)


async def _find_firings(tx: TenantTx, ids: Sequence[FiringId]) -> dict[FiringId, Firing]:
    rows = await tx.fetch(QUERIES.find_firings, ids=list(ids)) if ids else []
    return {found.id: found for found in map(_firing, rows)}


async def sweep_firings(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many whose time is over."""
    return await tx.execute(QUERIES.sweep_firings, now=now, limit=limit)
