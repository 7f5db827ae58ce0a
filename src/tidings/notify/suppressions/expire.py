"""Releases what ran out: told and audited as any other release."""

from datetime import datetime

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Queries
from tidings.notify.suppressions.store import from_row
from tidings.notify.suppressions.suppress import Suppressor

QUERIES = Queries.beside(__file__)
EXPIRED = "system:expired"
#: A transaction's worth.
_SET = 1_000


async def expire_suppressions(db: Database, suppressor: Suppressor, clock: Clock, *, limit: int) -> int:
    """At most so many; how many ran out."""
    now = clock.now()
    async with db.worker() as worker:
        found = await worker.fetch(QUERIES.tenants_with_expired, now=now, limit=limit)
    released = 0
    for row in found:
        gone = _SET
        while gone == _SET and released < limit:
            gone = await _expire_set(db, suppressor, TenantId(row["tenant_id"]), now)
            released += gone
    return released


async def _expire_set(db: Database, suppressor: Suppressor, tenant_id: TenantId, now: datetime) -> int:
    async with db.tenant(tenant_id) as tx:
        gone = await tx.fetch(QUERIES.release_expired, now=now, limit=_SET)
        await suppressor.tell_expired(tx, [from_row(one) for one in gone], actor=EXPIRED)
    return len(gone)
