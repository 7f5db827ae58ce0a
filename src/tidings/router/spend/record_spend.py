"""The use case "attempts were made": what they are reckoned to cost is added to their days, in their transaction."""

from collections.abc import Iterable

from tidings.kernel.db import TenantTx
from tidings.router.spend import store
from tidings.router.spend.model import SpendEntry, gathered


async def add(tx: TenantTx, rows: Iterable[SpendEntry], *, stripe: int = 0) -> None:
    """One statement, whatever their number; nothing where nothing costs anything.

    `stripe`: each of the workers that add side by side has one of its own, so that two transactions do not wait for each other.
    """
    some = gathered(rows)
    if some:
        await store.add_spent(tx, some, stripe=stripe)
