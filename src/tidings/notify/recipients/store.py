"""The only Python here that runs SQL on recipients."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.kernel.db import Row, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.keyring import StoredKey
from tidings.kernel.mapping import RowMapper, by_name, columns, tuple_columns
from tidings.kernel.sql import Queries, json_text
from tidings.notify.recipients.addresses import NewAddress
from tidings.notify.recipients.errors import UnknownRecipientError
from tidings.notify.recipients.model import Identity, IdentityType, Recipient

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedAddress:
    """What a set needs to know of an address that is there."""

    id: RecipientAddressId
    is_primary: bool
    verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedRecipient:
    """A recipient that was found, with its addresses by channel and hash."""

    recipient: Recipient
    addresses: dict[tuple[str, str], MatchedAddress]
    #: All versions of its data key, as they are stored.
    keys: tuple[StoredKey, ...] = field(default=(), repr=False)


@dataclass(slots=True, kw_only=True)
class Lookup:
    """The recipients to find, each under its index in the request."""

    #: Place, tenant, id.
    ids: list[tuple[int, TenantId, RecipientId]] = field(default_factory=list)
    #: Place, tenant, type, id of the identity.
    identities: list[tuple[int, TenantId, str, str]] = field(default_factory=list)
    #: Place, tenant, channel, hash, and whether only a recipient without an identity is wanted.
    addresses: list[tuple[int, TenantId, str, str, bool]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Who was found, by the place where they were asked for."""

    known: dict[int, MatchedRecipient]
    #: By place: all who have one of the addresses, where none could be chosen.
    shared: dict[int, list[RecipientId]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientFacts:
    """A recipient's row as it is to be written; None: the tenant's default, where there is one."""

    id: RecipientId
    identity: Identity | None
    display_name_ciphertext: bytes | None
    locale: str | None
    timezone: str | None
    tags: Sequence[str]
    attributes: dict[str, Any]


def facts_of(recipient: Recipient) -> RecipientFacts:
    """The row as it is."""
    return by_name(RecipientFacts, recipient)


async def match_recipients(tx: TenantTx | TenantsTx, wanted: Lookup) -> Matches:
    """Those that exist, by the place where they were asked for."""
    ids = tuple_columns(wanted.ids, "id_places id_tenants ids")
    identities = tuple_columns(
        wanted.identities, "identity_places identity_tenants identity_types identity_ids"
    )
    addresses = tuple_columns(
        wanted.addresses, "address_places address_tenants address_channels address_hashes nameless"
    )
    rows = await tx.fetch(QUERIES.match_recipients, **ids, **identities, **addresses)
    return Matches(
        known={
            row["place"]: MatchedRecipient(
                recipient=from_row(row), addresses=_addresses(row), keys=_stored_keys(row)
            )
            for row in rows
            if row["id"] is not None
        },
        shared={row["place"]: row["candidates"] for row in rows if row["id"] is None and row["candidates"]},
    )


async def find_by_address(
    tx: TenantTx, *, channels: Sequence[str], address_hash: str, limit: int
) -> list[RecipientId]:
    """All recipients who have this address on one of these channels, the oldest first."""
    rows = await tx.fetch(
        QUERIES.find_by_address, channels=list(channels), address_hash=address_hash, limit=limit
    )
    return [RecipientId(row["recipient_id"]) for row in rows]


async def lock_new_addresses(
    tx: TenantTx | TenantsTx, *, addresses: Sequence[tuple[TenantId, str, str]]
) -> None:
    """Wait for transactions that are making a recipient for one of these addresses: tenant, channel, hash."""
    await tx.fetch(QUERIES.lock_new_addresses, addresses=[" ".join(address) for address in addresses])


async def insert_recipients(
    tx: TenantTx | TenantsTx,
    tenant_ids: Sequence[TenantId],
    facts: Sequence[RecipientFacts],
    addresses: Sequence[NewAddress],
) -> dict[RecipientId, Recipient]:
    """Those that are new, with their addresses; another transaction made the others in the meantime."""
    rows = await tx.fetch(
        QUERIES.insert_recipients,
        tenant_ids=list(tenant_ids),
        **columns(facts, "id locale timezone", names="display_name_ciphertext"),
        identity_types=[f.identity.type.value if f.identity else None for f in facts],
        identity_ids=[f.identity.id if f.identity else None for f in facts],
        tags=[json_text(list(f.tags)) for f in facts],
        attributes=[json_text(f.attributes) for f in facts],
        created_ats=[time_of(f.id) for f in facts],
        **columns(
            addresses,
            address_tenants="tenant_id",
            address_ids="id",
            address_recipients="recipient_id",
            address_channels="channel",
            address_hashes="address_hash",
            address_ciphertexts="ciphertext",
            address_primaries="is_primary",
            address_verifieds="verified",
        ),
        address_created_ats=[time_of(a.id) for a in addresses],
    )
    return {recipient.id: recipient for recipient in map(from_row, rows)}


async def lock_recipients(tx: TenantTx, *, ids: Sequence[RecipientId]) -> dict[RecipientId, Recipient]:
    """Those that exist, locked until the end of the transaction."""
    rows = await tx.fetch(QUERIES.lock_recipients, ids=list(ids))
    return {recipient.id: recipient for recipient in map(from_row, rows)}


async def update_recipients(
    tx: TenantTx, facts: Sequence[RecipientFacts], *, now: datetime
) -> dict[RecipientId, Recipient]:
    """Write them whole; each gets a new version. They have to be locked."""
    rows = await tx.fetch(
        QUERIES.update_recipients,
        now=now,
        **columns(facts, "id locale timezone", names="display_name_ciphertext"),
        tags=[json_text(list(f.tags)) for f in facts],
        attributes=[json_text(f.attributes) for f in facts],
    )
    return {recipient.id: recipient for recipient in map(from_row, rows)}


async def find_recipients(tx: TenantTx, *, ids: Sequence[RecipientId]) -> dict[RecipientId, Recipient]:
    """Those that exist."""
    rows = await tx.fetch(QUERIES.find_recipients, ids=list(ids))
    return {recipient.id: recipient for recipient in map(from_row, rows)}


async def find_recipient(tx: TenantTx, recipient_id: RecipientId) -> Recipient:
    """One; an `UnknownRecipientError` where it does not exist."""
    found = (await find_recipients(tx, ids=[recipient_id])).get(recipient_id)
    if found is None:
        raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
    return found


class StoredRecipients:
    """The contract's `KnownRecipients`: says to other services who is a recipient here."""

    async def known(self, tx: TenantTx, recipient_ids: Sequence[str]) -> frozenset[str]:
        """Those who exist and were not erased."""
        found = await find_recipients(tx, ids=[RecipientId(one) for one in recipient_ids])
        return frozenset(one.id for one in found.values() if one.erased_at is None)


async def list_recipients(
    tx: TenantTx,
    *,
    after_id: str | None,
    identity_type: IdentityType | None,
    tag: str | None,
    limit: int,
) -> list[Recipient]:
    """The newest first, from a cursor on."""
    rows = await tx.fetch(
        QUERIES.list_recipients, after_id=after_id, identity_type=identity_type, tag=tag, limit=limit
    )
    return [from_row(row) for row in rows]


def _addresses(row: Row) -> dict[tuple[str, str], MatchedAddress]:
    if row["address_ids"] is None:
        return {}
    columns = ("address_ids", "channels", "hashes", "primaries", "verifieds")
    return {
        (channel, address_hash): MatchedAddress(
            id=RecipientAddressId(address_id), is_primary=primary, verified=verified
        )
        for address_id, channel, address_hash, primary, verified in zip(
            *(row[column] for column in columns), strict=True
        )
    }


def _stored_keys(row: Row) -> tuple[StoredKey, ...]:
    if row["key_versions"] is None:
        return ()
    rows = zip(row["key_versions"], row["wrapped_keys"], row["tenant_key_versions"], strict=True)
    return tuple(StoredKey(*key) for key in rows)


def _identity(row: Row) -> Identity | None:
    kind = row["identity_type"]
    return Identity(type=IdentityType(kind), id=row["identity_id"]) if kind is not None else None


#: A recipient as the database gives it.
from_row = RowMapper(
    Recipient,
    [
        QUERIES.match_recipients,
        QUERIES.insert_recipients,
        QUERIES.lock_recipients,
        QUERIES.update_recipients,
        QUERIES.find_recipients,
        QUERIES.list_recipients,
    ],
    columns={"locale": "primary_locale", "timezone": "primary_timezone"},
    read={"attributes": msgspec.json.decode},
    of_row={"identity": _identity},
)
