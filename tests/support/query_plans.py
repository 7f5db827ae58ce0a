"""How Postgres goes about a query: prepared as the product prepares it, and explained with values."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import asyncpg

from tidings.kernel.sql import Query


async def explained(
    connection: asyncpg.Connection, query: Query, values: Mapping[str, Any], *, how: str = "COSTS OFF"
) -> str:
    """Its plan for these values, under the settings of the transaction."""
    # A name of its own: one that fails leaves it behind.
    name = f"explained_{query.name}_{abs(hash((how, repr(values))))}"
    await prepare(connection, query, name)
    told = await executed(connection, query, name, values, how=how)
    await connection.execute(f"DEALLOCATE {name}")
    return told


async def prepare(connection: asyncpg.Connection, query: Query, name: str) -> None:
    """From here on its plan may be kept."""
    await connection.execute(f"PREPARE {name} AS {query.text.rstrip().rstrip(';')}")


async def executed(
    connection: asyncpg.Connection,
    query: Query,
    name: str,
    values: Mapping[str, Any],
    *,
    how: str = "COSTS OFF",
) -> str:
    """The plan of a query that is prepared."""
    written = ", ".join(_literal(value) for value in query.arguments(values))
    rows = await connection.fetch(f"EXPLAIN ({how}) EXECUTE {name}({written})")
    return "\n".join(row[0] for row in rows)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"'{{{','.join(value)}}}'"
    if isinstance(value, datetime):
        return f"'{value.isoformat()}'"
    return str(value) if isinstance(value, int) else f"'{value}'"
