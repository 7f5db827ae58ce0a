"""The only Python here that runs SQL on recipients."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.kernel.db import Row, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.keyring import FreshKey, StoredKey
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
    #: Those that are new.
    made: dict[RecipientId, Recipient]


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


class NewRecipient(NamedTuple):
    """A recipient to be made, with its key and its addresses."""

    tenant_id: TenantId
    facts: RecipientFacts
    key: FreshKey
    addresses: Sequence[NewAddress]


def facts_of(recipient: Recipient) -> RecipientFacts:
    """The row as it is."""
    return by_name(RecipientFacts, recipient)


async def match_recipients(tx: TenantTx | TenantsTx, wanted: Lookup) -> Matches:
    """Those that exist, by the place where they were asked for."""
    return _matches(await tx.fetch(QUERIES.match_recipients, **_asked(wanted)))


async def find_or_make_recipients(
    tx: TenantTx | TenantsTx, wanted: Lookup, fresh: Sequence[NewRecipient]
) -> Matches:
    """Those that exist, and those of the fresh ones whose identity was not there; one trip for both.

    A fresh one that is neither found nor made was made by another transaction in the meantime, or its key is under a
    wrapping key that is not the newest.
    """
    if not fresh:
        return await match_recipients(tx, wanted)
    addresses = [address for one in fresh for address in one.addresses]
    rows = await tx.fetch(
        QUERIES.find_or_make_recipients,
        **_asked(wanted),
        **columns(
            fresh,
            "tenant_id key.wrapped_key key.tenant_key_version facts.locale facts.timezone",
            new_ids="facts.id",
            names="facts.display_name_ciphertext",
        ),
        new_types=[one.facts.identity.type.value if one.facts.identity else None for one in fresh],
        new_identities=[one.facts.identity.id if one.facts.identity else None for one in fresh],
        tags=[json_text(list(one.facts.tags)) for one in fresh],
        attributes=[json_text(one.facts.attributes) for one in fresh],
        created_ats=[time_of(one.facts.id) for one in fresh],
        **columns(
            addresses,
            new_address_tenants="tenant_id",
            new_address_ids="id",
            new_address_recipients="recipient_id",
            new_address_channels="channel",
            new_address_hashes="address_hash",
            new_address_ciphertexts="ciphertext",
            new_address_primaries="is_primary",
            new_address_verifieds="verified",
        ),
        new_address_created_ats=[time_of(a.id) for a in addresses],
    )
    return _matches(rows)


def _asked(wanted: Lookup) -> dict[str, list[Any]]:
    return {
        **tuple_columns(wanted.ids, "id_places id_tenants ids"),
        **tuple_columns(wanted.identities, "identity_places identity_tenants identity_types identity_ids"),
        **tuple_columns(
            wanted.addresses, "address_places address_tenants address_channels address_hashes nameless"
        ),
    }


def _matches(rows: Sequence[Row]) -> Matches:
    known: dict[int, MatchedRecipient] = {}
    shared: dict[int, list[RecipientId]] = {}
    made: dict[RecipientId, Recipient] = {}
    for row in rows:
        place = row["place"]
        if place is None:
            recipient = from_row(row)
            made[recipient.id] = recipient
        elif row["id"] is not None:
            known[place] = MatchedRecipient(
                recipient=from_row(row), addresses=_addresses(row), keys=_stored_keys(row)
            )
        elif row["candidates"]:
            shared[place] = row["candidates"]
    return Matches(known=known, shared=shared, made=made)


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
        QUERIES.find_or_make_recipients,
        QUERIES.lock_recipients,
        QUERIES.update_recipients,
        QUERIES.find_recipients,
        QUERIES.list_recipients,
    ],
    columns={"locale": "primary_locale", "timezone": "primary_timezone"},
    read={"attributes": msgspec.json.decode},
    of_row={"identity": _identity},
)
