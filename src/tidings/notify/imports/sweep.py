"""Removes imports and their reports whose time is over; what they brought stays, and so does their line in the audit."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)
#: Since anything last happened to one: long enough to go on with it, or to look its report up.
KEEPS: Final = timedelta(days=90)


async def sweep_imports(db: Database, clock: Clock, *, limit: int) -> int:
    """At most so many lines of reports, marks of dry runs and imports each; how many went."""
    over = clock.now() - KEEPS
    swept = 0
    for query in (QUERIES.sweep_problems, QUERIES.sweep_seen, QUERIES.sweep_imports):
        async with db.worker() as tx:
            swept += await tx.execute(query, over=over, limit=limit)
    return swept
