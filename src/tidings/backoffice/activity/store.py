"""The only Python here that runs SQL on the activity ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.backoffice.activity.model import Activity, Outcome
from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityFilter:
    """Which rows are wanted; None: all."""

    #: Who reads, and the properties that they have a right to; None: all of them.
    reader: str
    properties: list[str] | None
    since: datetime
    until: datetime
    operator_id: str | None = None
    property_id: str | None = None
    action: str | None = None
    category: str | None = None
    outcome: Outcome | None = None
    resource_id: str | None = None


async def insert_activity(tx: TenantsTx | PlatformTx, rows: Sequence[Activity]) -> None:
    """Write a set."""
    await tx.execute(
        QUERIES.insert_activity,
        ids=[row.id for row in rows],
        tenant_ids=[row.tenant_id for row in rows],
        occurred_at=[row.occurred_at for row in rows],
        property_ids=[row.property_id for row in rows],
        operator_ids=[row.operator_id for row in rows],
        device_ids=[row.device_id for row in rows],
        session_ids=[row.session_id for row in rows],
        categories=[row.category for row in rows],
        actions=[row.action for row in rows],
        resource_kinds=[row.resource_kind for row in rows],
        resource_ids=[row.resource_id for row in rows],
        outcomes=[row.outcome for row in rows],
        statuses=[row.status for row in rows],
        error_codes=[row.error_code for row in rows],
        latencies=[row.latency_ms for row in rows],
        context_hashes=[row.context_hash for row in rows],
    )


async def list_activity(
    tx: TenantTx | PlatformTx, wanted: ActivityFilter, *, after_id: str | None, limit: int
) -> list[Activity]:
    """The newest first, from a cursor on."""
    after_at = time_of(after_id) if after_id is not None else None
    query = QUERIES.list_activity_of_platform if isinstance(tx, PlatformTx) else QUERIES.list_activity
    rows = await tx.fetch(query, wanted, after_id=after_id, after_at=after_at, limit=limit)
    return [_from_row(row) for row in rows]


_from_row = RowMapper(Activity, [QUERIES.list_activity, QUERIES.list_activity_of_platform])
