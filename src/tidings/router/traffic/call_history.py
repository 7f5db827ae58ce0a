"""The only Python here that runs SQL on how vendors' calls went, hour by hour."""

from dataclasses import dataclass
from datetime import datetime

from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HourOfCalls:
    """Calls of one account in one hour."""

    account_id: str
    vendor: str
    #: When it begins, in UTC.
    hour: datetime
    calls: int
    failed: int
    #: How long they took: half of them at most so long, and 95 of a hundred. None where nothing was measured.
    p50_ms: int | None
    p95_ms: int | None


async def sum_calls(tx: TenantTx, *, since: datetime, most: int) -> list[HourOfCalls]:
    """By account, the oldest hour first; of so many newest attempts."""
    return [_hour(row) for row in await tx.fetch(QUERIES.sum_calls, since=since, most=most)]


_hour = RowMapper(HourOfCalls, [QUERIES.sum_calls])
