"""Tenants as JSON: what requests bring and answers show."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.contracts.tenants import (
    Locale,
    NotificationPolicy,
    Region,
    Slug,
    TenantCreated,
    TenantUpdated,
    ThemeEtag,
    TimeZone,
    Weight,
)
from tidings.contracts.text import Label, Reason
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.notify.tenants.model import Tenant, TenantStatus, check_facts


class CreateTenant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tenant to be."""

    name: Label
    slug: Slug
    region: Region = "local"
    default_locale: Locale = "en-US"
    default_timezone: TimeZone = "UTC"
    notification_policy: NotificationPolicy = NotificationPolicy()
    theme_etag: ThemeEtag = ""
    weight: Weight = 1

    def event(self, tenant_id: TenantId) -> TenantCreated:
        """The event that makes it so."""
        return by_name(TenantCreated, self, tenant_id=tenant_id, version=1)

    def check(self) -> None:
        """What the types can't say."""
        check_facts(
            locale=self.default_locale, timezone=self.default_timezone, policy=self.notification_policy
        )


class UpdateTenant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; fields left out stay. `notification_policy` is replaced whole."""

    name: Label | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    region: Region | UnsetType = UNSET
    default_locale: Locale | UnsetType = UNSET
    default_timezone: TimeZone | UnsetType = UNSET
    notification_policy: NotificationPolicy | UnsetType = UNSET
    theme_etag: ThemeEtag | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET

    def event(self, known: Tenant) -> TenantUpdated | None:
        """The event that makes it so; None where nothing is changed."""
        changes = {
            name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET
        }
        if all(getattr(known, name) == value for name, value in changes.items()):
            return None
        return TenantUpdated(tenant_id=known.id, version=known.version + 1, **changes)

    def check(self) -> None:
        """What the types can't say."""
        check_facts(
            locale=None if self.default_locale is UNSET else self.default_locale,
            timezone=None if self.default_timezone is UNSET else self.default_timezone,
            policy=None if self.notification_policy is UNSET else self.notification_policy,
        )


class StatusChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why the state is changed; for the audit."""

    reason: Reason | None = None


class ListTenants(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tenants are wanted."""

    status: TenantStatus | None = None


class TenantView(Struct, frozen=True, kw_only=True):
    """A tenant."""

    id: str
    name: str | None
    slug: str | None
    region: str
    status: TenantStatus
    frozen: bool
    frozen_at: Moment | None
    default_locale: str
    default_timezone: str
    notification_policy: NotificationPolicy
    theme_etag: str
    weight: int
    version: int
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, tenant: Tenant) -> "TenantView":
        """The tenant as it is shown."""
        return by_name(cls, tenant, frozen=tenant.frozen_at is not None)


class CallerView(Struct, frozen=True, kw_only=True):
    """Who is calling."""

    kind: Literal["key", "jwt"]
    id: str
    role: str
    environment: Literal["live", "test"]
    scopes: list[str]


class OwnTenant(Struct, frozen=True, kw_only=True):
    """Who you are here, and where to go next."""

    message: str
    #: Null for a platform key that names no tenant.
    tenant: TenantView | None
    caller: CallerView
    links: dict[str, str]
