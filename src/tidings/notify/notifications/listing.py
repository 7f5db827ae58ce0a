"""Walks back through a tenant's notifications and gathers those that fit, never looking at more rows than it may.

Statuses, categories and the like have no index: one would be rewritten with every change of a row on the hottest
table. So a list looks at rows in their own order, some thousands in a request, and where few of them fit it answers
with those and a cursor to go on from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.kernel.http.paging import After
from tidings.kernel.ids import time_of
from tidings.notify.notifications import read_store
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.read_store import Filter

#: Rows that one statement looks at, and one request at most.
CHUNK: Final = 2_000
MOST_LOOKED_AT: Final = 20_000

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Clocks of two machines differ; nothing is newer than this, and later months need not be opened.
_AHEAD: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Some notifications that fit, the newest first."""

    items: Sequence[Notification]
    #: Where to go on; None where there is nothing more.
    next_id: NotificationId | None


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
    """Up to `limit` that were made in `since` ≤ t < `until`, from a cursor on."""
    before_at, before_id = _start(until, after, now)
    # Without a filter the first rows are the page.
    filtered = any(
        (
            wanted.status,
            wanted.channel,
            wanted.category,
            wanted.template,
            wanted.correlation_id,
            wanted.found_by,
            wanted.tests_only,
        )
    )
    step = chunk if filtered else limit + 1
    ids: list[NotificationId] = []
    looked_at, next_id = 0, None
    while True:
        asked = min(step, most - looked_at)
        glance = await read_store.look_back(
            tx,
            wanted,
            since=since or _BEGINNING,
            before_at=before_at,
            before_id=before_id,
            most=asked,
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
        before_at, before_id = _place(glance.last_id)
    found = await read_store.find_notifications(tx, ids=ids)
    return Found(items=[found[wanted_id] for wanted_id in ids if wanted_id in found], next_id=next_id)


def _start(until: datetime | None, after: After | None, now: datetime) -> tuple[datetime, str]:
    if after is not None and (until is None or after.created_at < until):
        return after.created_at, after.id
    # No id is smaller than the empty one: everything before that moment.
    return until or now + _AHEAD, ""


def _place(last_id: NotificationId) -> tuple[datetime, str]:
    return time_of(last_id), last_id
