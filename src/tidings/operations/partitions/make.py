"""Makes partitions, as the owner, without stopping the tables they belong to.

A partition is made beside its parent, sealed against direct access, and attached: ATTACH locks the parent
against other changes of shape only, whereas CREATE TABLE … PARTITION OF would stop its readers and writers.
"""

import re
from collections.abc import Callable
from datetime import datetime

import asyncpg

from tidings.kernel.db import translated
from tidings.kernel.errors import DatabaseBusyError
from tidings.operations.partitions.plan import Partition
from tidings.operations.partitions.store import is_attached, is_registered, missing_partitions

#: Who makes a partition holds this; any two numbers will do that no other lock uses.
_LOCK = (7_411_009, 1)
_NAME = re.compile(r"[a-z_]+\.[a-z0-9_]+")
_TRIES = 5


async def make_missing(
    owner: asyncpg.Connection, now: datetime, *, report: Callable[[Partition], None] | None = None
) -> list[Partition]:
    """Make what is missing; each in a transaction of its own, so that a crash leaves whole partitions."""
    made: list[Partition] = []
    for partition in await missing_partitions(owner, now):
        await make_patiently(owner, partition)
        made.append(partition)
        if report is not None:
            report(partition)
    return made


async def make_with(owner_url: str, now: datetime) -> list[Partition]:
    """The same over a connection of its own; nothing where the schema is too young to have any."""
    with translated():
        owner = await asyncpg.connect(owner_url, timeout=10)
    try:
        return await make_missing(owner, now) if await is_registered(owner) else []
    finally:
        await owner.close()


async def make_patiently(owner: asyncpg.Connection, partition: Partition) -> None:
    """Make one, unless another process has meanwhile."""
    # A short lock time-out and another try: a statement that waits for a lock makes every later one wait too.
    for attempt in range(_TRIES):
        try:
            await _make(owner, partition)
        except DatabaseBusyError:
            if attempt == _TRIES - 1:
                raise
        else:
            return


async def _make(owner: asyncpg.Connection, partition: Partition) -> None:
    """Make it unless another process has: that one may hold rows by now."""
    with translated():
        async with owner.transaction():
            await owner.execute("SET LOCAL lock_timeout = '2s'")
            await owner.execute(f"SELECT pg_advisory_xact_lock{_LOCK}")
            if not await is_attached(owner, partition.name):
                await owner.execute(_statement(partition))


def checked_name(name: str) -> str:
    """The name of a table, safe in a statement; it comes from our own registry, and we look twice."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name} is not the name of a table")
    return name


def _statement(partition: Partition) -> str:
    checked_name(partition.parent)
    checked_name(partition.name)
    return f"""
        DROP TABLE IF EXISTS {partition.name};
        CREATE TABLE {partition.name} (LIKE {partition.parent} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
            WITH (fillfactor = {int(partition.fillfactor)});
        CALL kernel.seal_partition('{partition.name}');
        ALTER TABLE {partition.parent} ATTACH PARTITION {partition.name}
            FOR VALUES FROM ('{partition.start.isoformat()}') TO ('{partition.end.isoformat()}');
    """
