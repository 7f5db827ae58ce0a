"""The only Python here that runs SQL: facts that lie in several tables, read in one trip."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.errors import MissingReferenceError
from tidings.kernel.sql import Queries
from tidings.notify.branding.model import theme_etag_of
from tidings.notify.branding.store import read_branding
from tidings.notify.categories.store import read_tenants
from tidings.notify.channels.store import from_row as channel_from_row
from tidings.notify.facts.model import TenantFacts
from tidings.notify.recipients.preference_store import from_row as preferences_from_row
from tidings.notify.recipients.preferences_model import NO_CHOICES, Choices
from tidings.notify.tenants.model import TenantStatus
from tidings.notify.tenants.store import read_policy

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """A recipient with what they chose."""

    id: RecipientId
    locale: str
    timezone: str
    erased: bool
    display_name_ciphertext: bytes | None
    choices: Choices
    preferences_version: int


async def load_tenant(tx: TenantTx) -> TenantFacts:
    """The tenant of this transaction, with its channels."""
    rows = await tx.fetch(QUERIES.load_tenant)
    if not rows:
        raise MissingReferenceError("tenants_local")
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


async def load_people(tx: TenantTx, *, recipient_ids: Sequence[RecipientId]) -> dict[RecipientId, PersonRow]:
    """Those that exist."""
    rows = await tx.fetch(QUERIES.load_people, recipient_ids=list(recipient_ids))
    return {person.id: person for person in map(_person, rows)}


def _person(row: Row) -> PersonRow:
    chose = preferences_from_row(row) if row["id"] is not None else None
    return PersonRow(
        id=RecipientId(row["recipient_id"]),
        locale=(chose and chose.choices.locale) or row["primary_locale"],
        timezone=(chose and chose.choices.timezone) or row["primary_timezone"],
        erased=row["erased_at"] is not None,
        display_name_ciphertext=row["display_name_ciphertext"],
        choices=chose.choices if chose else NO_CHOICES,
        preferences_version=chose.version if chose else 0,
    )
