"""How far a sweep has come that goes through everything once; one process at a time goes on with it."""

from datetime import datetime

from tidings.kernel.db import WorkerTx
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def take_mark(tx: WorkerTx, name: str) -> datetime | None:
    """The mark, held until the transaction ends; None where another process has it. A new sweep begins now."""
    await tx.execute(QUERIES.begin_mark, name=name)
    mark: datetime | None = await tx.fetch_value(QUERIES.take_mark, name=name)
    return mark


async def move_mark(tx: WorkerTx, name: str, until: datetime) -> None:
    """The sweep has come so far, once the transaction commits."""
    await tx.execute(QUERIES.move_mark, name=name, until=until)
