"""How many calls of a webhook were taken, hour by hour: written with the calls, read by pages, kept for some days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.ids import WebhookId

QUERIES = Queries.beside(__file__)
#: What pages show, and a day to spare.
_KEPT: Final = timedelta(days=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookHour:
    """The calls of one webhook in one hour."""

    subscription_id: WebhookId
    #: When it began.
    hour: datetime
    taken: int
    not_taken: int


_hour = RowMapper(WebhookHour, [QUERIES.load_hours])


async def load_hours(tx: TenantTx, webhook_ids: Sequence[WebhookId], *, since: datetime) -> list[WebhookHour]:
    """The hours of these webhooks in which there were calls, the oldest first."""
    rows = await tx.fetch(QUERIES.load_hours, webhook_ids=list(webhook_ids), since=since)
    return [_hour(row) for row in rows]


async def sweep_hours(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many that no page shows any more."""
    return await tx.execute(QUERIES.sweep_hours, before=now - _KEPT, limit=limit)
