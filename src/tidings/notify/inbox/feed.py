"""Reads a feed: the newest first, a page at a time. A request reads so many rows at most, whatever it filters by."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger, why
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox import store
from tidings.notify.inbox.errors import UnknownInboxItemError
from tidings.notify.inbox.model import Inbox, InboxItem, InboxKey, purpose_of
from tidings.notify.inbox_content.model import InboxContent
from tidings.notify.inbox_content.read import decode_content

View: TypeAlias = Literal["inbox", "unread", "archived", "snoozed", "all"]
#: Rows that a request looks at, where few of them fit.
_MOST_LOOKED_AT: Final = 2000
_NEXT_LOOK: Final = 500

_log = get_logger("inbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxQuery:
    """What is wanted of a feed."""

    view: View = "inbox"
    category: str | None = None
    tag: str | None = None
    #: The place that the page before ended at.
    below: int = store.TOP
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedItem:
    """An item with its content."""

    item: InboxItem
    content: InboxContent


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxFeedPage:
    """A page of a feed, and the counts of its inbox."""

    items: Sequence[OpenedItem]
    inbox: Inbox
    #: Where the next page begins; None: there is nothing more.
    goes_on: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxReader:
    """Reads inboxes."""

    keyring: Keyring
    clock: Clock

    async def page(self, tx: TenantTx, key: InboxKey, query: InboxQuery) -> InboxFeedPage:
        """The next items that fit, and where to go on."""
        now = self.clock.now()
        fitting: list[InboxItem] = []
        below, looked, wanted = query.below, 0, query.limit + 1
        most = wanted
        by_category = query.category if query.view != "unread" else None
        goes_on: int | None = None
        while True:
            found = await store.read_feed(
                tx, key, below=below, most=most, category=by_category, unread=query.view == "unread"
            )
            fitting += [item for item in found if fits(item, query, now)]
            looked += len(found)
            if len(fitting) > query.limit:
                fitting = fitting[: query.limit]
                goes_on = fitting[-1].place
                break
            if len(found) < most:
                break
            below = found[-1].place
            if looked >= _MOST_LOOKED_AT:
                goes_on = below
                break
            most = _NEXT_LOOK
        inbox = await store.find_inbox(tx, key) or Inbox()
        return InboxFeedPage(items=await self.opened(tx, key, fitting), inbox=inbox, goes_on=goes_on)

    async def one(self, tx: TenantTx, key: InboxKey, item_id: InboxItemId) -> OpenedItem:
        """One item; an `UnknownInboxItemError` where it is not there."""
        found = (await store.load_items(tx, key, [item_id])).get(item_id)
        if found is None or found.removed_at is not None or found.expires_at <= self.clock.now():
            raise UnknownInboxItemError
        return (await self.opened(tx, key, [found]))[0]

    async def opened(self, tx: TenantTx, key: InboxKey, items: Sequence[InboxItem]) -> list[OpenedItem]:
        """With their content; one that can't be opened any more has an empty title."""
        if not items:
            return []
        found = await self.keyring.data_keys(tx, [key.recipient_id], create=False)
        opens = found.get(key.recipient_id)
        return [OpenedItem(item=item, content=content_of(item, opens)) for item in items]


def fits(item: InboxItem, query: InboxQuery, now: datetime) -> bool:
    """Whether an item is among those that are asked for."""
    if item.removed_at is not None or item.expires_at <= now:
        return False
    if query.category not in (None, item.category) or (query.tag is not None and query.tag not in item.tags):
        return False
    match query.view:
        case "inbox":
            return item.in_view
        case "unread":
            return item.is_unread
        case "archived":
            return item.archived_at is not None
        case "snoozed":
            return item.snoozed_until is not None
        case "all":
            return True


def content_of(item: InboxItem, key: DataKey | None) -> InboxContent:
    """What it says; an empty title where that can't be read any more."""
    if key is not None and item.content is not None:
        try:
            return decode_content(key.unseal(item.content, purpose_of(item.id)))
        except DestroyedKeyError:
            pass
        except UnreadableError as error:
            # One row that is damaged is no fault of the others of its page.
            _log.error("inbox_item_unreadable", item_id=item.id, **why(error))
    return InboxContent(title="")
