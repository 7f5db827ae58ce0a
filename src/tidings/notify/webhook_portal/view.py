"""What a visitor of the portal looks at, read in one transaction for each page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.notify.ids import WEBHOOK, WEBHOOK_DELIVERY
from tidings.notify.webhook_portal import chart
from tidings.notify.webhook_portal.event_choices import EventChoice, choices_of, within
from tidings.notify.webhook_portal.visits import PortalVisit, missing
from tidings.notify.webhooks import delivery_store, store
from tidings.notify.webhooks.call_counts import WebhookHour, load_hours
from tidings.notify.webhooks.model import StoredWebhook, WebhookDelivery, WebhookDeliveryStatus
from tidings.notify.webhooks.told_bodies import ToldBodies

#: Endpoints of one customer that a page lists.
MOST_LISTED: Final = 200
#: Deliveries on one page of them, and on the page of their endpoint.
PAGE: Final = 25
LATEST: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEndpoint:
    """An endpoint, and how its calls went."""

    webhook: StoredWebhook
    hours: Sequence[WebhookHour]
    #: The newest first; none where they were not asked for.
    deliveries: Sequence[WebhookDelivery] = ()
    #: There are older ones.
    more: bool = False
    #: What a visitor may choose from, for this one.
    offered: Sequence[EventChoice] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDelivery:
    """A delivery, and what it says."""

    webhook: StoredWebhook
    delivery: WebhookDelivery
    body: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PortalReader:
    """Reads; changes nothing."""

    db: Database
    bodies: ToldBodies
    clock: Clock

    async def all(self, visit: PortalVisit) -> list[SeenEndpoint]:
        """The endpoints that the link shows."""
        async with self.db.tenant(visit.tenant_id) as tx:
            found = await shown_by(tx, visit)
            hours = await load_hours(tx, [one.id for one in found], since=chart.since(self.clock.now()))
        return [
            SeenEndpoint(webhook=one, hours=[hour for hour in hours if hour.subscription_id == one.id])
            for one in found
        ]

    async def one(
        self,
        visit: PortalVisit,
        webhook_id: str,
        *,
        deliveries: int = 0,
        status: WebhookDeliveryStatus | None = None,
        after_id: str | None = None,
    ) -> SeenEndpoint:
        """One of them, with so many of its deliveries; a `NoPortalError` where it is not among them."""
        after = None if after_id is None else _delivery_id(visit, after_id)
        async with self.db.tenant(visit.tenant_id) as tx:
            webhook = await found_by(tx, visit, webhook_id)
            offered = offered_to(visit, webhook, await pattern_of(tx, visit))
            hours = await load_hours(tx, [webhook.id], since=chart.since(self.clock.now()))
            rows = (
                await delivery_store.list_deliveries(
                    tx,
                    webhook.id,
                    after_id=after,
                    status=status,
                    event_type=None,
                    event_id=None,
                    limit=deliveries + 1,
                )
                if deliveries
                else []
            )
        return SeenEndpoint(
            webhook=webhook,
            hours=hours,
            deliveries=rows[:deliveries],
            more=len(rows) > deliveries,
            offered=offered,
        )

    async def delivery(self, visit: PortalVisit, webhook_id: str, delivery_id: str) -> SeenDelivery:
        """One delivery with its calls and what it says; a `NoPortalError` where it is not there."""
        wanted = _delivery_id(visit, delivery_id)
        async with self.db.tenant(visit.tenant_id) as tx:
            webhook = await found_by(tx, visit, webhook_id)
            found = await delivery_store.find_delivery(tx, webhook.id, WEBHOOK_DELIVERY.parse(wanted))
            if found is None:
                raise missing(visit)
            delivery, sealed = found
            body = await self.bodies.read(tx, webhook, delivery, sealed)
        return SeenDelivery(webhook=webhook, delivery=delivery, body=body)


async def shown_by(tx: TenantTx, visit: PortalVisit) -> list[StoredWebhook]:
    """The webhooks that a link shows."""
    link = visit.link
    if link.customer is not None:
        return await store.list_of_customer(tx, link.customer, is_test=link.is_test, limit=MOST_LISTED)
    found = await store.find_webhook(tx, link.subscription_id, is_test=link.is_test)
    return [] if found is None else [found]


async def found_by(tx: TenantTx, visit: PortalVisit, webhook_id: str, *, lock: bool = False) -> StoredWebhook:
    """One that the link shows; a `NoPortalError` where it shows none of this id. `lock`: held for a change."""
    try:
        wanted = WEBHOOK.parse(webhook_id)
    except BadValueError:
        raise missing(visit) from None
    webhook = await store.find_webhook(tx, wanted, is_test=visit.link.is_test, lock=lock)
    if webhook is None or not visit.link.shows(webhook):
        raise missing(visit)
    return webhook


async def pattern_of(tx: TenantTx, visit: PortalVisit) -> StoredWebhook | None:
    """The webhook that the link was made for."""
    return await store.find_webhook(tx, visit.link.subscription_id, is_test=visit.link.is_test)


def offered_to(
    visit: PortalVisit, webhook: StoredWebhook, pattern: StoredWebhook | None
) -> list[EventChoice]:
    """What the link offers for an endpoint.

    One with another condition than the webhook that the link was made for is offered no new types: what keeps the customers
    of a tenant apart may stand in that condition.
    """
    offered = choices_of(visit.link.event_types)
    same = pattern is not None and webhook.settings.condition == pattern.settings.condition
    return offered if same else within(offered, webhook.settings.event_types)


def _delivery_id(visit: PortalVisit, text: str) -> str:
    try:
        return WEBHOOK_DELIVERY.parse(text)
    except BadValueError:
        raise missing(visit) from None
