"""The only Python here that runs SQL on alerts."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidings.backoffice.alerts.model import (
    Acknowledgement,
    Alert,
    AlertFilter,
    Mute,
    NewAlert,
    OpenCount,
    facts_of,
)
from tidings.backoffice.ids import AlertId
from tidings.backoffice.properties.access import PropertyReach
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


async def find_alert(tx: TenantTx | PlatformTx, alert_id: AlertId, *, reach: PropertyReach) -> Alert | None:
    """The alert with this id, where the reader may see it."""
    row = await tx.fetch_one(QUERIES.find_alert, reach, id=alert_id, properties=list(reach.properties))
    return _from_row(row) if row else None


async def lock_alert(tx: TenantTx | PlatformTx, alert_id: AlertId, *, reach: PropertyReach) -> Alert | None:
    """The same, locked until the end of the transaction."""
    row = await tx.fetch_one(QUERIES.lock_alert, reach, id=alert_id, properties=list(reach.properties))
    return _from_row(row) if row else None


async def list_alerts(
    tx: TenantTx | PlatformTx, wanted: AlertFilter, *, reach: PropertyReach, after_id: str | None, limit: int
) -> list[Alert]:
    """The newest first, from a cursor on."""
    rows = await tx.fetch(
        QUERIES.list_alerts,
        wanted,
        is_every=reach.is_every,
        properties=list(reach.properties),
        after_id=after_id,
        limit=limit,
    )
    return [_from_row(row) for row in rows]


async def count_open(tx: TenantTx | PlatformTx) -> list[OpenCount]:
    """How many are open, by where and how grave they are."""
    return [_count_from_row(row) for row in await tx.fetch(QUERIES.count_open)]


async def set_status(tx: TenantTx | PlatformTx, alert: Alert) -> Alert:
    """Write where an alert stands; as it is then."""
    row = await tx.fetch_one(QUERIES.set_status, alert, tenant_id=tx.tenant_id)
    if row is None:
        raise LookupError(alert.id)
    return _from_row(row)


async def acknowledge(
    tx: TenantTx | PlatformTx,
    alert: Alert,
    *,
    operator_id: str,
    device_id: str,
    note_id: str | None,
    now: datetime,
) -> bool:
    """Whether it was not acknowledged by this operator before."""
    return bool(
        await tx.execute(
            QUERIES.acknowledge,
            alert,
            tenant_id=tx.tenant_id,
            alert_id=alert.id,
            operator_id=operator_id,
            device_id=device_id,
            note_id=note_id,
            now=now,
        )
    )


async def withdraw(tx: TenantTx | PlatformTx, alert_id: AlertId, *, operator_id: str, now: datetime) -> bool:
    """Whether there was one to take back."""
    return bool(await tx.execute(QUERIES.withdraw, alert_id=alert_id, operator_id=operator_id, now=now))


async def find_acknowledgements(
    tx: TenantTx | PlatformTx, alert_ids: Sequence[AlertId]
) -> list[Acknowledgement]:
    """Those of these alerts that stand, the oldest first."""
    if not alert_ids:
        return []
    rows = await tx.fetch(QUERIES.find_acknowledgements, alert_ids=list(alert_ids))
    return [_acknowledgement_from_row(row) for row in rows]


async def mute(
    tx: TenantTx | PlatformTx, category: str, *, muted_until: datetime, operator_id: str, now: datetime
) -> None:
    """Have nobody told of a category until then."""
    await tx.execute(
        QUERIES.mute, category=category, muted_until=muted_until, operator_id=operator_id, now=now
    )


async def unmute(tx: TenantTx | PlatformTx, category: str) -> bool:
    """Whether it was muted."""
    return bool(await tx.execute(QUERIES.unmute, category=category))


async def list_mutes(tx: TenantTx | PlatformTx, *, now: datetime) -> list[Mute]:
    """Those that hold."""
    return [_mute_from_row(row) for row in await tx.fetch(QUERIES.list_mutes, now=now)]


async def sweep_mutes(tx: WorkerTx, *, before: datetime) -> int:
    """Remove mutes that were over before that."""
    return await tx.execute(QUERIES.sweep_mutes, before=before)


async def sweep_alerts(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove alerts that were over before that."""
    return await tx.execute(QUERIES.sweep_alerts, before=before, limit=limit)


_from_row = RowMapper(
    Alert,
    [
        QUERIES.raise_alerts,
        QUERIES.resolve_alerts,
        QUERIES.find_open_alerts,
        QUERIES.open_alerts_of_category,
        QUERIES.find_alert,
        QUERIES.lock_alert,
        QUERIES.list_alerts,
        QUERIES.set_status,
    ],
    read={"facts": facts_of},
)
_count_from_row = RowMapper(OpenCount, [QUERIES.count_open])
_acknowledgement_from_row = RowMapper(Acknowledgement, [QUERIES.find_acknowledgements])
_mute_from_row = RowMapper(Mute, [QUERIES.list_mutes])
