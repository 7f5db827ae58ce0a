"""Drops partitions whose time is over, without stopping the tables they belong to.

Only tables that say how long they keep are touched: a stream of events that has been read. What has to be
archived first has no such number and is left alone.
"""

from datetime import datetime

import asyncpg

from tidings.kernel.db import translated
from tidings.operations.partitions.make import checked_name
from tidings.operations.partitions.store import old_partitions


async def drop_old(owner: asyncpg.Connection, now: datetime) -> list[str]:
    """Drop what is over; each by itself, so that a crash leaves whole partitions. Their names."""
    dropped: list[str] = []
    for parent, name in await old_partitions(owner, now):
        await _detach(owner, checked_name(parent), checked_name(name))
        with translated():
            await owner.execute(f"DROP TABLE {name}")
        dropped.append(name)
    return dropped


async def _detach(owner: asyncpg.Connection, parent: str, name: str) -> None:
    # Detaching at leisure waits for those who are reading; one that was interrupted has to be finished.
    with translated():
        try:
            await owner.execute(f"ALTER TABLE {parent} DETACH PARTITION {name} CONCURRENTLY")
        except asyncpg.ObjectNotInPrerequisiteStateError:
            await owner.execute(f"ALTER TABLE {parent} DETACH PARTITION {name} FINALIZE")
