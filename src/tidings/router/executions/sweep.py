"""Removes expired proofs and notes."""

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.executions import store


async def sweep_ledgers(db: Database, clock: Clock, *, limit: int) -> int:
    """About `limit` rows of each ledger at most; how many went from the one that had most."""
    now = clock.now()
    async with db.worker() as tx:
        proofs = await store.sweep_delivery_outbox(tx, now=now, limit=limit)
    async with db.worker() as tx:
        taken = await store.sweep_delivery_inbox(tx, now=now, limit=limit)
    return max(proofs, taken)
