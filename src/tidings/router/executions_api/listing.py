"""Lists a tenant's executions by a bounded scan: outcomes and use cases have no index, every execution would pay for one."""

from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from tidings.kernel.bounded_scan import AHEAD, BEGINNING, CHUNK, MOST_LOOKED_AT, ScannedPage, scan_back
from tidings.kernel.db import TenantTx
from tidings.kernel.http.paging import After
from tidings.router.executions.model import ExecutionId
from tidings.router.executions_api import store
from tidings.router.executions_api.model import Execution, ExecutionFilter

FoundExecutions: TypeAlias = ScannedPage[ExecutionId, Execution]


async def find_recent(
    tx: TenantTx,
    wanted: ExecutionFilter,
    *,
    since: datetime | None,
    until: datetime | None,
    after: After | None,
    limit: int,
    now: datetime,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> FoundExecutions:
    """Up to `limit` that began in `since` ≤ t < `until`, from a cursor on."""
    return await scan_back(
        partial(store.look_back, tx, wanted, since=since or BEGINNING),
        partial(store.find_executions, tx),
        start=_start(until, after, now),
        limit=limit,
        filtered=bool(wanted),
        chunk=chunk,
        most=most,
    )


def _start(until: datetime | None, after: After | None, now: datetime) -> tuple[datetime, str]:
    if after is not None and (until is None or after.created_at < until):
        return after.created_at, after.id
    at = until or now + AHEAD
    # Ids know milliseconds: what began within this one began before the next.
    at += timedelta(microseconds=-at.microsecond % 1000)
    return at, store.first_id(at)
