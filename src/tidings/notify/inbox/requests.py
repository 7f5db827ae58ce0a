"""Answers a router in another process that has items for inboxes."""

from dataclasses import dataclass

import msgspec

from tidings.contracts.inbox import DeliverItems, InboxDeliveries, ItemsDelivered

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(DeliverItems).decode


@dataclass(frozen=True, slots=True)
class InboxRequests:
    """Hands a request to notify's `InboxDeliveries`. The same request may come twice: an item is stored once."""

    deliveries: InboxDeliveries

    async def answer(self, payload: bytes) -> bytes:
        """What came of the items."""
        results = await self.deliveries.deliver(_decode(payload).items)
        return _encode(ItemsDelivered(results=tuple(results)))
