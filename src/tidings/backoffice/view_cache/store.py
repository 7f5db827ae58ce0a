"""The only Python here that runs SQL: changes are announced, and stored nowhere."""

from collections.abc import Sequence

from tidings.kernel.db import TenantTx
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def announce_changes(tx: TenantTx, keys: Sequence[str]) -> None:
    """Tell every process when the transaction commits."""
    await tx.execute(QUERIES.announce_changes, keys=list(keys))
