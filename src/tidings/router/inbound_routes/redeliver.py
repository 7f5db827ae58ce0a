"""The use case "tell it once more": deliveries from the beginning, by hand."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.router.conversations import store as conversation_store
from tidings.router.conversations.model import CONVERSATION
from tidings.router.inbound_routes import delivery_store, store
from tidings.router.inbound_routes.errors import (
    DeliveryUnderWayError,
    UnknownInboundDeliveryError,
    UnknownInboundRouteError,
)
from tidings.router.inbound_routes.model import (
    InboundDelivery,
    InboundDeliveryId,
    InboundRouteId,
    serving_route,
)

#: Dead ones that are ordered anew in one transaction.
MOST_AT_ONCE: Final = 1000


class Redeliverer:
    """Orders deliveries anew."""

    def __init__(self, *, audit: AuditLog, clock: Clock) -> None:
        """`audit` is of the schema `chan`."""
        self._audit = audit
        self._clock = clock

    async def redeliver(self, tx: TenantTx, delivery_id: InboundDeliveryId, *, actor: str) -> InboundDelivery:
        """Tell it again, at once and then for a day; where its route is gone, to the one that serves its number now."""
        known = await delivery_store.find_delivery(tx, delivery_id)
        if known is None:
            raise UnknownInboundDeliveryError(f"there is no delivery with the id {delivery_id}")
        route_id = await self._route(tx, known)
        again = await delivery_store.redeliver(tx, delivery_id, route_id=route_id, now=self._clock.now())
        if again is None:
            raise DeliveryUnderWayError
        entry = Entry(
            entity_type="inbound_route",
            entity_id=again.route_id,
            action="redelivered",
            actor=actor,
            after={"delivery_id": delivery_id, "before": known.status},
        )
        await self._audit.append(tx, [entry])
        return again

    async def redeliver_dead(
        self, tx: TenantTx, *, route_id: InboundRouteId | None, since: datetime | None, actor: str
    ) -> int:
        """The same for those that were given up, at most `MOST_AT_ONCE`; how many. What no route takes now stays as it is."""
        if route_id is not None and await store.find_route(tx, route_id) is None:
            raise UnknownInboundRouteError(f"there is no inbound route with the id {route_id}")
        now = self._clock.now()
        serving = await store.find_serving(tx, now=now)
        found = await delivery_store.lock_dead(
            tx, serving=serving, route_id=route_id, since=since, limit=MOST_AT_ONCE
        )
        again = [
            (dead.id, its_route)
            for dead in found
            if (its_route := _current_route(serving, dead.route_id, dead.to)) is not None
        ]
        if again:
            await delivery_store.redeliver_dead(tx, again, now=now)
        await self._audit.append(
            tx,
            [
                Entry(
                    entity_type="inbound_route",
                    entity_id=its_route,
                    action="redelivered",
                    actor=actor,
                    after={"delivery_id": delivery_id, "before": "dead"},
                )
                for delivery_id, its_route in again
            ],
        )
        return len(again)

    async def _route(self, tx: TenantTx, known: InboundDelivery) -> InboundRouteId | None:
        routes = await store.find_serving(tx, now=self._clock.now())
        if known.route_id in routes.values():
            return None
        conversation = await conversation_store.find_conversation(
            tx, CONVERSATION.parse(known.conversation_id)
        )
        number = conversation.sender_id if conversation is not None else None
        return serving_route(routes, number)


def _current_route(
    routes: Mapping[str, InboundRouteId], route_id: InboundRouteId, number: str | None
) -> InboundRouteId | None:
    """The delivery's own route while that serves; else the one that its number has now."""
    return route_id if route_id in routes.values() else serving_route(routes, number)
