"""The only Python here that runs SQL on notifications that are told of afterwards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import Row, TenantTx, WorkerTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries
from tidings.notify.receipts.model import Bounce, Engagement, LogLine, Seen, Subject

QUERIES = Queries.beside(__file__)

_ENGAGEMENTS: tuple[Engagement, ...] = ("read", "opened", "clicked")


async def lock_subjects(
    tx: TenantTx, readers: Mapping[NotificationId, RecipientId]
) -> dict[NotificationId, Subject]:
    """Those that exist, with who was written to; locked until the end of the transaction."""
    if not readers:
        return {}
    ids = sorted(readers)
    created_ats = [time_of(id_) for id_ in ids]
    rows = await tx.fetch(
        QUERIES.lock_subjects,
        tenant_id=tx.tenant_id,
        ids=ids,
        created_ats=created_ats,
        reader_ids=[readers[id_] for id_ in ids],
        oldest=min(created_ats),
        newest=max(created_ats),
    )
    return {subject.id: subject for subject in map(_subject, rows)}


async def write_log(tx: TenantTx, lines: Sequence[LogLine]) -> set[str]:
    """Append them; the ids of those that were not there."""
    if not lines:
        return set()
    rows = await tx.fetch(
        QUERIES.write_log,
        tenant_id=tx.tenant_id,
        line_ids=[line.id for line in lines],
        started_ats=[time_of(line.id) for line in lines],
        finished_ats=[line.heard_at for line in lines],
        **columns(lines, "notification_id execution_id attempt_id channel vendor outcome code"),
    )
    return {row["id"] for row in rows}


async def note_engagements(tx: TenantTx, seen: Sequence[Seen], *, now: datetime) -> None:
    """Keep the first times."""
    first: dict[NotificationId, dict[Engagement, datetime]] = {}
    for one in seen:
        known = first.setdefault(one.notification_id, {})
        known[one.what] = min(one.at, known.get(one.what, one.at))
    ids = sorted(first)
    created_ats = [time_of(id_) for id_ in ids]
    await tx.execute(
        QUERIES.note_engagements,
        tenant_id=tx.tenant_id,
        now=now,
        ids=ids,
        created_ats=created_ats,
        read_ats=[first[id_].get("read") for id_ in ids],
        opened_ats=[first[id_].get("opened") for id_ in ids],
        clicked_ats=[first[id_].get("clicked") for id_ in ids],
        oldest=min(created_ats),
        newest=max(created_ats),
    )


async def turn_bounced(
    tx: TenantTx, bounces: Sequence[Bounce], *, now: datetime, stripe: int
) -> Sequence[Row]:
    """Those that were delivered by the attempts that came back, as they are now. One bounce for each."""
    if not bounces:
        return []
    created_ats = [time_of(bounce.notification_id) for bounce in bounces]
    return await tx.fetch(
        QUERIES.turn_bounced,
        tenant_id=tx.tenant_id,
        now=now,
        day=now.date(),
        stripe=stripe,
        ids=[bounce.notification_id for bounce in bounces],
        created_ats=created_ats,
        **columns(bounces, "attempt_id reason lost"),
        bounced_ats=[bounce.at for bounce in bounces],
        oldest=min(created_ats),
        newest=max(created_ats),
    )


async def keep_early(tx: TenantTx, bounces: Sequence[Bounce], *, now: datetime) -> None:
    """Have them wait for their outcomes."""
    if bounces:
        created_ats = [time_of(bounce.notification_id) for bounce in bounces]
        await tx.execute(
            QUERIES.keep_early,
            tenant_id=tx.tenant_id,
            now=now,
            created_ats=created_ats,
            oldest=min(created_ats),
            newest=max(created_ats),
            **columns(bounces, "notification_id attempt_id reason lost"),
            bounced_ats=[bounce.at for bounce in bounces],
        )


async def take_early(tx: TenantTx, ids: Sequence[str]) -> list[Bounce]:
    """Those that waited for these outcomes; they wait no more."""
    rows = await tx.fetch(QUERIES.take_early, tenant_id=tx.tenant_id, notification_ids=list(ids))
    return [
        Bounce(
            notification_id=NotificationId(row["notification_id"]),
            attempt_id=row["attempt_id"],
            reason=row["reason"],
            at=row["bounced_at"],
            lost=row["lost"],
        )
        for row in rows
    ]


async def count(tx: TenantTx, happened: Counter[tuple[str, str, str]], *, now: datetime, stripe: int) -> None:
    """Add to the counts of the day: by name, channel and category."""
    if happened:
        await tx.execute(
            QUERIES.count,
            tenant_id=tx.tenant_id,
            day=now.date(),
            stripe=stripe,
            names=[name for name, _, _ in happened],
            channels=[channel for _, channel, _ in happened],
            categories=[category for _, _, category in happened],
            ns=list(happened.values()),
        )


async def sweep_early(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove about so many whose outcomes never came."""
    return await tx.execute(QUERIES.sweep_early, before=before, limit=limit)


def _subject(row: Row) -> Subject:
    return Subject(
        id=NotificationId(row["id"]),
        recipient_id=RecipientId(row["recipient_id"]),
        status=NotificationStatus(row["status"]),
        channel=row["channel"],
        final_channel=row["final_channel"],
        category=row["category"],
        template_key=row["template_key"],
        correlation_id=row["correlation_id"],
        is_test=row["is_test"],
        done=frozenset(what for what in _ENGAGEMENTS if row[f"{what}_at"] is not None),
        erased=row["erased"],
    )
