"""The only Python here that runs SQL on preferences."""

from collections.abc import Sequence
from datetime import datetime

from tidings.backoffice.ids import OperatorId
from tidings.backoffice.preferences.model import MirroredPreferences
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def find_preferences(
    tx: TenantTx, *, operator_id: OperatorId, property_id: str | None
) -> MirroredPreferences | None:
    """What is known of them."""
    row = await tx.fetch_one(QUERIES.find_preferences, operator_id=operator_id, property_id=property_id)
    return None if row is None else _from_row(row)


async def put_preferences(tx: TenantTx, preferences: MirroredPreferences, *, now: datetime) -> bool:
    """Keep what the service said; False where something newer is known."""
    return await tx.execute(QUERIES.put_preferences, preferences, now=now) == 1


async def forget_preferences(tx: TenantTx, operator_ids: Sequence[str]) -> int:
    """Ask the service again before these are shown."""
    return await tx.execute(QUERIES.forget_preferences, operator_ids=list(operator_ids))


_from_row = RowMapper(MirroredPreferences, [QUERIES.find_preferences])
