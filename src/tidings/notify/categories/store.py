"""The only Python here that runs SQL on the registry of categories."""

from tidings.kernel.db import Tx
from tidings.kernel.sql import Queries
from tidings.notify.categories.model import CategoryPolicy

QUERIES = Queries.beside(__file__)


async def load_categories(tx: Tx) -> dict[str, CategoryPolicy]:
    """All of them, by name."""
    rows = await tx.fetch(QUERIES.load_categories)
    return {row["category"]: CategoryPolicy(**row) for row in rows}
