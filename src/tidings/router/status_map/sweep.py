"""Forgets codes without a meaning that vendors have stopped to say."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.status_map import store

#: Longer than anything can be told again for.
KEPT: Final = timedelta(days=90)


async def sweep_unknown(db: Database, clock: Clock, *, limit: int) -> int:
    """At most so many; how many went."""
    async with db.worker() as tx:
        return await store.sweep_unknown(tx, before=clock.now() - KEPT, limit=limit)
