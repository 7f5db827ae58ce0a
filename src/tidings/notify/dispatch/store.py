"""The only Python that moves notifications out of the queue."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.durable.presence import WorkerId
from tidings.kernel.events import Event
from tidings.kernel.ids import time_of
from tidings.kernel.outbox import event_columns
from tidings.kernel.sql import Queries, sparse
from tidings.notify.accept.row import NotificationRow, Pin
from tidings.notify.dispatch.model import Move
from tidings.notify.dispatch.sent import sender_text
from tidings.notify.ids import SCHEDULED_WORK

QUERIES = Queries.beside(__file__)
_read_pin = msgspec.json.Decoder(Pin).decode

#: Rows that had to be waited for are locked by the first statement and seen by the second; see `move`.
_AT_ONCE_AND_AGAIN = range(2)


async def load_pending(tx: TenantTx, ids: Sequence[NotificationId]) -> dict[NotificationId, NotificationRow]:
    """Those that exist."""
    if not ids:
        return {}
    created_ats = [time_of(id_) for id_ in ids]
    rows = await tx.fetch(
        QUERIES.load_pending,
        tenant_id=tx.tenant_id,
        ids=list(ids),
        created_ats=created_ats,
        oldest=min(created_ats),
        newest=max(created_ats),
    )
    return {pending.id: pending for pending in map(_pending, rows)}


async def move(
    tx: TenantTx,
    moves: Sequence[Move],
    events: Sequence[Event],
    *,
    worker: WorkerId | None,
    now: datetime,
    stripe: int,
) -> set[NotificationId]:
    """Those that moved, with the event of each; the others were cancelled meanwhile, or are another worker's. Without a worker: those free."""
    created_ats = [m.pending.created_at for m in moves]
    waits = [m.until is not None for m in moves]
    given = {
        "tenant_id": tx.tenant_id,
        "worker": worker,
        "now": now,
        "day": now.date(),
        "stripe": stripe,
        "oldest": min(created_ats),
        "newest": max(created_ats),
        "ids": [m.pending.id for m in moves],
        "created_ats": created_ats,
        "retention_classes": [m.pending.retention_class for m in moves],
        "statuses": [m.status.value for m in moves],
        "reasons": sparse([m.reason for m in moves]),
        "traces": [m.trace for m in moves],
        "locales": sparse([m.locale for m in moves]),
        "snapshots": sparse([m.snapshot for m in moves]),
        **_records(moves),
        "preference_versions": sparse([m.preferences_version for m in moves]),
        "untils": sparse([m.until for m in moves]),
        "schedule_ids": sparse([SCHEDULED_WORK.new(now) if wait else None for wait in waits]),
        "kinds": sparse([m.reason if wait else None for m, wait in zip(moves, waits, strict=True)]),
        "counted": ["deferred" if wait else m.status.value for m, wait in zip(moves, waits, strict=True)],
        **event_columns(events),
    }
    moved: set[NotificationId] = set()
    for _ in _AT_ONCE_AND_AGAIN:
        moved.update(row["id"] for row in await tx.fetch(QUERIES.move, **given))
        if len(moved) == len(moves):
            return moved
    left = [m.pending.id for m in moves if m.pending.id not in moved]
    await tx.execute(QUERIES.leave_queue, tenant_id=tx.tenant_id, ids=left, worker=worker)
    return moved


async def mark_copies(tx: TenantTx, copies: Sequence[NotificationRow], *, trace: str) -> None:
    """Let it be known that these are guardians' copies."""
    created_ats = [copy.created_at for copy in copies]
    await tx.execute(
        QUERIES.mark_copies,
        tenant_id=tx.tenant_id,
        trace=trace,
        oldest=min(created_ats),
        newest=max(created_ats),
        ids=[copy.id for copy in copies],
        created_ats=created_ats,
        retention_classes=[copy.retention_class for copy in copies],
    )


async def note_steps(tx: TenantTx, moves: Sequence[Move], *, now: datetime) -> None:
    """Keep what the gates of a later step said."""
    created_ats = [m.pending.created_at for m in moves]
    given = {
        "tenant_id": tx.tenant_id,
        "now": now,
        "oldest": min(created_ats),
        "newest": max(created_ats),
        "ids": [m.pending.id for m in moves],
        "created_ats": created_ats,
        "retention_classes": [m.pending.retention_class for m in moves],
        "traces": [m.trace for m in moves],
        "locales": sparse([m.locale for m in moves]),
        "snapshots": sparse([m.snapshot for m in moves]),
        **_records(moves),
    }
    for _ in _AT_ONCE_AND_AGAIN:
        if await tx.execute(QUERIES.note_step, **given) == len(moves):
            return


def _records(moves: Sequence[Move]) -> dict[str, list[Any]]:
    """Where the messages go that are ready, and who they come from."""
    records = [m.record for m in moves]
    return {
        "address_hashes": sparse([one.address_hash if one else None for one in records]),
        "addresses": sparse([one.address_ciphertext if one else None for one in records]),
        "senders": sparse([sender_text(one) if one else None for one in records]),
        "body_refs": sparse([m.body_ref for m in moves]),
    }


def _pending(row: Row) -> NotificationRow:
    versions = row["template_versions"]
    return NotificationRow(
        id=row["id"],
        created_at=row["created_at"],
        retention_class=row["retention_class"],
        status=NotificationStatus(row["status"]),
        channel=row["channel"],
        category=row["category"],
        use_case=row["use_case"],
        priority=row["priority"],
        locale=row["locale"],
        recipient_id=row["recipient_id"],
        template_id=row["template_id"],
        template_version_id=row["template_version_id"],
        template_versions=msgspec.json.decode(versions) if versions is not None else None,
        template_key=row["template_key"],
        template_semver=row["template_semver"],
        variables=row["variables_ciphertext"],
        variables_hash=row["variables_hash"],
        attachments=row["attachments_ciphertext"],
        expires_at=row["expires_at"],
        is_test=row["is_test"],
        correlation_id=row["correlation_id"],
        source_event_id=row["source_event_id"],
        metadata=row["metadata"],
        trace=row["decision_trace"],
        render_snapshot=row["render_snapshot"],
        pin=_read_pin(row["pinned"]) if row["pinned"] is not None else None,
        body_ref=row["body_ref"],
        traceparent=row["traceparent"],
    )
