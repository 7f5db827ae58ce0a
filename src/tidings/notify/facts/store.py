"""The only Python here that runs SQL: facts that lie in several tables, read in one trip."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import Row, TenantsTx, TenantTx
from tidings.kernel.errors import MissingReferenceError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import StoredKey
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.branding.model import theme_etag_of
from tidings.notify.branding.store import read_branding
from tidings.notify.categories.store import read_tenants
from tidings.notify.channels.store import from_row as channel_from_row
from tidings.notify.facts.model import TenantFacts
from tidings.notify.recipients.preference_store import choices_from_row
from tidings.notify.recipients.preferences_model import NO_CHOICES, Choices
from tidings.notify.tenants.model import TenantStatus
from tidings.notify.tenants.store import read_policy

QUERIES = Queries.beside(__file__)

#: A recipient, and whose.
Person: TypeAlias = tuple[TenantId, RecipientId]


class SealedAddress(NamedTuple):
    """An address as it is stored."""

    id: RecipientAddressId
    channel: Channel
    #: Under the tenant's pepper.
    address_hash: str
    #: Under the recipient's key.
    ciphertext: bytes
    is_primary: bool

    def __repr__(self) -> str:
        return f"SealedAddress({self.id}, ***)"


class PersonRow(Struct, frozen=True, kw_only=True):
    """A recipient with what they chose."""

    id: RecipientId
    locale: str
    timezone: str
    erased: bool
    display_name_ciphertext: bytes | None
    choices: Choices
    preferences_version: int
    #: On the channels that were asked for, primaries first and then the oldest.
    addresses: tuple[SealedAddress, ...] = ()
    #: The versions of the key that opens them.
    keys: tuple[StoredKey, ...] = ()

    def __repr__(self) -> str:
        return f"PersonRow({self.id}, ***)"


async def load_tenant(tx: TenantTx) -> TenantFacts:
    """The tenant of this transaction, with its channels."""
    return (await load_tenants(tx, [tx.tenant_id]))[tx.tenant_id]


async def load_tenants(
    tx: TenantTx | TenantsTx, tenant_ids: Iterable[TenantId]
) -> dict[TenantId, TenantFacts]:
    """Tenants with their channels; a `MissingReferenceError` where one does not exist."""
    wanted = sorted(set(tenant_ids))
    rows: dict[TenantId, list[Row]] = {tenant_id: [] for tenant_id in wanted}
    for row in await tx.fetch(QUERIES.load_tenants, tenant_ids=wanted):
        rows[row["tenant_id"]].append(row)
    if not all(rows.values()):
        raise MissingReferenceError("tenants_local")
    return {tenant_id: _tenant(its) for tenant_id, its in rows.items()}


def _tenant(rows: Sequence[Row]) -> TenantFacts:
    first = rows[0]
    return TenantFacts(
        name=first["tenant_name"],
        status=TenantStatus(first["tenant_status"]),
        locale=first["default_locale"],
        timezone=first["default_timezone"],
        policy=read_policy(first["notification_policy"]),
        version=first["event_version"],
        channels={row["channel"]: channel_from_row(row) for row in rows if row["id"] is not None},
        categories=read_tenants(first["categories"]),
        branding=read_branding(first["branding"]) if first["branding"] else None,
        theme_etag=theme_etag_of(first["theme_etag"], first["branding_version"]),
    )


async def load_people(
    tx: TenantTx | TenantsTx, people: Iterable[Person], *, channels: Iterable[Channel] = ()
) -> dict[Person, PersonRow]:
    """Those that exist, with their addresses on these channels."""
    wanted = sorted(set(people))
    rows = await tx.fetch(
        QUERIES.load_people, channels=list(channels), **tuple_columns(wanted, "tenant_ids recipient_ids")
    )
    return {(TenantId(row["tenant_id"]), RecipientId(row["recipient_id"])): person_of(row) for row in rows}


def person_of(row: Row) -> PersonRow:
    """A recipient from a row of `load_people`, or of another query with the same columns."""
    chose = choices_from_row(row) if row["preferences_id"] is not None else NO_CHOICES
    return PersonRow(
        id=row["recipient_id"],
        locale=chose.locale or row["primary_locale"],
        timezone=chose.timezone or row["primary_timezone"],
        erased=row["erased_at"] is not None,
        display_name_ciphertext=row["display_name_ciphertext"],
        choices=chose,
        preferences_version=row["preferences_version"] or 0,
        addresses=tuple(map(SealedAddress._make, row["addresses"])),
        keys=tuple(map(StoredKey._make, row["keys"])),
    )
