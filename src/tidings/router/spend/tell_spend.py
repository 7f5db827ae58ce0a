"""Says to other services what a tenant has spent."""

from collections import Counter
from collections.abc import Mapping
from datetime import date

from tidings.kernel.db import TenantTx
from tidings.router.spend.store import sum_spent


class StoredSpend:
    """From the daily sums."""

    async def between(self, tx: TenantTx, *, since: date, until: date) -> Mapping[str, int]:
        """Micros by currency, both days among them."""
        spent: Counter[str] = Counter()
        for one in await sum_spent(tx, since=since, until=until, by="channel"):
            spent[one.currency] += one.real
        return spent
