"""What the router can say of a tenant's spend."""

from collections.abc import Mapping
from datetime import date
from typing import Protocol

from tidings.kernel.db import TenantTx


class SpendTeller(Protocol):
    """Knows what messages cost."""

    async def between(self, tx: TenantTx, *, since: date, until: date) -> Mapping[str, int]:
        """Micros by currency, both days among them; estimates count until a vendor has said what it was."""
        ...
