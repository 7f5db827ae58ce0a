"""The only Python here that runs SQL for subject access; other packages' stores are read where they have what is asked."""

from collections.abc import Sequence
from typing import Any

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def find_suppressions(tx: TenantTx, hashes: Sequence[str]) -> list[dict[str, Any]]:
    """Those of these addresses, released ones too, the oldest first."""
    rows = await tx.fetch(QUERIES.find_suppressions, hashes=list(hashes))
    return [{name: value for name, value in row.items() if name != "address_hash"} for row in rows]


async def load_looks(tx: TenantTx, ids: Sequence[NotificationId]) -> list[Row]:
    """The audit's lines about these notifications: id, moment, notification, action and actor."""
    return await tx.fetch(QUERIES.load_looks, ids=list(ids), created_ats=[time_of(i) for i in ids])


async def load_logs(
    tx: TenantTx, ids: Sequence[NotificationId]
) -> dict[NotificationId, list[dict[str, Any]]]:
    """What vendors said, by notification, the oldest first."""
    rows = await tx.fetch(QUERIES.load_logs, ids=list(ids), created_ats=[time_of(i) for i in ids])
    found: dict[NotificationId, list[dict[str, Any]]] = {}
    for row in rows:
        told = {name: value for name, value in row.items() if name != "notification_id"}
        found.setdefault(NotificationId(row["notification_id"]), []).append(told)
    return found


async def list_planned(tx: TenantTx, recipient_id: RecipientId, *, after_id: str, limit: int) -> list[Row]:
    """What triggers have planned for them, the oldest first."""
    return await tx.fetch(QUERIES.list_planned, recipient_id=recipient_id, after_id=after_id, limit=limit)


async def list_digests(tx: TenantTx, recipient_id: RecipientId, *, after_id: str, limit: int) -> list[Row]:
    """Their digest windows, the oldest first."""
    return await tx.fetch(QUERIES.list_digests, recipient_id=recipient_id, after_id=after_id, limit=limit)


async def list_batches(tx: TenantTx, recipient_id: RecipientId, *, after_id: str, limit: int) -> list[Row]:
    """The tenant's batches, the oldest first, each with what it has of this person."""
    return await tx.fetch(QUERIES.list_batches, recipient_id=recipient_id, after_id=after_id, limit=limit)
