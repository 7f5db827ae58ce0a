"""What dispatch asks about batches: how quickly the messages of each may go through vendors and their accounts."""

from collections.abc import Collection, Mapping
from typing import Protocol

from tidings.contracts.delivery import MessagePace
from tidings.kernel.ids import TenantId
from tidings.notify.ids import BatchId


class BatchPaces(Protocol):
    """Knows the paces of batches at this moment."""

    async def of(self, batches: Collection[tuple[TenantId, BatchId]]) -> Mapping[BatchId, MessagePace]:
        """Those that have one. No transaction may be open."""
        ...
