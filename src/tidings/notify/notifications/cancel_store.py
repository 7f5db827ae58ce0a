"""The only Python that takes a notification back."""

from datetime import datetime

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def cancel_notification(
    tx: TenantTx,
    *,
    id: NotificationId,  # noqa: A002
    now: datetime,
    stripe: int,
) -> NotificationStatus | None:
    """How it stood before; None where it was not waiting any more, and nothing was changed."""
    before = await tx.fetch_value(
        QUERIES.cancel_notification,
        tenant_id=tx.tenant_id,
        id=id,
        created_at=time_of(id),
        now=now,
        day=now.date(),
        stripe=stripe,
    )
    return None if before is None else NotificationStatus(before)
