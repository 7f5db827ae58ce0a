"""What the ladders are told through: `executions.receipts.apply`, or a test's own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tidings.kernel.db import TenantTx
from tidings.router.executions.receipts import Applied, Receipt

__all__ = ["Applied", "ApplyReceipts", "Receipt"]


class ApplyReceipts(Protocol):
    """Writes receipts down and wakes the ladders that wait for them; what was written before changes nothing."""

    async def __call__(self, tx: TenantTx, receipts: Sequence[Receipt], /, *, now: datetime) -> Applied:
        """In the tenant's transaction."""
        ...
