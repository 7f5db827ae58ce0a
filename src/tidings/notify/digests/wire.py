"""Digest windows as JSON."""

from typing import Literal

from msgspec import Struct

from tidings.contracts.enums import Category
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.notify.digests.flush_store import FlushResult
from tidings.notify.digests.store import DigestState, DigestWindow, WindowItem


class ListDigests(PageQuery, frozen=True, kw_only=True):
    """Which windows are wanted; open ones where nothing is said."""

    state: DigestState = "open"
    #: Who is written to, by id.
    recipient: str | None = None
    category: Category | None = None
    channel: Channel | Literal["auto"] | None = None


class DigestView(Struct, frozen=True, kw_only=True):
    """A digest that is being gathered, or was sent."""

    id: str
    #: Who is written to.
    recipient_id: str
    category: str
    channel: str
    #: Tells several digests of one category apart; empty for the usual one.
    digest_key: str
    #: `open`: more may join. `flushing`: its message is being made. `flushed`: it is over.
    state: DigestState
    #: How it ended: `digest`, one message for all; `single`, its only item by itself; `empty`, nothing was left; `apart`, no digest
    #: could be made, and each went by itself. Null until then.
    result: FlushResult | None
    opened_at: Moment
    #: When it is flushed, or was to be.
    flush_at: Moment
    flushed_at: Moment | None
    #: Notifications in it; those that were cancelled, expired or suppressed do not count.
    item_count: int
    #: The notification that took their place.
    digest_notification_id: str | None
    is_test: bool

    @classmethod
    def of(cls, window: DigestWindow) -> "DigestView":
        """A window as it is shown."""
        return by_name(cls, window, opened_at=window.window_start)


class DigestItemView(Struct, frozen=True, kw_only=True):
    """A notification in it."""

    id: str
    status: str


class DigestDetails(DigestView, frozen=True, kw_only=True):
    """The same with its items."""

    #: The oldest first, 1,000 at most; also those that were cancelled since.
    items: list[DigestItemView]

    @classmethod
    def with_items(cls, window: DigestWindow, items: list[WindowItem]) -> "DigestDetails":
        """A window as it is shown by itself."""
        shown = [by_name(DigestItemView, item) for item in items]
        return by_name(cls, window, opened_at=window.window_start, items=shown)
