"""Walks back through a tenant's executions and gathers those that fit, never looking at more rows than it may.

Outcomes and use cases have no index: every ladder would pay for one. So a list looks at rows in their own order, some
thousands in a request, and where few of them fit it answers with those and a cursor to go on from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tidings.kernel.db import TenantTx
from tidings.kernel.http.paging import After
from tidings.kernel.ids import time_of
from tidings.router.executions.model import ExecutionId
from tidings.router.executions_api import store
from tidings.router.executions_api.model import Execution, Filter

#: Rows that one statement looks at, and one request at most.
CHUNK: Final = 2_000
MOST_LOOKED_AT: Final = 20_000

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Clocks of two machines differ; nothing is newer than this, and later months need not be opened.
_AHEAD: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Some executions that fit, the newest first."""

    items: Sequence[Execution]
    #: Where to go on; None where there is nothing more.
    next_id: ExecutionId | None


async def find_recent(
    tx: TenantTx,
    wanted: Filter,
    *,
    since: datetime | None,
    until: datetime | None,
    after: After | None,
    limit: int,
    now: datetime,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> Found:
    """Up to `limit` that began in `since` ≤ t < `until`, from a cursor on."""
    before_at, before_id = _start(until, after, now)
    # Without a filter the first rows are the page.
    step = chunk if wanted else limit + 1
    ids: list[ExecutionId] = []
    looked_at, next_id = 0, None
    while True:
        asked = min(step, most - looked_at)
        glance = await store.look_back(
            tx, wanted, since=since or _BEGINNING, before_at=before_at, before_id=before_id, most=asked
        )
        looked_at += glance.looked_at
        ids += glance.ids
        if len(ids) > limit:
            ids = ids[:limit]
            next_id = ids[-1]
            break
        if glance.last_id is None or glance.looked_at < asked:
            break
        if looked_at >= most:
            next_id = glance.last_id
            break
        before_at, before_id = time_of(glance.last_id), glance.last_id
    found = await store.find_executions(tx, ids)
    return Found(items=[found[one] for one in ids if one in found], next_id=next_id)


def _start(until: datetime | None, after: After | None, now: datetime) -> tuple[datetime, str]:
    if after is not None and (until is None or after.created_at < until):
        return after.created_at, after.id
    at = until or now + _AHEAD
    # Ids know milliseconds: what began within this one began before the next.
    at += timedelta(microseconds=-at.microsecond % 1000)
    return at, store.first_id(at)
