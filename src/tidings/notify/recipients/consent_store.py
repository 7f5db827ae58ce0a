"""The only Python here that runs SQL on the consent ledger, which only ever grows."""

from collections.abc import Sequence
from datetime import datetime

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.notify.recipients.consent_ledger import ConsentEvent

QUERIES = Queries.beside(__file__)


async def append_events(tx: TenantTx, events: Sequence[ConsentEvent]) -> int:
    """Write them all."""
    if not events:
        return 0
    return await tx.execute(
        QUERIES.append_events,
        **columns(
            events,
            "recipient_id id kind channel occurred_at recorded_at source evidence actor",
            categories="category",
            versions="preferences_version",
        ),
    )


async def list_events(
    tx: TenantTx, recipient_id: RecipientId, *, after_id: str | None, limit: int
) -> list[ConsentEvent]:
    """A recipient's, the newest first."""
    rows = await tx.fetch(QUERIES.list_events, recipient_id=recipient_id, after_id=after_id, limit=limit)
    return [_from_row(row) for row in rows]


async def last_nos(tx: TenantTx, recipient_id: RecipientId, *, until: datetime) -> list[ConsentEvent]:
    """The last no of each kind, channel and category that was written down until then, the newest first."""
    rows = await tx.fetch(QUERIES.last_nos, recipient_id=recipient_id, until=until)
    return [_from_row(row) for row in rows]


async def forget_evidence(tx: TenantTx, recipient_id: RecipientId) -> int:
    """Take away where a recipient's yes and no can be looked up; how many lines had that."""
    return await tx.execute(QUERIES.forget_evidence, recipient_id=recipient_id)


_from_row = RowMapper(ConsentEvent, [QUERIES.list_events, QUERIES.last_nos])
