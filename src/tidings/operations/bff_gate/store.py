"""The only Python here that runs SQL."""

from typing import NamedTuple

from tidings.kernel.db import WorkerTx
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


class DatabaseLook(NamedTuple):
    """The database at a moment."""

    waiting: int
    connections: int


async def look(tx: WorkerTx) -> DatabaseLook:
    """Events that wait, and connections that are open."""
    rows = await tx.fetch(QUERIES.look)
    return DatabaseLook(rows[0]["waiting"], rows[0]["connections"])
