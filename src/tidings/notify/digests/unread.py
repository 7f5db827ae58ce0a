"""The last digest of a window's key, where its reader has not opened it though they open others: the next one tells its items again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from tidings.contracts.enums import AUTO
from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import Row, TenantsTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import columns, tuple_columns
from tidings.kernel.sql import Queries, created_columns
from tidings.notify.digests.flush_store import FlushedWindow
from tidings.notify.digests.lines import MOST_SHOWN
from tidings.notify.facts.model import Facts
from tidings.notify.ids import DigestWindowId

QUERIES = Queries.beside(__file__)

#: Digests that are looked at: the last, and those before it that may have been opened.
_MOST_LOOKED_AT: Final = 10
#: Channels on which opening is seen by tracking alone.
_TRACKED: Final[frozenset[Channel | str]] = frozenset({"email", AUTO})


class UnreadDigest(Struct, frozen=True, kw_only=True):
    """A digest that was delivered and not opened."""

    id: NotificationId
    tenant_id: TenantId
    #: The window that it was made of.
    window_id: DigestWindowId
    recipient_id: str
    oldest_item_at: datetime
    newest_item_at: datetime


def may_merge(window: FlushedWindow, facts: Facts) -> bool:
    """Whether the schedule in force merges unread digests, and reading can be seen.

    Of mails it is seen where the tenant and the category have opens tracked, of other channels by receipts of vendors.
    """
    person = facts.people.get(window.recipient_id)
    choice = None if person is None else facts.digest_choice(person, window.category)
    if choice is None or not choice.merge_unread:
        return False
    policy, tracking = facts.categories.get(window.category), facts.tenant.policy.tracking
    return window.channel not in _TRACKED or (
        policy is not None and policy.tracking_allowed and tracking is not None and tracking.opens
    )


async def find_unread(
    tx: TenantsTx, windows: Sequence[FlushedWindow]
) -> Mapping[DigestWindowId, UnreadDigest]:
    """The unread digest before each of these windows, where there is one."""
    rows = await tx.fetch(QUERIES.find_last_digests, most=_MOST_LOOKED_AT, **columns(windows, "tenant_id id"))
    if not rows:
        return {}
    by_id = {window.id: window for window in windows}
    ids = [(by_id[row["window_id"]].tenant_id, NotificationId(row["digest_notification_id"])) for row in rows]
    engagement = await tx.fetch(
        QUERIES.find_engagement,
        **tuple_columns(ids, "tenant_ids ids"),
        **created_columns([time_of(id_) for _, id_ in ids]),
    )
    engaged: dict[str, Row] = {row["id"]: row for row in engagement}
    found: dict[DigestWindowId, UnreadDigest] = {}
    for window in windows:
        unread = _unread(window, [row for row in rows if row["window_id"] == window.id], engaged)
        if unread is not None:
            found[window.id] = unread
    return found


async def find_told(
    tx: TenantsTx, digests: Sequence[UnreadDigest], *, now: datetime
) -> dict[DigestWindowId, list[NotificationId]]:
    """What these digests told that is still worth telling, by their windows; the newest first."""
    found: dict[DigestWindowId, list[NotificationId]] = {digest.window_id: [] for digest in digests}
    rows = await tx.fetch(
        QUERIES.find_told,
        now=now,
        most=MOST_SHOWN,
        oldest=min(digest.oldest_item_at for digest in digests),
        newest=max(digest.newest_item_at for digest in digests),
        **columns(
            digests,
            "tenant_id recipient_id",
            ids="window_id",
            oldests="oldest_item_at",
            newests="newest_item_at",
        ),
    )
    for row in rows:
        found[row["window_id"]].append(row["id"])
    return found


def _unread(window: FlushedWindow, before: Sequence[Row], engaged: Mapping[str, Row]) -> UnreadDigest | None:
    """The last one, if it arrived and was not read. Whose digests were never seen to be read is told nothing twice: it may just not show."""
    known = [engaged.get(row["digest_notification_id"]) for row in before]
    if not known or known[0] is None or known[0]["status"] != "delivered" or known[0]["was_read"]:
        return None
    if not any(digest is not None and digest["was_read"] for digest in known[1:]):
        return None
    last = before[0]
    return UnreadDigest(
        id=NotificationId(last["digest_notification_id"]),
        tenant_id=window.tenant_id,
        window_id=DigestWindowId(last["last_window_id"]),
        recipient_id=window.recipient_id,
        oldest_item_at=last["oldest_item_at"],
        newest_item_at=last["newest_item_at"],
    )
