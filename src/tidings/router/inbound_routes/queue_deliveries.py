"""Queues inbound messages for the webhooks of the routes that serve their destinations."""

from collections.abc import Sequence
from datetime import datetime

from tidings.kernel.db import TenantTx
from tidings.router.conversations.model import ConversationId
from tidings.router.conversations.resolve import ResolvedMessage
from tidings.router.inbound_routes import delivery_store, store
from tidings.router.inbound_routes.delivery_store import NewDelivery
from tidings.router.inbound_routes.model import INBOUND_DELIVERY, serving_route


async def queue_deliveries(
    tx: TenantTx, received: Sequence[tuple[ConversationId, ResolvedMessage]], now: datetime
) -> int:
    """The conversations' `QueueDeliveries`; a message that no route takes is not queued."""
    routes = await store.find_serving(tx, now=now)
    if not routes:
        return 0
    wanted = [
        NewDelivery(
            id=INBOUND_DELIVERY.new(now),
            message_id=message.id,
            conversation_id=conversation_id,
            route_id=route_id,
        )
        for conversation_id, message in received
        if (route_id := serving_route(routes, message.destination)) is not None
    ]
    if wanted:
        await delivery_store.insert_deliveries(tx, wanted, now=now)
    return len(wanted)
