"""Rows of preferences: who it is about, and what they chose where they were before."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from tidings.contracts.enums import Category
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, DigestChoice, Locale, QuietHours, TimeZone
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import ChannelChoice, Choices
from tidings.notify.recipients.recipient_input import IdentityInput

#: Columns of a CSV that are one field each; all others are named by the path to what they hold.
PLAIN: Final = ("id", "locale", "timezone", "global_unsubscribed_at")
_CONSENT = "marketing_consent."
_CHANNELS = "channels."
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ImportedChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a recipient wants on one channel; what is not named stays."""

    allow: bool | UnsetType = UNSET
    categories: dict[Category, bool] = {}

    def over(self, present: ChannelChoice | None) -> ChannelChoice:
        """The present choice with this one's."""
        before = present or ChannelChoice()
        return ChannelChoice(
            allow=before.allow if isinstance(self.allow, UnsetType) else self.allow,
            categories={**before.categories, **self.categories},
        )


class ImportedPreferences(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row; what is left out stays as it is."""

    #: A recipient that is known, by our id or by their identity in the tenant's own system.
    id: Annotated[str, Meta(max_length=40)] | UnsetType = UNSET
    identity: IdentityInput | UnsetType = UNSET
    locale: Locale | UnsetType = UNSET
    timezone: TimeZone | UnsetType = UNSET
    channels: dict[Channel, ImportedChannel] = {}
    quiet_hours: Annotated[tuple[QuietHours, ...], Meta(max_length=20)] | UnsetType = UNSET
    digest_schedule: dict[Category, DigestChoice] = {}
    marketing_consent: Consent | UnsetType = UNSET
    global_unsubscribed_at: Moment | UnsetType = UNSET

    def over(self, present: Choices) -> Choices:
        """The present choices with these."""
        plain = {
            name: value
            for name in ("locale", "timezone", "quiet_hours", "marketing_consent", "global_unsubscribed_at")
            if (value := getattr(self, name)) is not UNSET
        }
        channels = {name: choice.over(present.channels.get(name)) for name, choice in self.channels.items()}
        return structs.replace(
            present,
            channels={**present.channels, **channels},
            digest_schedule={**present.digest_schedule, **self.digest_schedule},
            **plain,
        )


def strange_columns(header: tuple[str, ...]) -> list[int]:
    """The places, from 1, of headings that mean nothing."""
    return [
        place
        for place, name in enumerate(header, start=1)
        if name not in PLAIN
        and name not in {"identity_type", "identity_id"}
        and name.removeprefix(_CONSENT) not in {"granted", "source", "evidence", "at"}
        and not _channel_path(name)
    ]


def nested(cells: Mapping[str, str]) -> dict[str, Any]:
    """The object that a line of a CSV stands for; an empty cell leaves its field as it is."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        value = cell.strip()
        if not value:
            continue
        if name in PLAIN:
            found[name] = value
        elif name.startswith("identity_"):
            found.setdefault("identity", {})[name.removeprefix("identity_")] = value
        elif name.startswith(_CONSENT):
            field = name.removeprefix(_CONSENT)
            found.setdefault("marketing_consent", {})[field] = _flag(value) if field == "granted" else value
        else:
            channel, *rest = name.removeprefix(_CHANNELS).split(".")
            choice = found.setdefault("channels", {}).setdefault(channel, {})
            if rest == ["allow"]:
                choice["allow"] = _flag(value)
            else:
                choice.setdefault("categories", {})[rest[1]] = _flag(value)
    return found


def read(values: Mapping[str, Any]) -> ImportedPreferences:
    """The row, checked; a `msgspec.ValidationError` where it is not in order."""
    row = msgspec.convert(dict(values), ImportedPreferences)
    consent = row.marketing_consent
    for path, moment in (
        ("global_unsubscribed_at", row.global_unsubscribed_at),
        ("marketing_consent.at", consent.at if consent is not UNSET else UNSET),
    ):
        if isinstance(moment, datetime) and not _is_storable(moment):
            raise msgspec.ValidationError(f"Expected a moment that has a day in UTC - at `$.{path}`")
    return row


def _is_storable(moment: datetime) -> bool:
    # At either end of time an offset leads out of it, and the database would refuse the whole set.
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True


def _channel_path(name: str) -> bool:
    parts = name.split(".")
    if parts[0] != "channels":
        return False
    return (len(parts) == 3 and parts[2] == "allow") or (len(parts) == 4 and parts[2] == "categories")


def _flag(text: str) -> Any:
    # What is neither is left as it is: the check that follows names the field.
    return _FLAGS.get(text.lower(), text)
