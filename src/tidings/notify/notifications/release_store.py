"""The only Python that has a waiting notification go now."""

from datetime import datetime

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def release_notification(
    tx: TenantTx,
    *,
    id: NotificationId,  # noqa: A002
    mark: str,
    now: datetime,
) -> bool:
    """Whether it was waiting; it is due from now on, and its trace ends with the mark."""
    found = await tx.fetch_value(
        QUERIES.release_notification,
        tenant_id=tx.tenant_id,
        id=id,
        created_at=time_of(id),
        mark=mark,
        now=now,
    )
    return found is not None
