"""The only Python here that runs SQL on alerts."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidings.backoffice.alerts.model import Alert, NewAlert, facts_of
from tidings.backoffice.ids import AlertId
from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def raise_alerts(
    tx: TenantTx | PlatformTx, ids: Sequence[AlertId], alerts: Sequence[NewAlert], *, now: datetime
) -> list[Alert]:
    """Keep alerts under these ids; one that is open is counted, and keeps its own id."""
    if not alerts:
        return []
    rows = await tx.fetch(
        QUERIES.raise_alerts,
        ids=list(ids),
        dedup_keys=[alert.dedup_key for alert in alerts],
        categories=[alert.category for alert in alerts],
        severities=[alert.severity for alert in alerts],
        property_ids=[alert.property_id for alert in alerts],
        sources=[alert.source for alert in alerts],
        facts=[msgspec.json.encode(dict(alert.facts)).decode() for alert in alerts],
        now=now,
    )
    return [_from_row(row) for row in rows]


async def resolve_alerts(
    tx: TenantTx | PlatformTx, dedup_keys: Sequence[str], *, resolved_by: str, now: datetime
) -> list[Alert]:
    """End those that are open; the ones that were."""
    if not dedup_keys:
        return []
    rows = await tx.fetch(
        QUERIES.resolve_alerts, dedup_keys=list(dedup_keys), resolved_by=resolved_by, now=now
    )
    return [_from_row(row) for row in rows]


async def find_open(tx: TenantTx | PlatformTx, dedup_keys: Sequence[str]) -> list[Alert]:
    """Those of these keys that are open."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_open_alerts, dedup_keys=list(dedup_keys))]


async def open_of_category(tx: TenantTx | PlatformTx, category: str, *, limit: int = 200) -> list[Alert]:
    """The newest open alerts of one kind."""
    rows = await tx.fetch(QUERIES.open_alerts_of_category, category=category, limit=limit)
    return [_from_row(row) for row in rows]


async def sweep_alerts(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove alerts that were over before that."""
    return await tx.execute(QUERIES.sweep_alerts, before=before, limit=limit)


_from_row = RowMapper(
    Alert,
    [QUERIES.raise_alerts, QUERIES.resolve_alerts, QUERIES.find_open_alerts, QUERIES.open_alerts_of_category],
    read={"facts": facts_of},
)
