"""A tenant and how events change it: state in, state out, no I/O."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from zoneinfo import available_timezones

from msgspec import UNSET

from tidings.contracts.tenants import (
    NotificationPolicy,
    TenantActivated,
    TenantCreated,
    TenantDeleting,
    TenantEvent,
    TenantFrozen,
    TenantSuspended,
    TenantUnfrozen,
    TenantUpdated,
)
from tidings.kernel.ids import EventId, TenantId, time_of
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.tenants.digest_forms import form_faults
from tidings.notify.tenants.errors import UnprojectableError
from tidings.notify.tenants.locales import UNKNOWN_LOCALE, locale_exists


class TenantStatus(StrEnum):
    """Where a tenant stands; being frozen is beside it."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    #: There is no way back from here.
    DELETING = "deleting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """What we know of a tenant."""

    id: TenantId
    slug: str | None
    name: str | None
    region: str
    status: TenantStatus
    #: Since when it is frozen; None while it is not.
    frozen_at: datetime | None
    default_locale: str
    default_timezone: str
    notification_policy: NotificationPolicy
    #: Names its branding.
    theme_etag: str
    #: Its share of turns between tenants.
    weight: int
    #: The version of the last event applied; also its ETag.
    version: int
    last_event_id: EventId | None
    updated_at: datetime

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)


def apply(known: Tenant | None, event: TenantEvent, *, event_id: EventId, at: datetime) -> Tenant:
    """The tenant after the event; the same one where the event is not newer than what is known."""
    if known is not None and event.version <= known.version:
        return known
    if isinstance(event, TenantCreated):
        return _created(known, event, event_id, at)
    if known is None:
        raise UnprojectableError(
            f"tenant {event.tenant_id} is not known; its tenant.created event has to come first"
        )
    changed = replace(known, version=event.version, last_event_id=event_id, updated_at=at)
    match event:
        case TenantUpdated():
            return _updated(changed, event)
        case TenantFrozen():
            return replace(changed, frozen_at=known.frozen_at or at)
        case TenantUnfrozen():
            return replace(changed, frozen_at=None)
        case TenantDeleting():
            return replace(changed, status=TenantStatus.DELETING)
        case TenantSuspended():
            return replace(changed, status=_unless_leaving(known, TenantStatus.SUSPENDED))
        case TenantActivated():
            return replace(changed, status=_unless_leaving(known, TenantStatus.ACTIVE))


def _unless_leaving(known: Tenant, wanted: TenantStatus) -> TenantStatus:
    return known.status if known.status is TenantStatus.DELETING else wanted


def _created(known: Tenant | None, event: TenantCreated, event_id: EventId, at: datetime) -> Tenant:
    # Told twice with a newer version: the facts are replaced, the state it has reached stays.
    return by_name(
        Tenant,
        event,
        id=TenantId(event.tenant_id),
        status=known.status if known else TenantStatus.ACTIVE,
        frozen_at=known.frozen_at if known else None,
        last_event_id=event_id,
        updated_at=at,
    )


def _updated(tenant: Tenant, event: TenantUpdated) -> Tenant:
    return replace(
        tenant,
        name=tenant.name if event.name is UNSET else event.name,
        slug=tenant.slug if event.slug is UNSET else event.slug,
        region=tenant.region if event.region is UNSET else event.region,
        default_locale=tenant.default_locale if event.default_locale is UNSET else event.default_locale,
        default_timezone=tenant.default_timezone
        if event.default_timezone is UNSET
        else event.default_timezone,
        notification_policy=(
            tenant.notification_policy if event.notification_policy is UNSET else event.notification_policy
        ),
        theme_etag=tenant.theme_etag if event.theme_etag is UNSET else event.theme_etag,
        weight=tenant.weight if event.weight is UNSET else event.weight,
    )


def check_facts(*, locale: str | None, timezone: str | None, policy: NotificationPolicy | None) -> None:
    """What the types can't say: locales and zones exist, quiet hours last, no domain is named twice; all faults at once."""
    wrong: list[FieldError] = []
    if locale is not None and not locale_exists(locale):
        wrong.append(FieldError("default_locale", UNKNOWN_LOCALE))
    if timezone is not None and not zone_exists(timezone):
        wrong.append(FieldError("default_timezone", _ZONE))
    if policy is not None:
        wrong += _policy_faults(policy)
    if wrong:
        raise InvalidError(wrong)


_ZONE = "must be an IANA time zone such as Europe/Berlin"
_NO_RETENTION = "does nothing yet: how long notifications are kept is the same for all tenants; leave it out"


def _policy_faults(policy: NotificationPolicy) -> list[FieldError]:
    wrong: list[FieldError] = []
    for i, hours in enumerate(policy.quiet_hours):
        at = f"notification_policy.quiet_hours[{i}]"
        if hours.timezone is not None and not zone_exists(hours.timezone):
            wrong.append(FieldError(f"{at}.timezone", _ZONE))
        if hours.start == hours.end:
            wrong.append(FieldError(f"{at}.end", "must differ from start"))
        if len(set(hours.days)) != len(hours.days):
            wrong.append(FieldError(f"{at}.days", "must name each day once"))
    for name in ("allowed_link_domains", "allowed_sender_domains"):
        domains = getattr(policy, name)
        if len(set(domains)) != len(domains):
            wrong.append(FieldError(f"notification_policy.{name}", "must name each domain once"))
    for name, choice in policy.digest_schedule.items():
        wrong += form_faults(choice, at=f"notification_policy.digest_schedule.{name}")
    if len(set(policy.allowed_sender_ids)) != len(policy.allowed_sender_ids):
        wrong.append(FieldError("notification_policy.allowed_sender_ids", "must name each sender once"))
    if policy.retention is not None:
        wrong.append(FieldError("notification_policy.retention", _NO_RETENTION))
    return wrong


def zone_exists(name: str) -> bool:
    """Whether this is the name of a time zone."""
    return name in _zones()


@cache
def _zones() -> frozenset[str]:
    # What the machine itself is set to is not a name that means the same elsewhere.
    return frozenset(available_timezones() - {"localtime", "posixrules", "Factory"})
