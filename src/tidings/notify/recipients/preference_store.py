"""The only Python here that runs SQL on preferences."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel, QuietHours
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper, columns, optional
from tidings.kernel.sql import Queries, json_text
from tidings.notify.digest_windows.schedule import read_schedule
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import (
    ChannelChoice,
    Choices,
    GuardianRouting,
    Preferences,
)

QUERIES = Queries.beside(__file__)


# Rows were checked when they were written, and may have been written by newer code: read leniently.
class _StoredQuiet(QuietHours, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredChoice(ChannelChoice, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredConsent(Consent, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


class _StoredGuardian(GuardianRouting, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


_read_channels = msgspec.json.Decoder(dict[Channel, _StoredChoice]).decode
_read_quiet = msgspec.json.Decoder(tuple[_StoredQuiet, ...]).decode
_read_consent = msgspec.json.Decoder(_StoredConsent).decode
_read_guardian = msgspec.json.Decoder(_StoredGuardian).decode


async def load_preferences(
    tx: TenantTx, *, recipient_ids: Sequence[RecipientId]
) -> dict[RecipientId, Preferences]:
    """Of those who ever chose."""
    rows = await tx.fetch(QUERIES.load_preferences, recipient_ids=list(recipient_ids))
    return {RecipientId(row["recipient_id"]): from_row(row) for row in rows}


async def save_preferences(tx: TenantTx, fresh: Sequence[Preferences], *, now: datetime) -> int:
    """Write them all, each with the id of its row; their recipients have to be locked."""
    return await tx.execute(
        QUERIES.save_preferences,
        now=now,
        created_ats=[time_of(str(p.id)) for p in fresh],
        **columns(fresh, "id recipient_id version", unsubscribed_ats="choices.global_unsubscribed_at"),
        locales=[p.choices.locale or "" for p in fresh],
        timezones=[p.choices.timezone or "" for p in fresh],
        channels=[json_text(p.choices.channels) for p in fresh],
        quiet_hours=[_json_or_none(p.choices.quiet_hours) for p in fresh],
        digest_schedules=[json_text(p.choices.digest_schedule) for p in fresh],
        consents=[json_text(p.choices.marketing_consent) for p in fresh],
        guardians=[_json_or_none(p.choices.guardian_routing) for p in fresh],
    )


def _json_or_none(value: object) -> str | None:
    return None if value is None else json_text(value)


_READ: Final = {
    "locale": lambda text: text or None,
    "timezone": lambda text: text or None,
    "channels": _read_channels,
    "quiet_hours": optional(_read_quiet),
    "digest_schedule": read_schedule,
    "marketing_consent": _read_consent,
    "guardian_routing": optional(_read_guardian),
}
#: Preferences as the database gives them.
from_row = RowMapper(
    Preferences, [QUERIES.load_preferences], of_row={"choices": RowMapper(Choices, [], read=_READ)}
)
_beside = {"locale": "chosen_locale", "timezone": "chosen_timezone", "channels": "chosen_channels"}
#: The choices alone, from a row that has columns of the recipient as well.
choices_from_row = RowMapper(Choices, [], columns=_beside, read=_READ)
