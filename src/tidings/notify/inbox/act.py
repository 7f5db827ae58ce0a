"""The use case "a person chooses an action of an item": kept once, and told to the tenant once."""

from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.inbox import ACTED_SUBJECT, InboxItemActed
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event, new_event
from tidings.kernel.outbox import Outbox
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox.change import ChangedInbox, InboxChanger
from tidings.notify.inbox.errors import InboxItemActedError, UnknownInboxActionError, UnknownInboxItemError
from tidings.notify.inbox.feed import InboxReader
from tidings.notify.inbox.model import InboxItem, InboxKey
from tidings.notify.metrics import NotifyMetrics
from tidings.notify.receipts import store as receipt_store

#: A person with their inbox token, or the tenant for them.
ActedBy: TypeAlias = Literal["recipient", "tenant"]


class ActionListeners(Protocol):
    """The port to who is called when an action is chosen: the tenant's webhooks."""

    async def count_wanting(self, event: Event) -> int:
        """How many webhooks are told of it. It may take a connection of its own: ask when no transaction is open."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAction:
    """What came of a choice."""

    changed: ChangedInbox
    #: What the tenant is told; None: it was told before, or the person is gone.
    event: Event | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxActor:
    """Records which action of an item was chosen."""

    reader: InboxReader
    changer: InboxChanger
    outbox: Outbox
    clock: Clock
    metrics: NotifyMetrics

    async def act(
        self,
        tx: TenantTx,
        key: InboxKey,
        item_id: InboxItemId,
        action: str,
        *,
        by: ActedBy = "recipient",
    ) -> ChosenAction:
        """Record it; the item counts as read. The same action again changes nothing, another one is refused."""
        now = self.clock.now()
        inbox, items = await self.changer.open(tx, key, [item_id])
        item = next((one for one in items if one.removed_at is None and one.expires_at > now), None)
        if item is None:
            raise UnknownInboxItemError
        if item.acted == action:
            return ChosenAction(changed=ChangedInbox(inbox=inbox, items=items, changed=0), event=None)
        [opened] = await self.reader.opened(tx, key, [item])
        if action not in {one.name for one in opened.content.actions}:
            raise UnknownInboxActionError
        if item.acted is not None:
            raise InboxItemActedError

        def acted(before: InboxItem) -> InboxItem:
            return replace(before.after("read", now), acted=action, acted_at=now)

        done = await self.changer.write(tx, key, inbox, [item], acted)
        event = await self._tell(tx, key, item, action, by=by)
        self.metrics.inbox_items.labels("acted").inc()
        return ChosenAction(changed=done, event=event)

    async def _tell(
        self, tx: TenantTx, key: InboxKey, item: InboxItem, action: str, *, by: ActedBy
    ) -> Event | None:
        id_ = item.notification_id
        subject = (await receipt_store.lock_subjects(tx, {id_: key.recipient_id})).get(id_)
        if subject is None or subject.erased:
            return None
        event = new_event(
            ACTED_SUBJECT,
            InboxItemActed(
                item_id=item.id,
                notification_id=id_,
                recipient_id=key.recipient_id,
                action=action,
                at=self.clock.now(),
                category=item.category,
                template_key=subject.template_key,
                correlation_id=subject.correlation_id,
                is_test=key.is_test,
                by=by,
            ),
            tenant_id=tx.tenant_id,
            ordering_key=id_,
            source=NOTIFY_SOURCE,
            clock=self.clock,
        )
        await self.outbox.append(tx, [event])
        return event
