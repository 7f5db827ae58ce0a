"""The only Python here that runs SQL: what is open, as the worker sees it."""

from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.db import WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAlert:
    """An alert that is open, without what it says."""

    tenant_id: TenantId | None
    dedup_key: str
    severity: AlertSeverity
    last_seen_at: datetime


async def open_of_source(tx: WorkerTx, source: str) -> list[OpenAlert]:
    """All that are open and were raised by this source."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.open_of_source, source=source)]


async def quiet_of_source(
    tx: WorkerTx, source: str, *, before: datetime
) -> list[tuple[TenantId | None, str]]:
    """Whose and which of them nobody has seen since then."""
    rows = await tx.fetch(QUERIES.quiet_of_source, source=source, before=before)
    return [(row["tenant_id"], row["dedup_key"]) for row in rows]


_from_row = RowMapper(OpenAlert, [QUERIES.open_of_source])
