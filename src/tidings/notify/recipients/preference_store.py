"""The only Python here that runs SQL on preferences."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel, QuietHours
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Queries
from tidings.notify.ids import PreferencesId
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import (
    ChannelChoice,
    Choices,
    DigestChoice,
    GuardianRouting,
    Preferences,
)

QUERIES = Queries.beside(__file__)


# Rows were checked when they were written, and may have been written by newer code: read leniently.
class _StoredQuiet(QuietHours, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredChoice(ChannelChoice, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredDigest(DigestChoice, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredConsent(Consent, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredGuardian(GuardianRouting, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


_read_channels = msgspec.json.Decoder(dict[Channel, _StoredChoice]).decode
_read_quiet = msgspec.json.Decoder(tuple[_StoredQuiet, ...]).decode
_read_digests = msgspec.json.Decoder(dict[str, _StoredDigest]).decode
_read_consent = msgspec.json.Decoder(_StoredConsent).decode
_read_guardian = msgspec.json.Decoder(_StoredGuardian).decode


async def load_preferences(
    tx: TenantTx, *, recipient_ids: Sequence[RecipientId]
) -> dict[RecipientId, Preferences]:
    """Of those who ever chose."""
    rows = await tx.fetch(QUERIES.load_preferences, tenant_id=tx.tenant_id, recipient_ids=list(recipient_ids))
    return {RecipientId(row["recipient_id"]): from_row(row) for row in rows}


async def save_preferences(
    tx: TenantTx, fresh: Sequence[tuple[PreferencesId, Preferences]], *, now: datetime
) -> int:
    """Write them all; their recipients have to be locked."""
    return await tx.execute(
        QUERIES.save_preferences,
        tenant_id=tx.tenant_id,
        now=now,
        ids=[row_id for row_id, _ in fresh],
        created_ats=[time_of(row_id) for row_id, _ in fresh],
        recipient_ids=[p.recipient_id for _, p in fresh],
        locales=[p.choices.locale or "" for _, p in fresh],
        timezones=[p.choices.timezone or "" for _, p in fresh],
        channels=[_json(p.choices.channels) for _, p in fresh],
        quiet_hours=[_json_or_none(p.choices.quiet_hours) for _, p in fresh],
        digest_schedules=[_json(p.choices.digest_schedule) for _, p in fresh],
        consents=[_json(p.choices.marketing_consent) for _, p in fresh],
        guardians=[_json_or_none(p.choices.guardian_routing) for _, p in fresh],
        unsubscribed_ats=[p.choices.global_unsubscribed_at for _, p in fresh],
        versions=[p.version for _, p in fresh],
    )


def from_row(row: Row) -> Preferences:
    """Preferences as the database gives them."""
    quiet, guardian = row["quiet_hours"], row["guardian_routing"]
    return Preferences(
        recipient_id=RecipientId(row["recipient_id"]),
        id=PreferencesId(row["id"]),
        choices=Choices(
            locale=row["locale"] or None,
            timezone=row["timezone"] or None,
            channels=dict(_read_channels(row["channels"])),
            quiet_hours=None if quiet is None else _read_quiet(quiet),
            digest_schedule=dict(_read_digests(row["digest_schedule"])),
            marketing_consent=_read_consent(row["marketing_consent"]),
            guardian_routing=None if guardian is None else _read_guardian(guardian),
            global_unsubscribed_at=row["global_unsubscribed_at"],
        ),
        version=row["version"],
        updated_at=row["updated_at"],
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _json_or_none(value: Any) -> str | None:
    return None if value is None else _json(value)
