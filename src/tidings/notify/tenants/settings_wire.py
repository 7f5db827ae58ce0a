"""What a tenant decides for itself, as JSON."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.tenants import (
    Channel,
    Count,
    DigestChoice,
    Domain,
    Locale,
    MetadataKey,
    NotificationPolicy,
    PreferenceCategory,
    QuietHours,
    SendingLimits,
    TimeZone,
    Tracking,
)
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.tenants.model import Tenant, check_facts

_POLICY = "notification_policy."


class RecipientLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How much one person gets at most; what is over a limit waits for the next window."""

    per_recipient_per_hour: Count | None = None
    per_recipient_per_day: Count | None = None
    #: Over each of these channels.
    per_recipient_per_channel_per_hour: dict[Channel, Count] = {}
    per_recipient_per_channel_per_day: dict[Channel, Count] = {}


class UpdateSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; what is left out stays, and what is named is replaced whole."""

    default_locale: Locale | UnsetType = UNSET
    #: An IANA time zone such as Europe/Berlin.
    default_timezone: TimeZone | UnsetType = UNSET
    quiet_hours: Annotated[tuple[QuietHours, ...], Meta(max_length=20)] | UnsetType = UNSET
    limits: RecipientLimits | UnsetType = UNSET
    #: Links in messages may lead there only; empty: anywhere.
    allowed_link_domains: Annotated[tuple[Domain, ...], Meta(max_length=200)] | UnsetType = UNSET
    preference_defaults: dict[PreferenceCategory, dict[Channel, bool]] | UnsetType = UNSET
    digest_schedule: dict[PreferenceCategory, DigestChoice] | UnsetType = UNSET
    double_opt_in: bool | UnsetType = UNSET
    tracking: Tracking | UnsetType = UNSET
    searchable_metadata: Annotated[tuple[MetadataKey, ...], Meta(max_length=10)] | UnsetType = UNSET
    batches_need_approval: bool | UnsetType = UNSET

    def changes(self, known: Tenant) -> dict[str, Any]:
        """The tenant's facts that would be otherwise, by their names."""
        given = {
            name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET
        }
        facts: dict[str, Any] = {
            name: given.pop(name) for name in ("default_locale", "default_timezone") if name in given
        }
        if isinstance(self.limits, RecipientLimits):
            own = msgspec.to_builtins(self.limits)
            kept = known.notification_policy.limits or SendingLimits()
            given["limits"] = msgspec.structs.replace(
                kept, **{name: own.get(name, _default(name)) for name in RecipientLimits.__struct_fields__}
            )
        policy = msgspec.structs.replace(known.notification_policy, **given)
        facts["notification_policy"] = policy
        self._check(facts, policy)
        return {name: value for name, value in facts.items() if getattr(known, name) != value}

    def _check(self, facts: dict[str, Any], policy: NotificationPolicy) -> None:
        try:
            check_facts(
                locale=facts.get("default_locale"), timezone=facts.get("default_timezone"), policy=policy
            )
        except InvalidError as wrong:
            raise InvalidError(
                [FieldError(one.field.removeprefix(_POLICY), one.remedy) for one in wrong.errors]
            ) from None


class SettingsView(Struct, frozen=True, kw_only=True):
    """What a tenant decides for itself, and beside it what the platform has decided for it."""

    default_locale: str
    default_timezone: str
    quiet_hours: tuple[QuietHours, ...]
    limits: RecipientLimits
    allowed_link_domains: tuple[str, ...]
    preference_defaults: dict[str, dict[Channel, bool]]
    digest_schedule: dict[str, DigestChoice]
    double_opt_in: bool
    tracking: Tracking
    searchable_metadata: tuple[str, ...]
    batches_need_approval: bool
    #: The platform's, which only its people change.
    allowed_sender_domains: tuple[str, ...]
    allowed_sender_ids: tuple[str, ...]
    per_second: int | None
    per_day: int | None
    per_channel_per_second: dict[Channel, int]
    #: Also its ETag.
    version: int

    @classmethod
    def of(cls, tenant: Tenant) -> "SettingsView":
        """The tenant's settings."""
        policy = tenant.notification_policy
        limits = policy.limits or SendingLimits()
        return by_name(
            cls,
            policy,
            default_locale=tenant.default_locale,
            default_timezone=tenant.default_timezone,
            limits=by_name(RecipientLimits, limits),
            per_second=limits.per_second,
            per_day=limits.per_day,
            per_channel_per_second=dict(limits.per_channel_per_second),
            version=tenant.version,
        )


def _default(name: str) -> Any:
    return {} if "per_channel" in name else None
