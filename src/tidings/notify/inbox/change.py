"""The use case "a person does something with what is in their inbox": items and counts change together, and twice is once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.inbox import IN_APP
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.outbox import Outbox
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox import store
from tidings.notify.inbox.errors import UnknownInboxItemError
from tidings.notify.inbox.model import Inbox, InboxItem, InboxKey, Verb
from tidings.notify.metrics import NotifyMetrics
from tidings.notify.receipts import store as receipt_store
from tidings.notify.receipts.engagement import Engagements
from tidings.notify.receipts.model import Seen

#: What becomes of one item; it is not changed in place.
Change = Callable[[InboxItem], InboxItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedInbox:
    """An inbox after a change, with the items that it was about."""

    inbox: Inbox
    items: Sequence[InboxItem]
    #: How many of them are other than they were.
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxChanger:
    """Changes items of one inbox; every change locks it first."""

    outbox: Outbox
    clock: Clock
    metrics: NotifyMetrics
    #: Which of the counts this process adds to.
    stripe: int = 0

    async def do(
        self,
        tx: TenantTx,
        key: InboxKey,
        ids: Sequence[InboxItemId],
        verb: Verb,
        *,
        until: datetime | None = None,
    ) -> ChangedInbox:
        """Do one thing with these items; an `UnknownInboxItemError` where one is not there. What was deleted can be deleted again."""
        now = self.clock.now()
        inbox, items = await self.open(tx, key, ids)
        missing = set(ids) - {item.id for item in items if verb == "delete" or not _gone(item, now)}
        if missing:
            raise UnknownInboxItemError
        return await self.write(tx, key, inbox, items, lambda item: item.after(verb, now, until))

    async def open(
        self, tx: TenantTx, key: InboxKey, ids: Sequence[InboxItemId]
    ) -> tuple[Inbox, list[InboxItem]]:
        """The inbox, locked, with those of these items that it has, removed ones too."""
        inbox = (await store.lock_inboxes(tx, [key]))[key]
        found = await store.load_items(tx, key, ids)
        return inbox, [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]

    async def write(
        self, tx: TenantTx, key: InboxKey, inbox: Inbox, items: Sequence[InboxItem], change: Change
    ) -> ChangedInbox:
        """Apply a change to items of a locked inbox: rows, counts, what is told of it."""
        now = self.clock.now()
        pairs = [(before, change(before)) for before in items]
        changed = [(before, after) for before, after in pairs if after != before]
        if not changed:
            return ChangedInbox(inbox=inbox, items=items, changed=0)
        unread = sum(after.is_unread - before.is_unread for before, after in changed)
        unseen = sum(after.is_unseen - before.is_unseen for before, after in changed)
        # A number for each change, as streams are told them one by one.
        latest = max(inbox.latest + len(changed), *(after.place for _, after in changed))
        await store.write_items(
            tx, key, [after for _, after in changed], unread=unread, unseen=unseen, latest=latest
        )
        await self._tell_read(tx, key, changed, now)
        await store.announce(tx, [key])
        after_all = Inbox(
            unread=inbox.unread + unread,
            unseen=inbox.unseen + unseen,
            latest=latest,
            tokens_from=inbox.tokens_from,
        )
        return ChangedInbox(inbox=after_all, items=[after for _, after in pairs], changed=len(changed))

    async def _tell_read(
        self,
        tx: TenantTx,
        key: InboxKey,
        changed: Sequence[tuple[InboxItem, InboxItem]],
        now: datetime,
    ) -> None:
        """The notification learns of it, and by the event its ladder and the person's profile do."""
        read = [
            after.notification_id
            for before, after in changed
            if before.read_at is None and after.read_at is not None
        ]
        if not read:
            return
        subjects = await receipt_store.lock_subjects(tx, dict.fromkeys(read, key.recipient_id))
        seen = [
            Seen(
                notification_id=id_,
                what="read",
                recipient_id=key.recipient_id,
                channel=IN_APP,
                at=now,
                source="inbox",
            )
            for id_ in read
        ]
        engagements = Engagements(outbox=self.outbox, clock=self.clock, stripe=self.stripe)
        await engagements.note(tx, subjects, seen)
        self.metrics.inbox_items.labels("read").inc(len(read))


def _gone(item: InboxItem, now: datetime) -> bool:
    return item.removed_at is not None or item.expires_at <= now
