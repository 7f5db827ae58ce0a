"""The use case "items are to be in their inboxes": stores sets, of whatever tenants, each item once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.inbox import InboxDelivery, InboxResult, ItemPostponed, ItemRefused, ItemStored
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring, Subject
from tidings.notify.inbox import store
from tidings.notify.inbox.model import Inbox, InboxKey, expiry_of, item_of, purpose_of
from tidings.notify.inbox.store import ItemSubject, NewItem
from tidings.notify.inbox_content.read import decode_content
from tidings.notify.metrics import NotifyMetrics

ERASED = "recipient_erased"
UNKNOWN = "notification_unknown"
_BUSY = ItemPostponed(reason="inbox_busy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """An item with all that storing it needs."""

    delivery: InboxDelivery
    subject: ItemSubject
    seal_with: DataKey

    @property
    def key(self) -> InboxKey:
        return InboxKey(
            tenant_id=self.delivery.tenant_id,
            recipient_id=self.delivery.recipient_id,
            is_test=self.subject.is_test,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxDeliverer:
    """Notify's `InboxDeliveries`."""

    db: Database
    keyring: Keyring
    clock: Clock
    metrics: NotifyMetrics

    async def deliver(self, items: Sequence[InboxDelivery]) -> list[InboxResult]:
        """One result each, in the same order; committed when it returns."""
        if not items:
            return []
        tenants = sorted({item.tenant_id for item in items})
        try:
            async with self.db.tenants(tenants, by_index=True) as tx:
                results, stored = await self._store(tx, items)
        except DatabaseBusyError:
            if len(tenants) == 1:
                return [_BUSY] * len(items)
            return await self._tenant_by_tenant(items, tenants)
        self.metrics.inbox_items.labels("stored").inc(stored)
        return results

    async def _tenant_by_tenant(
        self, items: Sequence[InboxDelivery], tenants: Sequence[TenantId]
    ) -> list[InboxResult]:
        """One person's inbox that is being changed holds up no other tenant's."""
        results: dict[int, InboxResult] = {}
        for tenant_id in tenants:
            places = [place for place, item in enumerate(items) if item.tenant_id == tenant_id]
            found = await self.deliver([items[place] for place in places])
            results |= dict(zip(places, found, strict=True))
        return [results[place] for place in range(len(items))]

    async def _store(self, tx: TenantsTx, items: Sequence[InboxDelivery]) -> tuple[list[InboxResult], int]:
        now = self.clock.now()
        subjects = await store.find_subjects(tx, items)
        readers = await store.hold_readers(tx, [(item.tenant_id, item.recipient_id) for item in items])
        keys = await self.keyring.data_keys_of(tx, readers)
        sorted_out = [_sorted_out(item, subjects, readers, keys) for item in items]
        ready = [one for one in sorted_out if isinstance(one, _Ready)]
        fresh: list[tuple[InboxKey, object]] = []
        if ready:
            inboxes = await store.lock_inboxes(tx, [one.key for one in ready])
            fresh = [*await store.store_items(tx, _new_items(ready, inboxes, now), now=now)]
            if fresh:
                await store.announce(tx, [key for key, _ in fresh])
        results: list[InboxResult] = [
            ItemStored(item_id=item_of(one.delivery.notification_id)) if isinstance(one, _Ready) else one
            for one in sorted_out
        ]
        return results, len(fresh)


def _sorted_out(
    item: InboxDelivery,
    subjects: Mapping[tuple[TenantId, NotificationId], ItemSubject],
    readers: set[tuple[TenantId, RecipientId]],
    keys: Mapping[Subject, DataKey],
) -> _Ready | ItemRefused:
    subject = subjects.get((item.tenant_id, item.notification_id))
    if subject is None:
        return ItemRefused(reason=UNKNOWN)
    key = keys.get((item.tenant_id, item.recipient_id))
    if (item.tenant_id, item.recipient_id) not in readers or key is None or key.destroyed:
        return ItemRefused(reason=ERASED)
    return _Ready(delivery=item, subject=subject, seal_with=key)


def _new_items(ready: Sequence[_Ready], inboxes: Mapping[InboxKey, Inbox], now: datetime) -> list[NewItem]:
    """In the order in which they came, each with the next place of its inbox."""
    tops = {key: inbox.latest for key, inbox in inboxes.items()}
    made: list[NewItem] = []
    for one in ready:
        tops[one.key] += 1
        content = decode_content(one.delivery.content)
        id_ = item_of(one.delivery.notification_id)
        made.append(
            NewItem(
                key=one.key,
                id=id_,
                place=tops[one.key],
                category=one.subject.category,
                priority=one.subject.priority,
                tags=content.tags,
                expires_at=expiry_of(one.subject.retention_class, now, content.expires_at),
                content=one.seal_with.seal(one.delivery.content.encode(), purpose_of(id_)),
            )
        )
    return made
