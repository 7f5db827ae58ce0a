"""Inboxes as JSON."""

from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Meta, Struct

from tidings.contracts.enums import Category, Priority
from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.notify.inbox.change import ChangedInbox
from tidings.notify.inbox.change_all import AllChanged
from tidings.notify.inbox.feed import OpenedItem, View
from tidings.notify.inbox.model import Inbox
from tidings.notify.inbox_content.model import InboxAction, Tag

#: Seconds.
_SHORTEST_TOKEN = 60
_LONGEST_TOKEN = 86_400
USUAL_TOKEN = 3_600


class ReadInbox(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which items are wanted."""

    #: `inbox`: neither archived nor snoozed.
    view: View = "inbox"
    #: Of this category alone, as a tab shows it.
    category: Category | None = None
    #: With this tag.
    tag: Tag | None = None


class InboxItemView(Struct, frozen=True, kw_only=True):
    """An item of an inbox."""

    id: str
    notification_id: str
    title: str
    #: Plain text, or Markdown where `body_html` is there.
    body: str
    #: HTML that can be shown as it is; null where the body is plain text.
    body_html: str | None
    #: Where a click on the item leads.
    link: str | None
    picture: str | None
    actions: list[InboxAction]
    category: str
    tags: list[str]
    priority: Priority
    #: What the template gave to the application.
    data: dict[str, Any]
    locale: str | None
    direction: str
    #: When it came into the inbox.
    created_at: Moment
    seen_at: Moment | None
    read_at: Moment | None
    archived_at: Moment | None
    snoozed_until: Moment | None
    #: The action that was chosen, and when.
    acted: str | None
    acted_at: Moment | None
    #: When it is removed.
    expires_at: Moment

    @classmethod
    def of(cls, opened: OpenedItem) -> Self:
        """As it is shown."""
        item, content = opened.item, opened.content
        return by_name(
            cls,
            item,
            tags=list(item.tags),
            actions=list(content.actions),
            created_at=item.arrived_at,
            title=content.title,
            body=content.body,
            body_html=content.body_html,
            link=content.link,
            picture=content.picture,
            data=content.data,
            locale=content.locale,
            direction=content.direction,
        )


class InboxPage(Struct, frozen=True, kw_only=True):
    """A page of an inbox, the newest first, and its counts."""

    items: list[InboxItemView]
    #: Items in view that were not read.
    unread: int
    #: Items in view that were not seen.
    unseen: int
    #: Null on the last page.
    next_cursor: str | None


class InboxCounts(Struct, frozen=True, kw_only=True):
    """How many items in view were not read, and not seen."""

    unread: int
    unseen: int

    @classmethod
    def of(cls, inbox: Inbox) -> Self:
        """The counts of an inbox."""
        return by_name(cls, inbox)


class InboxItemChanged(Struct, frozen=True, kw_only=True):
    """An item after a change, and the counts."""

    item: InboxItemView
    unread: int
    unseen: int

    @classmethod
    def of(cls, opened: OpenedItem, changed: ChangedInbox) -> Self:
        """As it is now."""
        return by_name(cls, changed.inbox, item=InboxItemView.of(opened))


class InboxActionChosen(Struct, frozen=True, kw_only=True):
    """An item after a choice, the counts, and who is told of it."""

    item: InboxItemView
    unread: int
    unseen: int
    #: How many webhooks of the tenant are called with it; 0: none wants `inbox.item.acted.v1`, so that nobody hears of it who
    #: does not read the events. Null: it had been chosen before, and was told then.
    webhooks: int | None

    @classmethod
    def of_change(cls, changed: InboxItemChanged, *, webhooks: int | None) -> Self:
        """As it is now."""
        return by_name(cls, changed, webhooks=webhooks)


class InboxAllChanged(Struct, frozen=True, kw_only=True):
    """How many items were changed, and the counts."""

    changed: int
    unread: int
    unseen: int

    @classmethod
    def of(cls, done: AllChanged) -> Self:
        """As it is now."""
        return by_name(cls, done.inbox, changed=done.changed)


class ReadAll(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be marked as read."""

    #: Of this category alone; without it, everything.
    category: Category | None = None


class SnoozeItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Until when an item is out of view."""

    #: Within a year; then it comes back on top, unread.
    until: datetime


class MakeInboxToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the token is to be."""

    #: Seconds that it works, a minute to a day.
    expires_in: Annotated[int, Meta(ge=_SHORTEST_TOKEN, le=_LONGEST_TOKEN)] = USUAL_TOKEN


class InboxTokenView(Struct, frozen=True, kw_only=True):
    """A token for the inbox of one recipient; it is shown once."""

    #: To be sent as `Authorization: Bearer …`; it opens `/api/v1/inbox` of this recipient and nothing else.
    token: str
    expires_at: Moment

    def __repr__(self) -> str:
        return "InboxTokenView(***)"
