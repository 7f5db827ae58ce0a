"""The only Python here that runs SQL: who has an address, and which one it is."""

from collections.abc import Sequence

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def find_writers(tx: TenantTx, places: Sequence[tuple[str, str]]) -> dict[int, RecipientId]:
    """Who has these addresses, given by channel and hash; by their place in the question."""
    if not places:
        return {}
    rows = await tx.fetch(QUERIES.find_writers, **tuple_columns(places, "channels hashes"))
    return {row["place"] - 1: RecipientId(row["recipient_id"]) for row in rows}


async def find_address(
    tx: TenantTx, recipient_id: RecipientId, *, channel: str, address_hash: str
) -> RecipientAddressId | None:
    """The id of an address of theirs."""
    found: RecipientAddressId | None = await tx.fetch_value(
        QUERIES.find_address, recipient_id=recipient_id, channel=channel, address_hash=address_hash
    )
    return found
