"""The only Python here that runs SQL to list and release the platform's own suppressions."""

from dataclasses import dataclass
from datetime import datetime

from tidings.kernel.db import PlatformTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.ids import SuppressionId
from tidings.notify.suppressions.model import SuppressibleChannel, SuppressionReason

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformRow:
    """An address, of which only the hash is known, or a whole mail domain, that no tenant may write to."""

    id: SuppressionId
    channel: SuppressibleChannel
    mail_domain: str | None
    reason: SuppressionReason
    notes: str | None
    expires_at: datetime | None
    released_at: datetime | None
    released_by: str | None
    created_by: str
    created_at: datetime


async def list_for_all(tx: PlatformTx, *, after_id: str | None, limit: int) -> list[PlatformRow]:
    """The newest first, from a cursor on."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.list_for_all, after_id=after_id, limit=limit)]


async def release_for_all(
    tx: PlatformTx, suppression_id: SuppressionId, *, released_by: str, now: datetime
) -> PlatformRow | None:
    """As it is now; None where none was in force."""
    row = await tx.fetch_one(QUERIES.release_for_all, id=suppression_id, released_by=released_by, now=now)
    return None if row is None else _from_row(row)


_from_row = RowMapper(PlatformRow, [QUERIES.list_for_all, QUERIES.release_for_all])
