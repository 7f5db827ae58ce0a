"""The use case "what is planned?": a page of the schedule, by a bounded scan.

Entries change as they are planned, released and ended; an index for each filter would be rewritten with all of that.
"""

from functools import partial
from typing import Final, TypeAlias

from tidings.kernel.bounded_scan import CHUNK, MOST_LOOKED_AT, ScannedPage, scan_back
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.schedule import store
from tidings.notify.schedule.model import ScheduledWork
from tidings.notify.schedule.store import WorkCriteria

#: Greater than every id.
_NEWEST: Final = "sch_~"

FoundWork: TypeAlias = ScannedPage[ScheduledWorkId, ScheduledWork]


async def list_work(
    tx: TenantTx,
    wanted: WorkCriteria,
    *,
    after_id: str | None,
    limit: int,
    clock: Clock,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> FoundWork:
    """Up to `limit` entries, the newest first, from a cursor on."""
    return await scan_back(
        partial(store.look_back, tx, wanted),
        partial(store.find_several, tx),
        start=(clock.now(), after_id or _NEWEST),
        limit=limit,
        filtered=wanted.narrows,
        chunk=chunk,
        most=most,
    )
