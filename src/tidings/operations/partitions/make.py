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
from tidings.operations.partitions.store import missing_partitions

_NAME = re.compile(r"[a-z_]+\.[a-z0-9_]+")
_TRIES = 5


async def make_missing(
    owner: asyncpg.Connection, now: datetime, *, report: Callable[[Partition], None] | None = None
) -> list[Partition]:
    """Make what is missing; each in a transaction of its own, so that a crash leaves whole partitions."""
    made: list[Partition] = []
    for partition in await missing_partitions(owner, now):
        await _make_patiently(owner, partition)
        made.append(partition)
        if report is not None:
            report(partition)
    return made


async def _make_patiently(owner: asyncpg.Connection, partition: Partition) -> None:
    # A short lock time-out and another try: whoever waits for a lock makes everybody behind it wait too.
    for attempt in range(_TRIES):
        try:
            with translated():
                await owner.execute(_statement(partition))
        except DatabaseBusyError:
            if attempt == _TRIES - 1:
                raise
        else:
            return


def checked_name(name: str) -> str:
    """The name of a table, safe in a statement; it comes from our own registry, and we look twice."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name} is not the name of a table")
    return name


def _statement(partition: Partition) -> str:
    checked_name(partition.parent)
    checked_name(partition.name)
    return f"""
        BEGIN;
        SET LOCAL lock_timeout = '2s';
        DROP TABLE IF EXISTS {partition.name};
        CREATE TABLE {partition.name} (LIKE {partition.parent} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
            WITH (fillfactor = {int(partition.fillfactor)});
        CALL kernel.seal_partition('{partition.name}');
        ALTER TABLE {partition.parent} ATTACH PARTITION {partition.name}
            FOR VALUES FROM ('{partition.start.isoformat()}') TO ('{partition.end.isoformat()}');
        COMMIT;
    """
