"""How many suppressions are in force, without looking at them; a trigger keeps the counts."""

from dataclasses import dataclass

from tidings.kernel.db import Database, TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.suppressions.model import SuppressionReason

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many of one kind there are."""

    channel: str
    reason: SuppressionReason
    in_force: int


async def read_counts(tx: TenantTx) -> list[Count]:
    """By channel and reason; kinds of which there are none are left out."""
    rows = await tx.fetch(QUERIES.read_counts)
    return [_count(row) for row in rows]


async def fold_counts(db: Database, *, limit: int) -> int:
    """Add fresh rows to the sums, at most so many of each tenant; how many there were."""
    async with db.worker() as tx:
        tenants = [row["tenant_id"] for row in await tx.fetch(QUERIES.tenants_to_fold, limit=limit)]
    folded = 0
    for tenant_id in tenants:
        async with db.worker() as tx:
            folded += await tx.fetch_value(QUERIES.fold_counts, tenant_id=tenant_id, limit=limit)
    return folded


_count = RowMapper(Count, [QUERIES.read_counts], columns={"in_force": "n"})
