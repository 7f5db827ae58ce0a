"""The use case "something happened": it waits for every webhook that wants it, in the transaction that consumes it.

A set of events spans tenants, and takes a bounded number of statements. Events that no webhook wants cost neither a
transaction nor a row.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantsTx
from tidings.kernel.event_versions.publish import EventVersions
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.ids import WEBHOOK_DELIVERY
from tidings.notify.webhooks import delivery_store
from tidings.notify.webhooks.delivery_store import NewWebhookDelivery
from tidings.notify.webhooks.model import SEALED_FOR, ToldEvent, WebhookFilter
from tidings.notify.webhooks.registry import WebhookRegistry
from tidings.notify.webhooks.sealing import PAYLOAD

#: The consumer group; its cursor and its dead letters go by this name.
GROUP: Final = "notify.webhooks"
#: What it listens to: all that a tenant's readers may hear.
SUBJECTS: Final = (">",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WebhookQueuer:
    """Hears events."""

    registry: WebhookRegistry
    versions: EventVersions
    keyring: Keyring
    clock: Clock

    async def select(self, events: Sequence[Event]) -> Collection[Event]:
        """Those that some webhook wants."""
        return [event for event, _ in await self._wanted(events)]

    async def handle(self, tx: TenantsTx, events: Sequence[Event]) -> None:
        """Put them in the queues of those that want them."""
        wanted = await self._wanted(events)
        places = {
            (tenant_id, one.id) for event, found in wanted if (tenant_id := event.tenant_id) for one in found
        }
        if not places:
            return
        there = await delivery_store.lock_endpoints(tx, places)
        owners = {tenant_id for tenant_id, _ in there}
        keys = await self.keyring.data_keys_of(tx, [(one, SEALED_FOR) for one in owners])
        now = self.clock.now()
        fresh: list[NewWebhookDelivery] = []
        for event, found in wanted:
            tenant_id = event.tenant_id
            ours = [one for one in found if tenant_id is not None and (tenant_id, one.id) in there]
            if tenant_id is None or not ours:
                continue
            payload = keys[tenant_id, SEALED_FOR].seal(event.data.encode(), PAYLOAD)
            fresh += [
                NewWebhookDelivery(
                    tenant_id=tenant_id,
                    id=WEBHOOK_DELIVERY.new(now),
                    subscription_id=one.id,
                    ordered=one.ordered,
                    event_id=event.id,
                    event_type=event.subject,
                    ordering_key=event.ordering_key,
                    happened_at=event.time,
                    payload=payload,
                )
                for one in ours
            ]
        if fresh:
            await delivery_store.insert_deliveries(tx, fresh, now=now)

    async def _wanted(self, events: Sequence[Event]) -> list[tuple[Event, list[WebhookFilter]]]:
        """Of each event the webhooks that want it, where there is one."""
        tenants: set[TenantId] = {event.tenant_id for event in events if event.tenant_id is not None}
        filters = await self.registry.of_all(tenants)
        versions = await self.versions.published()
        wanted: list[tuple[Event, list[WebhookFilter]]] = []
        for event in events:
            own = filters[event.tenant_id] if event.tenant_id is not None else ()
            if not own:
                continue
            told = ToldEvent(event)
            found = [
                one
                for one in own
                if one.wants(told)
                and not versions.has_better(event, pinned=one.pinned_at(event.time), takes=one.takes)
            ]
            if found:
                wanted.append((event, found))
        return wanted


async def pass_over(_tx: PlatformTx, _events: Sequence[Event]) -> None:
    """Events without a tenant are told to nobody: no webhook is the platform's."""
