"""Tenants as events tell of them; frozen, and grown only by addition.

Every event carries the tenant's version after it. Events of one tenant arrive in order, and one that is not
newer than what is known changes nothing.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Channel = Literal["email", "sms", "whatsapp", "telegram", "viber", "voice", "push", "inapp", "webhook"]

Slug = Annotated[
    str,
    Meta(
        min_length=2,
        max_length=63,
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*\Z",
        description="must be lower-case letters, digits and single hyphens, beginning with a letter",
    ),
]
Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be one line of text without control characters",
    ),
]
Region = Annotated[
    str,
    Meta(
        max_length=63,
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*\Z",
        description="must be a region's name such as eu-west-1",
    ),
]
Locale = Annotated[
    str,
    Meta(
        max_length=35,
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*\Z",
        description="must be a language tag such as en-US, fa-AF or zh-Hant-TW",
    ),
]
TimeZone = Annotated[
    str, Meta(min_length=1, max_length=64, description="An IANA time zone such as Europe/Berlin.")
]
TimeOfDay = Annotated[
    str,
    Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z", description="must be a time of day such as 22:00"),
]
Domain = Annotated[
    str,
    Meta(
        max_length=253,
        pattern=r"^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]\Z",
        description="must be a lower-case domain such as example.com or *.example.com",
    ),
]
#: The number or name that telephones show.
SenderId = Annotated[
    str,
    Meta(
        max_length=20,
        pattern=r"^(\+?[0-9]{3,15}|[A-Za-z0-9][A-Za-z0-9 _-]{0,10})\Z",
        description="must be a number, or up to 11 letters and digits",
    ),
]
#: One of a list of domains that mail may come from; `*` for all.
GrantedDomain = Annotated[
    str,
    Meta(
        max_length=253,
        pattern=r"^(\*|(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9])\Z",
        description="must be a lower-case domain such as example.com or *.example.com, or * for all",
    ),
]
#: One of a list of numbers and names that telephones may show; `*` for all.
GrantedSenderId = Annotated[
    str,
    Meta(
        max_length=20,
        pattern=r"^(\*|\+?[0-9]{3,15}|[A-Za-z0-9][A-Za-z0-9 _-]{0,10})\Z",
        description="must be a number, or up to 11 letters and digits, or * for all",
    ),
]
#: `contracts.enums.Category`, which needs the channels from here.
PreferenceCategory = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9_]{1,62}\Z",
        description="must be a category such as transactional or marketing",
    ),
]
#: A name in the metadata of notifications.
MetadataKey = Annotated[
    str,
    Meta(
        max_length=64,
        pattern=r"^[A-Za-z_][A-Za-z0-9_-]*\Z",
        description="must be up to 64 letters, digits, _ and -, beginning with a letter or _",
    ),
]
Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Days = Annotated[int, Meta(ge=1, le=3650)]
Weight = Annotated[int, Meta(ge=1, le=1000)]
ThemeEtag = Annotated[str, Meta(max_length=200)]


class QuietHours(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When people are left in peace; may reach across midnight."""

    days: Annotated[tuple[Day, ...], Meta(min_length=1, max_length=7)]
    start: TimeOfDay
    end: TimeOfDay
    #: The recipient's own zone where this is left out.
    timezone: TimeZone | None = None


class DigestChoice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When messages of a category come, gathered into one."""

    #: `hour`: at the full hour. `day` and `week`: at a local time. `minutes`: so long after the first message. `pause`: when no
    #: more have come for so long. `never`: one by one, whatever the tenant's own schedule says.
    every: Literal["hour", "day", "week", "minutes", "pause", "never"]
    #: The local time of a daily or weekly digest; 09:00 where it is left out.
    at: TimeOfDay | None = None
    #: The day of a weekly one; Monday where neither this nor `days` is there.
    day: Day | None = None
    #: The days, where it comes on several of a week.
    days: Annotated[tuple[Day, ...], Meta(max_length=7)] = ()
    #: Of `minutes` and `pause`.
    minutes: Annotated[int, Meta(ge=1, le=1440)] | None = None
    #: Of `pause`: however many messages follow, it comes so long after the first at the latest.
    at_most_minutes: Annotated[int, Meta(ge=1, le=10080)] | None = None
    #: The items of a digest that was not opened are in the next one once more.
    merge_unread: bool = False


class SendingLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How much is sent at most; what is over a limit waits for the next window."""

    per_second: Count | None = None
    per_day: Count | None = None
    per_recipient_per_hour: Count | None = None
    per_recipient_per_day: Count | None = None
    per_channel_per_second: dict[Channel, Count] = {}
    #: Over each of these channels, to one recipient.
    per_recipient_per_channel_per_hour: dict[Channel, Count] = {}
    per_recipient_per_channel_per_day: dict[Channel, Count] = {}


