"""The only Python here that runs SQL for erasures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.outbox import event_columns
from tidings.kernel.sql import Queries
from tidings.notify.erasure.model import StoredReceipt

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a person was ever sent, counted."""

    total: int
    with_metadata: int
    waiting: list[NotificationId]
    under_way: list[NotificationId]
    #: Those that the router had, and that have come to their end.
    over: list[NotificationId]


async def forget_recipient(tx: TenantTx, recipient_id: RecipientId, *, now: datetime) -> None:
    """Clear what stands in the clear; the row has to be locked."""
    await tx.execute(QUERIES.forget_recipient, recipient_id=recipient_id, now=now)


async def forget_addresses(tx: TenantTx, recipient_id: RecipientId) -> list[str]:
    """Remove them; the hash of each that there was."""
    rows = await tx.fetch(QUERIES.forget_addresses, recipient_id=recipient_id)
    return [row["address_hash"] for row in rows]


async def forget_digests(tx: TenantTx, recipient_id: RecipientId, *, now: datetime) -> None:
    """Have nothing gathered for them any more."""
    await tx.execute(QUERIES.forget_digests, recipient_id=recipient_id, now=now)


async def forget_preferences(tx: TenantTx, recipient_id: RecipientId, *, now: datetime) -> bool:
    """Empty them; whether there were any."""
    return bool(await tx.execute(QUERIES.forget_preferences, recipient_id=recipient_id, now=now))


async def forget_in_suppressions(tx: TenantTx, hashes: Sequence[str]) -> tuple[int, int]:
    """Remove the plain copies beside these hashes; how many rows, and how many of them still hold back."""
    rows = await tx.fetch(QUERIES.forget_in_suppressions, hashes=list(hashes))
    return len(rows), sum(row["released_at"] is None for row in rows)


async def survey_notifications(tx: TenantTx, recipient_id: RecipientId) -> Survey:
    """All that they were ever sent."""
    row = await tx.fetch_one(QUERIES.survey_notifications, recipient_id=recipient_id)
    if row is None:
        return Survey(total=0, with_metadata=0, waiting=[], under_way=[], over=[])
    return _survey(row)


async def find_recent(tx: TenantTx, recipient_id: RecipientId, *, since: datetime) -> list[NotificationId]:
    """Theirs that something happened to since then."""
    rows = await tx.fetch(QUERIES.find_recent, recipient_id=recipient_id, since=since)
    return [NotificationId(row["id"]) for row in rows]


async def forget_metadata(tx: TenantTx, recipient_id: RecipientId) -> int:
    """Clear the callers' own words; of how many notifications."""
    return await tx.execute(QUERIES.forget_metadata, recipient_id=recipient_id)


async def stop_waiting(
    tx: TenantTx,
    ids: Sequence[NotificationId],
    events: Sequence[Event],
    *,
    reason: str,
    trace: str,
    now: datetime,
    stripe: int,
) -> int:
    """Suppress those that still wait, each with its event; how many did."""
    rows = await tx.fetch(
        QUERIES.stop_waiting,
        ids=list(ids),
        created_ats=[time_of(id_) for id_ in ids],
        reason=reason,
        trace=trace,
        now=now,
        day=now.date(),
        stripe=stripe,
        **event_columns(events),
    )
    return len(rows)


async def forget_planned(tx: TenantTx, recipient_id: RecipientId, *, now: datetime) -> None:
    """Clear what is planned for them, with the orders."""
    await tx.execute(QUERIES.forget_planned, recipient_id=recipient_id, now=now)


async def insert_receipt(tx: TenantTx, receipt: StoredReceipt) -> None:
    """Keep it for good."""
    await tx.execute(QUERIES.insert_receipt, receipt)


async def find_receipt(tx: TenantTx, recipient_id: RecipientId) -> StoredReceipt | None:
    """The receipt of this recipient's erasure."""
    row = await tx.fetch_one(QUERIES.find_receipt, recipient_id=recipient_id)
    return _receipt(row) if row else None


_survey = RowMapper(Survey, [QUERIES.survey_notifications])
_receipt = RowMapper(StoredReceipt, [QUERIES.find_receipt])
