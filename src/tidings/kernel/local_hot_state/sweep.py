"""Removes hot state that has run out."""

from datetime import datetime

from tidings.kernel.db import Database
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_TABLES = {
    "hot_limits": _QUERIES.sweep_limits,
    "hot_presence": _QUERIES.sweep_presence,
    "hot_leases": _QUERIES.sweep_leases,
}


async def sweep_hot_state(db: Database, now: datetime, *, limit: int) -> dict[str, int]:
    """Remove about `limit` expired rows of each table, a transaction each; how many went."""
    swept: dict[str, int] = {}
    for table, query in _TABLES.items():
        async with db.worker() as tx:
            swept[table] = await tx.execute(query, now=now, limit=limit)
    return swept
