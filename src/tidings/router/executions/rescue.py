"""Frees what dead workers had in hand.

Here by ids alone and across tenants. The calls that were under way stay noted in their rows: whoever takes such a
ladder up writes that the answer was never learned, and the ladder goes on from there (`advance.py`).
"""

from tidings.kernel.db import WorkerTx
from tidings.router.executions import store


async def free_orphans(tx: WorkerTx) -> int:
    """Make due at once what nobody alive has in hand; after the commit the alarm has to be told to look."""
    return await store.free_orphans(tx)
