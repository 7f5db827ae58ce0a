"""How the router hands items for the in-app inbox to notify, which stores them; what it tells about them afterwards."""

from collections.abc import Sequence
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TenantId

#: The vendor of the channel `inapp`: the system itself. It needs no account.
IN_APP: Final[Channel] = "inapp"
#: Of notify: store these items.
DELIVER_ITEMS: Final = "notify.deliver_inbox_items.v1"
ACTED_SUBJECT: Final = "inbox.item.acted.v1"


class InboxDelivery(Struct, frozen=True, kw_only=True):
    """An item that is to be stored, rendered and checked."""

    tenant_id: TenantId
    notification_id: NotificationId
    #: Whose inbox it goes to: who is written to.
    recipient_id: RecipientId
    #: JSON, as notify rendered it.
    content: str

    def __repr__(self) -> str:
        return f"InboxDelivery({self.notification_id}, ***)"


class ItemStored(Struct, frozen=True, kw_only=True, tag=True):
    """It is in the inbox, now or since an earlier try."""

    item_id: str


class ItemRefused(Struct, frozen=True, kw_only=True, tag=True):
    """It can't be stored, now or later."""

    #: `recipient_erased`, `notification_unknown`.
    reason: str


class ItemPostponed(Struct, frozen=True, kw_only=True, tag=True):
    """It was not stored, and may be at another time."""

    #: `notify_away`, `inbox_busy`.
    reason: str


InboxResult: TypeAlias = ItemStored | ItemRefused | ItemPostponed


class InboxDeliveries(Protocol):
    """What notify offers the router: inboxes to deliver to. An item that is delivered again is stored once."""

    async def deliver(self, items: Sequence[InboxDelivery]) -> list[InboxResult]:
        """One result each, in the same order, whatever their tenants. When it returns, what is stored is committed."""
        ...


class DeliverItems(Struct, frozen=True, kw_only=True):
    """The router in another process asks for items to be stored."""

    items: tuple[InboxDelivery, ...]


class ItemsDelivered(Struct, frozen=True, kw_only=True):
    """What came of them, in their order."""

    results: tuple[InboxResult, ...]


class InboxItemActed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person chose an action of an item in their inbox: told once for each item."""

    item_id: str
    notification_id: str
    recipient_id: str
    #: The name of the action, as the template has it.
    action: str
    at: Moment
    category: str
    template_key: str
    correlation_id: str | None = None
    is_test: bool = False
    #: Always: a person with their inbox token, or the tenant for them.
    by: Literal["recipient", "tenant"] = "recipient"


def presence_key(recipient_id: str, *, is_test: bool) -> str:
    """Under which key it is kept who has the inbox of a person open: notify writes it, and the router's conditions ask for it."""
    return f"inbox:{'test' if is_test else 'live'}:{recipient_id}"


INBOX_EVENTS: dict[str, type[Struct]] = {ACTED_SUBJECT: InboxItemActed}
