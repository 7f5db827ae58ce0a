"""The use cases "tell it once more" and "tell it what it has missed since then"."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.notify.webhooks import delivery_store
from tidings.notify.webhooks.change import WebhookChanger
from tidings.notify.webhooks.delivery_store import ChosenDeliveries
from tidings.notify.webhooks.errors import WebhookPausedError
from tidings.notify.webhooks.model import StoredWebhook, WebhookDeliveryStatus, WebhookStatus

#: Deliveries that are ordered anew in one transaction.
MOST_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRedelivery:
    """What was ordered anew."""

    count: int
    #: There may be more: order it again.
    more: bool
    #: What waits anyway, as far as that is counted.
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WebhookRedeliverer:
    """Orders deliveries anew."""

    changer: WebhookChanger
    audit: AuditLog
    clock: Clock

    async def redeliver(
        self, tx: TenantTx, webhook: StoredWebhook, chosen: ChosenDeliveries, *, dry_run: bool, actor: str
    ) -> WebhookRedelivery:
        """Tell these once more, from the first attempt on, under the webhook's lock; `dry_run`: only count them."""
        if webhook.status is WebhookStatus.PAUSED:
            raise WebhookPausedError
        if dry_run:
            count = await delivery_store.count_chosen(tx, webhook.id, chosen, limit=MOST_AT_ONCE + 1)
            return WebhookRedelivery(count=min(count, MOST_AT_ONCE), more=count > MOST_AT_ONCE)
        return await self._again(tx, webhook, chosen, "redelivered", actor)

    async def recover(
        self, tx: TenantTx, webhook: StoredWebhook, *, since: datetime, dry_run: bool, actor: str
    ) -> WebhookRedelivery:
        """Tell what it has missed since then, each once: what was given up, and what waits; one that is disabled is opened."""
        lost = ChosenDeliveries(statuses=[WebhookDeliveryStatus.DEAD], since=since)
        waiting = ChosenDeliveries(
            statuses=[WebhookDeliveryStatus.QUEUED, WebhookDeliveryStatus.BLOCKED], since=since
        )
        if webhook.status is WebhookStatus.PAUSED:
            raise WebhookPausedError
        waits = await delivery_store.count_chosen(tx, webhook.id, waiting, limit=MOST_AT_ONCE + 1)
        if dry_run:
            count = await delivery_store.count_chosen(tx, webhook.id, lost, limit=MOST_AT_ONCE + 1)
            return WebhookRedelivery(count=min(count, MOST_AT_ONCE), more=count > MOST_AT_ONCE, waiting=waits)
        if webhook.status is WebhookStatus.DISABLED:
            webhook = await self.changer.resume(tx, webhook, discard=False, actor=actor)
        await delivery_store.hasten(tx, webhook.id, since=since, now=self.clock.now())
        again = await self._again(tx, webhook, lost, "recovered", actor)
        return replace(again, waiting=waits)

    async def _again(
        self, tx: TenantTx, webhook: StoredWebhook, chosen: ChosenDeliveries, action: str, actor: str
    ) -> WebhookRedelivery:
        now = self.clock.now()
        count = await delivery_store.redeliver(
            tx, webhook.id, chosen, ordered=webhook.settings.ordered, limit=MOST_AT_ONCE, now=now
        )
        await delivery_store.call_soon(tx, webhook.id, now=now)
        entry = Entry(
            entity_type="webhook",
            entity_id=webhook.id,
            action=f"webhook.{action}",
            actor=actor,
            after={"count": count, "since": None if chosen.since is None else chosen.since.isoformat()},
        )
        await self.audit.append(tx, [entry])
        return WebhookRedelivery(count=count, more=count == MOST_AT_ONCE)
