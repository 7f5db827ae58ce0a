"""What the database knows about its partitions; any role may ask."""

from collections.abc import Iterable
from datetime import datetime

import asyncpg

from tidings.kernel.db import translated
from tidings.kernel.sql import Queries
from tidings.operations.partitions.plan import Partition, PartitionedTable, due, over

_QUERIES = Queries.beside(__file__)


async def registered_tables(connection: asyncpg.Connection) -> list[PartitionedTable]:
    """The tables that are split by time."""
    with translated():
        rows = await connection.fetch(_QUERIES.registered_tables.text)
    return [PartitionedTable(**row) for row in rows]


async def is_registered(connection: asyncpg.Connection) -> bool:
    """Whether the schema knows of partitions yet."""
    with translated():
        found: bool = await connection.fetchval(_QUERIES.registry_exists.text)
    return found


async def is_attached(connection: asyncpg.Connection, name: str) -> bool:
    """Whether the partition belongs to its table."""
    with translated():
        found: bool = await connection.fetchval(_QUERIES.is_attached.text, name)
    return found


async def missing_partitions(connection: asyncpg.Connection, now: datetime) -> list[Partition]:
    """What should exist by now and does not."""
    tables = await registered_tables(connection)
    attached = await _attached(connection)
    return [partition for partition in _all_due(tables, now) if partition.name not in attached]


async def old_partitions(connection: asyncpg.Connection, now: datetime) -> list[tuple[str, str]]:
    """What is to be dropped: parent and partition."""
    tables = await registered_tables(connection)
    attached, held = await _attached(connection), await _held(connection)
    return [(table.parent, name) for table in tables for name in over(table, attached, now, held=held)]


async def abandoned_partitions(connection: asyncpg.Connection, now: datetime) -> list[str]:
    """What was detached to be dropped, and was not."""
    tables = await registered_tables(connection)
    with translated():
        rows = await connection.fetch(_QUERIES.detached_partitions.text)
    names, held = {row["name"] for row in rows}, await _held(connection)
    return [name for table in tables for name in over(table, names, now, held=held)]


async def server_time(connection: asyncpg.Connection) -> datetime:
    """The present moment, by the server's clock."""
    with translated():
        moment: datetime = await connection.fetchval(_QUERIES.server_time.text)
    return moment


async def _attached(connection: asyncpg.Connection) -> set[str]:
    with translated():
        rows = await connection.fetch(_QUERIES.attached_partitions.text)
    return {row["name"] for row in rows}


async def _held(connection: asyncpg.Connection) -> set[str]:
    with translated():
        rows = await connection.fetch(_QUERIES.held_partitions.text)
    return {row["name"] for row in rows}


def _all_due(tables: Iterable[PartitionedTable], now: datetime) -> Iterable[Partition]:
    for table in tables:
        yield from due(table, now)
