"""The only Python here that runs SQL on refusals; the look-up before sending is part of the suppressions' one."""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper, columns, tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import ADDRESS_REFUSAL, AddressRefusalId
from tidings.notify.refusals.model import ChannelAddress, Refusal

QUERIES = Queries.beside(__file__)


async def add_refusals(
    tx: TenantTx,
    wanted: Sequence[tuple[ChannelAddress, str | None]],
    *,
    source: str,
    evidence: str | None,
    now: datetime,
) -> list[tuple[AddressRefusalId, ChannelAddress, str | None]]:
    """Those that are new: each with its address and category (None: everything)."""
    fresh = {ADDRESS_REFUSAL.new(now): one for one in wanted}
    rows = await tx.fetch(
        QUERIES.add_refusals,
        ids=list(fresh),
        channels=[place.channel for place, _ in fresh.values()],
        hashes=[place.address_hash for place, _ in fresh.values()],
        categories=[category for _, category in fresh.values()],
        source=source,
        evidence=evidence,
        now=now,
    )
    return [(id_, *fresh[id_]) for id_ in (AddressRefusalId(row["id"]) for row in rows)]


async def withdraw_refusals(
    tx: TenantTx, places: Sequence[ChannelAddress], categories: Collection[str], *, source: str, now: datetime
) -> list[AddressRefusalId]:
    """Those of these addresses and categories that held until now."""
    rows = await tx.fetch(
        QUERIES.withdraw_refusals,
        **columns(places, "channel", hashes="address_hash"),
        categories=sorted(categories),
        source=source,
        now=now,
    )
    return [AddressRefusalId(row["id"]) for row in rows]


async def withdraw_of_recipient(
    tx: TenantTx,
    recipient_id: RecipientId,
    said: Sequence[tuple[str, str]],
    *,
    source: str,
    now: datetime,
) -> list[AddressRefusalId]:
    """The same for all addresses of a recipient: pairs of a channel (empty: all) and a category (empty: the refusal of everything)."""
    rows = await tx.fetch(
        QUERIES.withdraw_of_recipient,
        recipient_id=recipient_id,
        **tuple_columns(said, "channels categories"),
        source=source,
        now=now,
    )
    return [AddressRefusalId(row["id"]) for row in rows]


async def find_at(tx: TenantTx, places: Sequence[ChannelAddress]) -> list[Refusal]:
    """What holds for these addresses now."""
    if not places:
        return []
    rows = await tx.fetch(
        QUERIES.find_at,
        **columns(places, "channel", hashes="address_hash"),
    )
    return [_from_row(row) for row in rows]


async def find_refusals(tx: TenantTx, ids: Sequence[AddressRefusalId]) -> dict[AddressRefusalId, Refusal]:
    """Those that exist, in force or not."""
    if not ids:
        return {}
    rows = await tx.fetch(QUERIES.find_refusals, ids=list(ids))
    return {refusal.id: refusal for refusal in map(_from_row, rows)}


async def find_of_addresses(tx: TenantTx, hashes: Sequence[str]) -> list[Refusal]:
    """Everything that was ever refused from these addresses."""
    if not hashes:
        return []
    rows = await tx.fetch(QUERIES.find_of_addresses, hashes=list(hashes))
    return [_from_row(row) for row in rows]


_from_row = RowMapper(Refusal, [QUERIES.find_at, QUERIES.find_refusals, QUERIES.find_of_addresses])
