"""An item of an inbox and what may be done with it; no I/O.

What is removed, archived or snoozed is out of view, and what is out of view is counted nowhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from tidings.contracts.enums import Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.ids import TenantId
from tidings.notify.ids import InboxItemId

#: How long items are kept, by the retention class of their category.
KEPT: Final[Mapping[str, timedelta]] = {
    "regulated": timedelta(days=365),
    "standard": timedelta(days=180),
    "marketing": timedelta(days=90),
}
#: What can be done with one item.
Verb: TypeAlias = Literal["read", "unread", "see", "archive", "unarchive", "snooze", "unsnooze", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxKey:
    """Whose inbox: a person's for what is live, or for tests."""

    tenant_id: TenantId
    recipient_id: RecipientId
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """An inbox, locked for as long as its transaction changes items."""

    #: Items in view that were not read, and that were not seen.
    unread: int = 0
    unseen: int = 0
    #: Grows with every change.
    latest: int = 0
    #: Tokens that were made before are void.
    tokens_from: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An item as it stands."""

    id: InboxItemId
    #: Its place in the feed: the newest is the highest.
    place: int
    category: str
    priority: Priority
    tags: tuple[str, ...]
    arrived_at: datetime
    expires_at: datetime
    seen_at: datetime | None = None
    read_at: datetime | None = None
    archived_at: datetime | None = None
    snoozed_until: datetime | None = None
    acted: str | None = None
    acted_at: datetime | None = None
    removed_at: datetime | None = None
    #: Under the reader's key.
    content: bytes | None = field(default=None, repr=False)

    @property
    def notification_id(self) -> NotificationId:
        """The notification that it is named after."""
        return notification_of(self.id)

    @property
    def in_view(self) -> bool:
        """Whether the feed shows it by itself."""
        return self.removed_at is None and self.archived_at is None and self.snoozed_until is None

    @property
    def is_unread(self) -> bool:
        """Whether it counts as unread."""
        return self.in_view and self.read_at is None

    @property
    def is_unseen(self) -> bool:
        """Whether it counts as unseen."""
        return self.in_view and self.seen_at is None

    @property
    def due_at(self) -> datetime | None:
        """When something becomes of it by itself."""
        if self.removed_at is not None:
            return None
        return self.expires_at if self.snoozed_until is None else min(self.snoozed_until, self.expires_at)

    def after(self, verb: Verb, now: datetime, until: datetime | None = None) -> "InboxItem":
        """The same after one thing was done with it; done again, it stays as it is. `until`: the end of a snooze."""
        match verb:
            case "read":
                return replace(self, read_at=self.read_at or now, seen_at=self.seen_at or now)
            case "unread":
                return replace(self, read_at=None)
            case "see":
                return replace(self, seen_at=self.seen_at or now)
            case "archive":
                return replace(self, archived_at=self.archived_at or now, snoozed_until=None)
            case "unarchive":
                return replace(self, archived_at=None)
            case "snooze":
                return replace(self, snoozed_until=until, archived_at=None)
            case "unsnooze":
                return replace(self, snoozed_until=None)
            case "delete":
                return self.removed(now)

    def returned(self, place: int) -> "InboxItem":
        """The same when its snooze is over: on top, and new."""
        return replace(self, snoozed_until=None, read_at=None, seen_at=None, place=place)

    def removed(self, now: datetime) -> "InboxItem":
        """Without its content, and in no feed."""
        return replace(self, removed_at=self.removed_at or now, snoozed_until=None, content=None)


def item_of(notification_id: str) -> InboxItemId:
    """The item of a notification: there is one at most."""
    return InboxItemId(f"inb_{notification_id[-26:]}")


def notification_of(item_id: str) -> NotificationId:
    """The notification of an item."""
    return NotificationId(f"ntf_{item_id[-26:]}")


def purpose_of(item_id: str) -> str:
    """What the content of an item is sealed for: in another row it does not open."""
    return f"inbox:{item_id}"


def expiry_of(retention: str, arrived_at: datetime, wanted: datetime | None) -> datetime:
    """When an item that arrives now is removed: as its content says, and never later than its category keeps it."""
    kept = arrived_at + KEPT[retention]
    return kept if wanted is None else min(wanted, kept)
