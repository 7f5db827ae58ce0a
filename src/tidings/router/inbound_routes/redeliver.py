"""The use case "tell it once more": a delivery from the beginning, by hand."""

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.router.conversations import store as conversation_store
from tidings.router.conversations.destinations import spellings
from tidings.router.conversations.model import CONVERSATION
from tidings.router.inbound_routes import delivery_store, store
from tidings.router.inbound_routes.errors import DeliveryUnderWayError, UnknownInboundDeliveryError
from tidings.router.inbound_routes.model import (
    DEFAULT_ROUTE,
    InboundDelivery,
    InboundDeliveryId,
    InboundRouteId,
)


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

    async def _route(self, tx: TenantTx, known: InboundDelivery) -> InboundRouteId | None:
        routes = await store.find_serving(tx, now=self._clock.now())
        if known.route_id in routes.values():
            return None
        conversation = await conversation_store.find_conversation(
            tx, CONVERSATION.parse(known.conversation_id)
        )
        numbers = spellings(conversation.sender_id) if conversation is not None else ()
        return next((routes[n] for n in (*numbers, DEFAULT_ROUTE) if n in routes), None)
