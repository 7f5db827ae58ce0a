"""The only Python here that runs SQL on recipients' addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.recipients.model import StoredAddress

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAddress:
    """An address to be added."""

    tenant_id: TenantId
    id: RecipientAddressId
    recipient_id: RecipientId
    channel: Channel
    address_hash: str
    ciphertext: bytes
    is_primary: bool
    verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressChange:
    """How an address that is there is to be from now on."""

    id: RecipientAddressId
    is_primary: bool
    verified: bool


async def load_addresses(
    tx: TenantTx, *, recipient_ids: Sequence[RecipientId], channels: Sequence[str] | None = None
) -> list[StoredAddress]:
    """All of these recipients' addresses, or those of some channels; primaries first, then the oldest."""
    rows = await tx.fetch(
        QUERIES.load_addresses,
        recipient_ids=list(recipient_ids),
        channels=None if channels is None else list(channels),
    )
    return [from_row(row) for row in rows]


async def clear_primaries(tx: TenantTx, *, of: Sequence[tuple[RecipientId, str]], now: datetime) -> int:
    """No address is primary for these recipients and channels any more."""
    return await tx.execute(QUERIES.clear_primaries, now=now, **tuple_columns(of, "recipient_ids channels"))


async def prove_mailbox(tx: TenantTx, recipient_id: RecipientId, *, now: datetime) -> bool:
    """Their only mail address is verified: they followed a link that went there. Whether that is new."""
    return bool(await tx.execute(QUERIES.prove_mailbox, recipient_id=recipient_id, now=now))


async def change_addresses(tx: TenantTx, changes: Sequence[AddressChange], *, now: datetime) -> int:
    """Write them; how many there were."""
    return await tx.execute(
        QUERIES.change_addresses,
        now=now,
        **columns(changes, "id verified", primaries="is_primary"),
    )


async def add_addresses(tx: TenantTx | TenantsTx, fresh: Sequence[NewAddress]) -> int:
    """Write them; how many there were."""
    return await tx.execute(
        QUERIES.add_addresses,
        **columns(
            fresh,
            "tenant_id id recipient_id channel ciphertext verified",
            hashes="address_hash",
            primaries="is_primary",
        ),
        created_ats=[time_of(a.id) for a in fresh],
    )


async def remove_addresses(
    tx: TenantTx, *, recipient_id: RecipientId, ids: Sequence[RecipientAddressId]
) -> list[StoredAddress]:
    """Those that were there and are gone."""
    rows = await tx.fetch(QUERIES.remove_addresses, recipient_id=recipient_id, ids=list(ids))
    return [from_row(row) for row in rows]


#: An address as the database gives it.
from_row = RowMapper(
    StoredAddress,
    [QUERIES.load_addresses, QUERIES.remove_addresses],
    columns={"ciphertext": "address_ciphertext"},
)