class Retention(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Reserved: for how many days notifications are kept, by retention class. Nothing reads it yet, and the API refuses it."""

    regulated_days: Days | None = None
    standard_days: Days | None = None
    marketing_days: Days | None = None


class Tracking(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is watched of mails that were sent; only where their category allows it too."""

    #: A picture of one dot says that a mail was opened.
    opens: bool = False
    #: Links lead by us, who note that one was followed.
    clicks: bool = False


class NotificationPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tenant's defaults for everything it sends."""

    quiet_hours: Annotated[tuple[QuietHours, ...], Meta(max_length=20)] = ()
    limits: SendingLimits | None = None
    #: Links in messages may lead there only; empty: anywhere.
    allowed_link_domains: Annotated[tuple[Domain, ...], Meta(max_length=200)] = ()
    #: Mail may come from there only; `*`: from anywhere. Empty: over the platform's accounts from their own address only,
    #: over the tenant's own accounts from wherever a channel's sender says.
    allowed_sender_domains: Annotated[tuple[GrantedDomain, ...], Meta(max_length=200)] = ()
    #: Telephones may show these only; `*`: anything. Empty: over the platform's accounts their own sender only, over the
    #: tenant's own accounts whatever a channel's sender says.
    allowed_sender_ids: Annotated[tuple[GrantedSenderId, ...], Meta(max_length=200)] = ()
    #: Reserved: refused by the API, since nothing would follow from it; events of upstream services may carry it.
    retention: Retention | None = None
    #: Category by category and channel by channel, whether people hear it who have not said; yes where it is not named.
    preference_defaults: dict[PreferenceCategory, dict[Channel, bool]] = {}
    #: Category by category, when messages come gathered into one, for those who have not chosen.
    digest_schedule: dict[PreferenceCategory, DigestChoice] = {}
    #: Consent counts only once the person has confirmed it from a message to them.
    double_opt_in: bool = False
    #: Nothing is watched unless it is switched on here.
    tracking: Tracking = Tracking()
    #: Names in the metadata of notifications that they are found by, such as `order_number`.
    searchable_metadata: Annotated[tuple[MetadataKey, ...], Meta(max_length=10)] = ()
    #: A batch is started only after somebody else than its author has approved it.
    batches_need_approval: bool = False


class _TenantEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    tenant_id: str
    #: The tenant's version after this event; grows by at least one.
    version: int


class TenantCreated(_TenantEvent, frozen=True, kw_only=True):
    """A tenant came to be."""

    name: Name
    region: Region
    slug: Slug | None = None
    default_locale: Locale = "en-US"
    default_timezone: TimeZone = "UTC"
    notification_policy: NotificationPolicy = NotificationPolicy()
    theme_etag: ThemeEtag = ""
    weight: Weight = 1


class TenantUpdated(_TenantEvent, frozen=True, kw_only=True):
    """Some facts about a tenant changed; those not named stay."""

    name: Name | UnsetType = UNSET
    region: Region | UnsetType = UNSET
    slug: Slug | UnsetType | None = UNSET
    default_locale: Locale | UnsetType = UNSET
    default_timezone: TimeZone | UnsetType = UNSET
    notification_policy: NotificationPolicy | UnsetType = UNSET
    theme_etag: ThemeEtag | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET


class _TenantStatusEvent(_TenantEvent, frozen=True, kw_only=True, omit_defaults=True):
    #: Why, for people.
    reason: Annotated[str, Meta(max_length=500)] | None = None


class TenantSuspended(_TenantStatusEvent, frozen=True, kw_only=True):
    """Its API is closed and its sending is held."""


class TenantActivated(_TenantStatusEvent, frozen=True, kw_only=True):
    """It is no longer suspended."""


class TenantFrozen(_TenantStatusEvent, frozen=True, kw_only=True):
    """It takes no new API writes; what was accepted drains."""


class TenantUnfrozen(_TenantStatusEvent, frozen=True, kw_only=True):
    """It takes writes again."""


class TenantDeleting(_TenantStatusEvent, frozen=True, kw_only=True):
    """It is on its way out; there is no way back."""


TenantEvent = (
    TenantCreated
    | TenantUpdated
    | TenantSuspended
    | TenantActivated
    | TenantFrozen
    | TenantUnfrozen
    | TenantDeleting
)

#: What happened → the form of its payload.
TENANT_EVENTS: dict[str, type[TenantEvent]] = {
    "tenant.created.v1": TenantCreated,
    "tenant.updated.v1": TenantUpdated,
    "tenant.suspended.v1": TenantSuspended,
    "tenant.activated.v1": TenantActivated,
    "tenant.frozen.v1": TenantFrozen,
    "tenant.unfrozen.v1": TenantUnfrozen,
    "tenant.deleting.v1": TenantDeleting,
}
