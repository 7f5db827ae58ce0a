"""The only Python here that runs SQL; all of it as the worker, over ids, states and times."""

from datetime import datetime

from tidings.kernel.db import Row, WorkerTx
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def circuits_not_closed(tx: WorkerTx) -> list[Row]:
    """Accounts that are not given all their messages."""
    return list(await tx.fetch(QUERIES.circuits_not_closed))


async def oldest_receipt(tx: WorkerTx, *, now: datetime) -> float:
    """Seconds since the oldest event came that was never looked at; 0 where there is none."""
    return float(await tx.fetch_value(QUERIES.oldest_receipt, now=now) or 0.0)


async def dead_receipts(tx: WorkerTx, *, since: datetime) -> int:
    """How many events were given up since then."""
    return int(await tx.fetch_value(QUERIES.dead_receipts, since=since))


async def dead_inbound(tx: WorkerTx, *, since: str) -> int:
    """How many inbound messages were given up whose ids are later."""
    return int(await tx.fetch_value(QUERIES.dead_inbound, since=since))
