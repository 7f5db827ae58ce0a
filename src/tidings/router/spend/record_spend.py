"""The use case "attempts were made": what they are reckoned to cost is added to their days, in their transaction."""

from collections.abc import Iterable, Mapping

from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.router.spend import store
from tidings.router.spend.model import SpendEntry, gathered


async def add(tx: TenantTx, rows: Iterable[SpendEntry], *, stripe: int = 0) -> None:
    """Those of one tenant."""
    await add_of_all(tx, {tx.tenant_id: rows}, stripe=stripe)


async def add_of_all(
    tx: TenantTx | TenantsTx, rows: Mapping[TenantId, Iterable[SpendEntry]], *, stripe: int = 0
) -> None:
    """One statement, whatever their number; nothing where nothing costs anything.

    `stripe`: each of the workers that add side by side has one of its own, so that two transactions do not wait for each other.
    """
    some = [(tenant_id, entry) for tenant_id in sorted(rows) for entry in gathered(rows[tenant_id])]
    if some:
        await store.add_spent(tx, some, stripe=stripe)
