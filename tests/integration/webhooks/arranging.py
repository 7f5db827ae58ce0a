"""A tenant that has webhooks, events of it, and everything between the two."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.notifications import NotificationMoved
from tidings.kernel.bus import SubjectFilter
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId

HOME = "/api/v1/webhooks"
DELIVERED = "notification.delivered.v1"


async def settle(world: PipelineWorld) -> None:
    """Do all that can be done now: events reach their webhooks."""
    system = world.system
    while True:
        done = 0
        for relay in world.relays:
            done += await relay.drain()
        done += await system.webhooks.consumer.drain()
        done += await system.webhooks.deliveries.drain()
        if not done:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """A tenant with a client."""

    world: PipelineWorld
    tenant_id: TenantId
    client: httpx2.AsyncClient

    async def webhook(self, url: str, **wish: Any) -> dict[str, Any]:
        """A new webhook, as it is answered."""
        answer = await self.client.post(HOME, json={"url": url, "events": [DELIVERED], **wish})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def show(self, webhook_id: str) -> dict[str, Any]:
        """How it stands."""
        answer = await self.client.get(f"{HOME}/{webhook_id}")
        assert answer.status_code == 200, answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    async def change(self, webhook_id: str, **wish: Any) -> dict[str, Any]:
        """A change, as it is answered."""
        answer = await self.client.patch(f"{HOME}/{webhook_id}", json=wish)
        assert answer.status_code == 200, answer.text
        changed: dict[str, Any] = answer.json()
        return changed

    async def do(self, webhook_id: str, verb: str, **body: Any) -> dict[str, Any]:
        """`pause`, `resume`, `recover` and so on."""
        answer = await self.client.post(f"{HOME}/{webhook_id}/{verb}", json=body)
        assert answer.status_code in {200, 202}, answer.text
        done: dict[str, Any] = answer.json()
        return done

    async def deliveries(self, webhook_id: str, **query: Any) -> list[dict[str, Any]]:
        """The newest first."""
        answer = await self.client.get(f"{HOME}/{webhook_id}/deliveries", params={"limit": 200, **query})
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    async def happens(
        self, *keys: str, subject: str = DELIVERED, is_test: bool = False, **facts: Any
    ) -> list[str]:
        """One event for each key, committed together; their ids."""
        events = [self._event(key, subject, is_test=is_test, **facts) for key in keys or ("k",)]
        async with self.world.db.tenant(self.tenant_id) as tx:
            await self.world.system.kernel.outbox.append(tx, events)
        return [event.id for event in events]

    async def told(self, *keys: str, **facts: Any) -> list[str]:
        """The same, and all that follows from it."""
        ids = await self.happens(*keys, **facts)
        await settle(self.world)
        return ids

    async def later(self, **by: float) -> None:
        """Move the clock, and do what is due then."""
        await self.world.clock.advance(timedelta(**by))
        await settle(self.world)

    async def said(self, pattern: str) -> list[Event]:
        """The tenant's events of a type, as its readers hear them."""
        feed = self.world.system.kernel.bus.feed
        for relay in self.world.relays:
            await relay.drain()
        page = await feed.read(
            self.tenant_id, SubjectFilter([pattern]), after=await feed.cursor("beginning"), limit=500
        )
        return list(page.events)

    async def rows(self, query: str, *values: object) -> Sequence[Any]:
        """What the tenant itself finds."""
        async with self.world.db.tenant(self.tenant_id) as tx:
            found: Sequence[Any] = await tx.connection.fetch(query, *values)
            return found

    def _event(self, key: str, subject: str, *, is_test: bool, **facts: Any) -> Event:
        moved = NotificationMoved(
            **{
                "notification_id": f"ntf_{unused()}",
                "recipient_id": "rcp_1",
                "status": "delivered",
                "channel": "email",
                "category": "billing",
                "template_key": "order_confirmation",
                "is_test": is_test,
                **facts,
            }
        )
        return new_event(
            subject,
            moved,
            tenant_id=self.tenant_id,
            ordering_key=key,
            source=NOTIFY_SOURCE,
            clock=self.world.clock,
        )
