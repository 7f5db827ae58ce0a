"""Notifications join the windows that are open for them, or open new ones: one statement for a set of whatever tenants."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct

from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import columns, sparse_columns, tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import DIGEST_WINDOW, DigestWindowId

QUERIES = Queries.beside(__file__)

#: A window with so many is flushed at once: a digest is one transaction, and nobody reads a longer one.
MOST_ITEMS: Final = 1_000


class WindowKey(NamedTuple):
    """What a window is known by while it is open."""

    tenant_id: TenantId
    #: Who is written to.
    recipient_id: str
    category: str
    channel: str
    digest_key: str
    is_test: bool


class Joining(Struct, frozen=True, kw_only=True):
    """A notification that is to join."""

    key: WindowKey
    flush_at: datetime
    window_end: datetime
    slides: bool
    #: It expires soon after.
    flush_by: datetime | None
    created_at: datetime


class OpenWindow(NamedTuple):
    """The window that was joined."""

    id: DigestWindowId
    flush_at: datetime


class _Group(Struct, kw_only=True):
    """Those of a set that join the same window."""

    id: DigestWindowId
    key: WindowKey
    flush_at: datetime
    window_end: datetime
    slides: bool
    flush_by: datetime | None
    item_count: int
    oldest: datetime
    newest: datetime


async def join_windows(
    tx: TenantTx | TenantsTx, joining: Sequence[Joining], *, now: datetime
) -> Mapping[WindowKey, OpenWindow]:
    """The window of each."""
    groups: dict[WindowKey, _Group] = {}
    for one in joining:
        group = groups.get(one.key)
        if group is None:
            groups[one.key] = _Group(
                id=DIGEST_WINDOW.new(now),
                key=one.key,
                flush_at=one.flush_at,
                window_end=one.window_end,
                slides=one.slides,
                flush_by=one.flush_by,
                item_count=1,
                oldest=one.created_at,
                newest=one.created_at,
            )
            continue
        group.item_count += 1
        group.oldest, group.newest = min(group.oldest, one.created_at), max(group.newest, one.created_at)
        if one.flush_by is not None:
            group.flush_by = one.flush_by if group.flush_by is None else min(group.flush_by, one.flush_by)
    made = list(groups.values())
    rows = await tx.fetch(
        QUERIES.join_windows,
        now=now,
        most=MOST_ITEMS,
        **columns(
            made,
            "id key.tenant_id key.recipient_id key.channel key.digest_key window_end flush_at item_count oldest newest",
            categories="key.category",
            are_tests="key.is_test",
            slides="slides",
        ),
        **sparse_columns(made, flush_bys="flush_by"),
    )
    return {
        WindowKey(
            row["tenant_id"],
            row["recipient_id"],
            row["category"],
            row["channel"],
            row["digest_key"],
            row["is_test"],
        ): OpenWindow(row["id"], row["flush_at"])
        for row in rows
    }


async def leave_windows(tx: TenantTx | TenantsTx, left: Sequence[tuple[TenantId, DigestWindowId]]) -> None:
    """Take back that these have joined, in the transaction in which they did."""
    await tx.execute(QUERIES.leave_windows, **tuple_columns(left, "tenant_ids ids"))
