"""Engagement: a recipient read a message, opened it or followed a link. The first time of each is kept, told and counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import NotificationId
from tidings.contracts.notifications import NotificationEngaged
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import attributes, by_name
from tidings.kernel.outbox import Outbox
from tidings.notify.receipts import store
from tidings.notify.receipts.model import Seen, Subject


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Engagements:
    """Notes sets of them, for notifications that are locked."""

    outbox: Outbox
    clock: Clock
    stripe: int = 0

    async def note(
        self, tx: TenantTx, subjects: Mapping[NotificationId, Subject], seen: Sequence[Seen]
    ) -> list[Seen]:
        """Those that were the first of their kind: each is told once. Of a recipient who was erased nothing is kept."""
        known = [one for one in seen if one.notification_id in subjects]
        kept = [one for one in known if not subjects[one.notification_id].erased]
        if not kept:
            return []
        now = self.clock.now()
        await store.note_engagements(tx, kept, now=now)
        first: dict[tuple[NotificationId, str], Seen] = {}
        for one in sorted(kept, key=lambda one: one.at):
            if one.what not in subjects[one.notification_id].done:
                first.setdefault((one.notification_id, one.what), one)
        fresh = list(first.values())
        happened = Counter(_counted(one, subjects[one.notification_id]) for one in fresh)
        await store.count(tx, happened, now=now, stripe=self.stripe)
        told = [(subjects[one.notification_id], one.what) for one in fresh]
        await store.count_in_batches(tx, told, stripe=self.stripe)
        await self.outbox.append(
            tx, [_event(tx.tenant_id, one, subjects[one.notification_id], self.clock) for one in fresh]
        )
        return fresh


def _counted(seen: Seen, subject: Subject) -> tuple[str, str, str]:
    return seen.what, subject.channel, subject.category


def _event(tenant_id: TenantId, seen: Seen, subject: Subject, clock: Clock) -> Event:
    return new_event(
        f"notification.{seen.what}.v1",
        by_name(
            NotificationEngaged,
            seen,
            notification_id=subject.id,
            **attributes(subject, "category template_key correlation_id is_test"),
        ),
        tenant_id=tenant_id,
        ordering_key=subject.id,
        source=NOTIFY_SOURCE,
        clock=clock,
    )
