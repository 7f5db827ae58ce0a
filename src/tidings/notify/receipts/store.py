"""The only Python here that runs SQL on notifications that are told of afterwards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import Row, TenantTx, WorkerTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper, columns, tuple_columns
from tidings.kernel.sql import Queries, created_columns
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
    rows = await tx.fetch(
        QUERIES.lock_subjects,
        ids=ids,
        reader_ids=[readers[id_] for id_ in ids],
        **created_columns([time_of(id_) for id_ in ids]),
    )
    return {subject.id: subject for subject in map(_subject, rows)}


async def write_log(tx: TenantTx, lines: Sequence[LogLine]) -> set[str]:
    """Append them; the ids of those that were not there."""
    if not lines:
        return set()
    rows = await tx.fetch(
        QUERIES.write_log,
        started_ats=[time_of(line.id) for line in lines],
        **columns(
            lines,
            "notification_id execution_id attempt_id channel vendor outcome code",
            line_ids="id",
            finished_ats="heard_at",
        ),
    )
    return {row["id"] for row in rows}


async def note_engagements(tx: TenantTx, seen: Sequence[Seen], *, now: datetime) -> None:
    """Keep the first times."""
    first: dict[NotificationId, dict[Engagement, datetime]] = {}
    for one in seen:
        known = first.setdefault(one.notification_id, {})
        known[one.what] = min(one.at, known.get(one.what, one.at))
    ids = sorted(first)
    await tx.execute(
        QUERIES.note_engagements,
        now=now,
        ids=ids,
        **{f"{what}_ats": [first[id_].get(what) for id_ in ids] for what in _ENGAGEMENTS},
        **created_columns([time_of(id_) for id_ in ids]),
    )


async def turn_bounced(
    tx: TenantTx, bounces: Sequence[Bounce], *, now: datetime, stripe: int
) -> Sequence[Row]:
    """Those that were delivered by the attempts that came back, as they are now. One bounce for each."""
    if not bounces:
        return []
    return await tx.fetch(
        QUERIES.turn_bounced,
        now=now,
        day=now.date(),
        stripe=stripe,
        **columns(bounces, "attempt_id reason lost", ids="notification_id", bounced_ats="at"),
        **_created(bounces),
    )


async def keep_early(tx: TenantTx, bounces: Sequence[Bounce], *, now: datetime) -> None:
    """Have them wait for their outcomes."""
    if bounces:
        await tx.execute(
            QUERIES.keep_early,
            now=now,
            **columns(bounces, "notification_id attempt_id reason lost", bounced_ats="at"),
            **_created(bounces),
        )


def _created(bounces: Sequence[Bounce]) -> dict[str, Any]:
    return created_columns([time_of(bounce.notification_id) for bounce in bounces])


async def take_early(tx: TenantTx, ids: Sequence[str]) -> list[Bounce]:
    """Those that waited for these outcomes; they wait no more."""
    rows = await tx.fetch(QUERIES.take_early, notification_ids=list(ids))
    return [_bounce(row) for row in rows]


async def count(tx: TenantTx, happened: Counter[tuple[str, str, str]], *, now: datetime, stripe: int) -> None:
    """Add to the counts of the day: by name, channel and category."""
    if happened:
        await tx.execute(
            QUERIES.count,
            day=now.date(),
            stripe=stripe,
            **tuple_columns(happened, "names channels categories"),
            ns=list(happened.values()),
        )


async def count_in_batches(tx: TenantTx, first: Sequence[tuple[Subject, str]], *, stripe: int) -> None:
    """Add to the totals of the batches that these notifications are part of."""
    known = [(one.batch_id, one.recipient_id, what) for one, what in first if one.batch_id is not None]
    if known:
        await tx.execute(
            QUERIES.count_in_batches, stripe=stripe, **tuple_columns(known, "batch_ids recipient_ids names")
        )


async def sweep_early(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove about so many whose outcomes never came."""
    return await tx.execute(QUERIES.sweep_early, before=before, limit=limit)


_bounce = RowMapper(Bounce, [QUERIES.take_early], columns={"at": "bounced_at"})
_subject = RowMapper(
    Subject,
    [QUERIES.lock_subjects],
    of_row={"done": lambda row: frozenset(what for what in _ENGAGEMENTS if row[f"{what}_at"] is not None)},
)
