"""The only Python that takes windows from open to flushed."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from tidings.contracts.enums import NotificationStatus, Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx, WorkerTx
from tidings.kernel.durable.claims import Claim, TableClaims
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, sparse_columns, tuple_columns
from tidings.kernel.outbox import event_columns
from tidings.kernel.sql import Queries, created_columns
from tidings.notify.accept.row import AnyChannel
from tidings.notify.decide.reasons import GateReason
from tidings.notify.ids import DigestWindowId

QUERIES = Queries.beside(__file__)


class WindowClaims(TableClaims[DigestWindowId]):
    """Windows that are due; also one that writers never leave alone."""

    def __init__(self, overdue: Callable[[float], object]) -> None:
        """`overdue` hears, at each look, for how many seconds the oldest has been due."""
        super().__init__(claim=QUERIES.claim, next_due=QUERIES.next_due, free_orphans=QUERIES.free_orphans)
        self._overdue = overdue

    async def claim(
        self, tx: WorkerTx, *, worker: str, now: datetime, limit: int, full: Collection[TenantId] = ()
    ) -> list[Claim[DigestWindowId]]:
        """Those that are free; where none is, the first that is due as soon as its writers let it go."""
        oldest: datetime | None = await tx.fetch_value(QUERIES.oldest_due)
        self._overdue(0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()))
        if oldest is None or oldest > now:
            return []
        claims = await super().claim(tx, worker=worker, now=now, limit=limit, full=full)
        if claims:
            return claims
        try:
            async with tx.savepoint():
                await tx.fetch(QUERIES.wait_briefly)
                rows = await tx.fetch(QUERIES.claim_locked, worker=worker, now=now)
        except DatabaseBusyError:
            return []
        return [Claim(row["tenant_id"], row["id"]) for row in rows]


#: So long a window is kept that was flushed.
_KEEPS: Final = timedelta(days=30)

#: How a flush ended: one message for all, its only item by itself, nothing left, or each by itself because no digest could be made.
FlushResult = Literal["digest", "single", "empty", "apart"]


class FlushedWindow(Struct, frozen=True, kw_only=True):
    """A window that is being flushed."""

    tenant_id: TenantId
    id: DigestWindowId
    recipient_id: RecipientId
    category: str
    channel: AnyChannel
    is_test: bool
    oldest_item_at: datetime
    newest_item_at: datetime
    #: Flushes that ended in an error.
    attempts: int


class DigestItem(Struct, frozen=True, kw_only=True):
    """A notification that waits in a window, as far as its event and its row need it."""

    window_id: DigestWindowId
    tenant_id: TenantId
    id: NotificationId
    created_at: datetime
    retention_class: str
    recipient_id: RecipientId
    channel: AnyChannel
    category: str
    template_key: str
    priority: Priority
    correlation_id: str | None
    is_test: bool
    expires_at: datetime
    traceparent: str | None
    #: Made for a guardian, of another one.
    is_copy: bool


class SettledItem(Struct, frozen=True, kw_only=True):
    """What an item comes to."""

    item: DigestItem
    status: NotificationStatus
    trace: str
    reason: str | None = None
    #: Its place in the queue, where it goes on by itself.
    rank: int | None = None


class ClosedWindow(Struct, frozen=True, kw_only=True):
    """How a window ended."""

    tenant_id: TenantId
    id: DigestWindowId
    result: FlushResult
    digest_notification_id: NotificationId | None = None


_window = RowMapper(FlushedWindow, [QUERIES.load_windows])
_item = RowMapper(DigestItem, [QUERIES.lock_items])


async def load_windows(
    tx: TenantsTx, claims: Sequence[Claim[DigestWindowId]], *, worker: str
) -> list[FlushedWindow]:
    """Those that this worker still has."""
    rows = await tx.fetch(QUERIES.load_windows, worker=worker, **tuple_columns(claims, "tenant_ids ids"))
    return [_window(row) for row in rows]


async def find_items(
    tx: TenantsTx, windows: Sequence[FlushedWindow], *, most: int
) -> dict[DigestWindowId, list[NotificationId]]:
    """The newest items of each window, the newest first."""
    found: dict[DigestWindowId, list[NotificationId]] = {window.id: [] for window in windows}
    for row in await tx.fetch(QUERIES.find_items, most=most, **_months(windows)):
        found[row["window_id"]].append(row["id"])
    return found


async def lock_windows(
    tx: TenantsTx, windows: Sequence[FlushedWindow], *, worker: str
) -> set[DigestWindowId]:
    """Those that this worker still has, locked."""
    rows = await tx.fetch(QUERIES.lock_windows, worker=worker, **columns(windows, "tenant_id id"))
    return {row["id"] for row in rows}


async def lock_items(
    tx: TenantsTx, windows: Sequence[FlushedWindow]
) -> dict[DigestWindowId, list[DigestItem]]:
    """All items that are still wanted, locked."""
    found: dict[DigestWindowId, list[DigestItem]] = {window.id: [] for window in windows}
    copied = GateReason.COPY_FOR_GUARDIAN.value
    for row in await tx.fetch(QUERIES.lock_items, copied=copied, **_months(windows)):
        found[row["window_id"]].append(_item(row))
    return found


async def settle_items(
    tx: TenantsTx, settled: Sequence[SettledItem], events: Sequence[Event], *, now: datetime, stripe: int
) -> None:
    """Write what the items come to, with the event of each."""
    await tx.execute(
        QUERIES.settle_items,
        now=now,
        day=now.date(),
        stripe=stripe,
        **created_columns([one.item.created_at for one in settled]),
        **columns(
            settled,
            "item.tenant_id item.id trace",
            retention_classes="item.retention_class",
            statuses="status.value",
        ),
        **sparse_columns(settled, "reason rank"),
        **event_columns(events),
    )


async def mark_digests(tx: TenantsTx, digests: Sequence[tuple[TenantId, NotificationId, str]]) -> None:
    """Let it be known that these are digests."""
    await tx.execute(
        QUERIES.mark_digests,
        **tuple_columns(digests, "tenant_ids ids traces"),
        **created_columns([time_of(id_) for _, id_, _ in digests]),
    )


async def close_windows(tx: TenantsTx, closed: Sequence[ClosedWindow], *, now: datetime) -> None:
    """They are over."""
    await tx.execute(
        QUERIES.close_windows,
        now=now,
        **columns(closed, "tenant_id id result"),
        **sparse_columns(closed, "digest_notification_id"),
    )


async def give_back(
    tx: TenantsTx,
    claims: Sequence[Claim[DigestWindowId]],
    *,
    worker: str,
    error: str,
    to_blame: bool,
    now: datetime,
) -> None:
    """A flush ended in an error: it is tried again, a while later each time."""
    await tx.execute(
        QUERIES.give_back,
        worker=worker,
        error=error,
        blame=int(to_blame),
        now=now,
        **tuple_columns(claims, "tenant_ids ids"),
    )


async def sweep_flushed(
    db: Database, clock: Clock, *, limit: int, count: Callable[[int], object] = lambda _: None
) -> int:
    """Remove about so many windows that were flushed long ago; `count` hears how many are open."""
    async with db.worker() as tx:
        count(await tx.fetch_value(QUERIES.count_open))
        return await tx.execute(QUERIES.sweep_flushed, before=clock.now() - _KEEPS, limit=limit)


def _months(windows: Sequence[FlushedWindow]) -> dict[str, object]:
    return {
        **columns(windows, "tenant_id id", oldests="oldest_item_at", newests="newest_item_at"),
        "oldest": min(window.oldest_item_at for window in windows),
        "newest": max(window.newest_item_at for window in windows),
    }
