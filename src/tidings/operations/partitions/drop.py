"""Drops partitions whose time is over, without stopping the tables they belong to.

Only tables that say how long they keep are touched: a stream of events that has been read. What has to be
archived first has no such number and is left alone. Dropping can't be undone, so a clock that runs ahead must
not decide it alone: only what is over by the server's clock too is dropped.
"""

from datetime import datetime

import asyncpg

from tidings.kernel.db import translated
from tidings.operations.partitions.make import checked_name
from tidings.operations.partitions.store import abandoned_partitions, old_partitions, server_time


async def drop_old(owner: asyncpg.Connection, now: datetime) -> list[str]:
    """Drop what is over; each by itself, so that a crash leaves whole partitions. Their names."""
    moment = min(now, await server_time(owner))
    # Detaching waits for every transaction that uses the table; it must not wait for ever.
    with translated():
        await owner.execute("SET lock_timeout = '60s'")
    dropped = await abandoned_partitions(owner, moment)
    for name in dropped:
        await _drop(owner, name)
    for parent, name in await old_partitions(owner, moment):
        await _detach(owner, checked_name(parent), checked_name(name))
        await _drop(owner, name)
        dropped.append(name)
    return dropped


async def _drop(owner: asyncpg.Connection, name: str) -> None:
    with translated():
        await owner.execute(f"DROP TABLE {checked_name(name)}")


async def _detach(owner: asyncpg.Connection, parent: str, name: str) -> None:
    # Detaching at leisure waits for those who are reading; one that was interrupted has to be finished.
    with translated():
        try:
            await owner.execute(f"ALTER TABLE {parent} DETACH PARTITION {name} CONCURRENTLY")
        except asyncpg.ObjectNotInPrerequisiteStateError:
            await owner.execute(f"ALTER TABLE {parent} DETACH PARTITION {name} FINALIZE")
