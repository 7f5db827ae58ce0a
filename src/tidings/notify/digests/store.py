"""Windows as people see them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.digests.errors import UnknownDigestError
from tidings.notify.digests.flush_store import FlushResult
from tidings.notify.ids import DigestWindowId

QUERIES = Queries.beside(__file__)

DigestState = Literal["open", "flushing", "flushed"]


class DigestWindow(Struct, frozen=True, kw_only=True):
    """A window, and how many of its items count."""

    id: DigestWindowId
    recipient_id: str
    category: str
    channel: str
    digest_key: str
    is_test: bool
    state: DigestState
    result: FlushResult | None
    window_start: datetime
    flush_at: datetime
    flushed_at: datetime | None
    digest_notification_id: NotificationId | None
    item_count: int


class WindowItem(Struct, frozen=True, kw_only=True):
    """A notification that has joined, and how it stands."""

    id: NotificationId
    status: str


_window = RowMapper(DigestWindow, [QUERIES.list_windows, QUERIES.find_window])
_item = RowMapper(WindowItem, [QUERIES.list_items])


async def list_windows(
    tx: TenantTx,
    *,
    states: Sequence[DigestState],
    recipient_id: str | None,
    category: str | None,
    channel: str | None,
    tests_only: bool,
    after_id: str | None,
    limit: int,
) -> list[DigestWindow]:
    """The newest first."""
    rows = await tx.fetch(
        QUERIES.list_windows,
        states=list(states),
        recipient_id=recipient_id,
        category=category,
        channel=channel,
        tests_only=tests_only,
        after_id=after_id,
        limit=limit,
    )
    return [_window(row) for row in rows]


async def find_window(tx: TenantTx, window_id: DigestWindowId, *, tests_only: bool) -> DigestWindow:
    """The window; an `UnknownDigestError` where there is none, or, for a test key, none of its tests."""
    row = await tx.fetch_one(QUERIES.find_window, id=window_id)
    if row is None or (tests_only and not row["is_test"]):
        raise UnknownDigestError(f"there is no digest window with the id {window_id}")
    return _window(row)


async def list_items(tx: TenantTx, window_id: DigestWindowId, *, limit: int) -> list[WindowItem]:
    """Its items, the oldest first."""
    return [_item(row) for row in await tx.fetch(QUERIES.list_items, id=window_id, limit=limit)]


async def flush_now(tx: TenantTx, window_id: DigestWindowId, *, now: datetime) -> bool:
    """Whether it was open; it is due from now on."""
    return await tx.fetch_value(QUERIES.flush_now, id=window_id, now=now) is not None
