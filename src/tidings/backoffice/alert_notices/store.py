"""The only Python here that runs SQL: who wants to be told, and who was."""

from collections.abc import Sequence
from datetime import datetime

from tidings.backoffice.alert_notices.model import AlertSubscription, ToldAlert
from tidings.backoffice.alerts.model import Alert, facts_of
from tidings.backoffice.ids import OperatorId
from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def find_subscription(tx: TenantTx | PlatformTx, operator_id: OperatorId) -> AlertSubscription | None:
    """What an operator has chosen; None: to be told of nothing."""
    row = await tx.fetch_one(QUERIES.find_subscription, operator_id=operator_id)
    return _subscription_from_row(row) if row else None


async def put_subscription(
    tx: TenantTx | PlatformTx, subscription: AlertSubscription, *, now: datetime
) -> None:
    """Keep what they choose."""
    await tx.execute(QUERIES.put_subscription, subscription, tenant_id=tx.tenant_id, now=now)


async def remove_subscription(tx: TenantTx | PlatformTx, operator_id: OperatorId) -> None:
    """Tell them of nothing any more."""
    await tx.execute(QUERIES.remove_subscription, operator_id=operator_id)


async def list_subscriptions(tx: TenantTx | PlatformTx) -> list[AlertSubscription]:
    """Everybody here who wants to be told."""
    return [_subscription_from_row(row) for row in await tx.fetch(QUERIES.list_subscriptions)]


async def tenants_to_tell(tx: WorkerTx, *, settled: datetime) -> list[TenantId | None]:
    """Where there is somebody to tell of something; None: the platform."""
    rows = await tx.fetch(QUERIES.tenants_to_tell, settled=settled)
    return [row["tenant_id"] for row in rows]


async def open_alerts(tx: TenantTx | PlatformTx, *, now: datetime) -> list[Alert]:
    """What nobody looks after, and is not muted."""
    return [_alert_from_row(row) for row in await tx.fetch(QUERIES.open_alerts, now=now)]


async def told_of(
    tx: TenantTx | PlatformTx, operator_ids: Sequence[OperatorId], dedup_keys: Sequence[str]
) -> list[ToldAlert]:
    """What these operators were told of under these keys."""
    rows = await tx.fetch(QUERIES.told_of, operator_ids=list(operator_ids), dedup_keys=list(dedup_keys))
    return [_told_from_row(row) for row in rows]


async def note_told(
    tx: TenantTx | PlatformTx, told: Sequence[tuple[OperatorId, Alert]], *, now: datetime
) -> None:
    """These operators were told of these alerts."""
    await tx.execute(
        QUERIES.note_told,
        operator_ids=[operator_id for operator_id, _ in told],
        dedup_keys=[alert.dedup_key for _, alert in told],
        alert_ids=[alert.id for _, alert in told],
        now=now,
    )


async def sweep_notices(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Forget whom was told of what before that."""
    return await tx.execute(QUERIES.sweep_notices, before=before, limit=limit)


_subscription_from_row = RowMapper(AlertSubscription, [QUERIES.find_subscription, QUERIES.list_subscriptions])
_alert_from_row = RowMapper(Alert, [QUERIES.open_alerts], read={"facts": facts_of})
_told_from_row = RowMapper(ToldAlert, [QUERIES.told_of])
