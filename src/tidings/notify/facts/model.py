"""All that deciding needs to know about a set of notifications, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.contracts.inbox import IN_APP
from tidings.contracts.tenants import Channel, DigestChoice, NotificationPolicy, QuietHours
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.branding.model import TenantBranding, brand_of
from tidings.notify.categories.model import CategoryPolicy, TenantCategory
from tidings.notify.channels.model import INBOX_BY_ITSELF, ChannelConfig
from tidings.notify.digest_windows.schedule import in_force
from tidings.notify.ids import AddressRefusalId
from tidings.notify.recipients.preferences_model import Choices
from tidings.notify.render.model import Brand
from tidings.notify.suppressions.model import SuppressionMatch
from tidings.notify.tenants.model import TenantStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFacts:
    """What is the same for all tenants; asked for before a transaction begins."""

    categories: Mapping[str, CategoryPolicy]
    platform_pepper: Pepper


class AddressFacts(Struct, frozen=True, kw_only=True):
    """One address of a recipient."""

    id: RecipientAddressId
    channel: Channel
    #: None where the recipient was erased.
    value: NormalisedAddress | None
    is_primary: bool
    #: Why it must not be written to.
    held: SuppressionMatch | None
    #: Under the tenant's pepper.
    address_hash: str = ""
    #: What its owner refused from it, by category; '' for everything that can be unsubscribed from.
    refused: Mapping[str, AddressRefusalId] = {}

    def __repr__(self) -> str:
        return f"AddressFacts({self.id}, {self.channel}, ***)"


class PersonFacts(Struct, frozen=True, kw_only=True):
    """A recipient, in the light of what they chose."""

    id: RecipientId
    erased: bool
    #: What they chose, or else their own, or else the tenant's.
    locale: str
    timezone: str
    choices: Choices
    #: 0 where nothing was ever chosen.
    preferences_version: int
    display_name_ciphertext: bytes | None
    #: Primaries first, then the oldest; only of the channels that were asked for.
    addresses: Mapping[Channel, tuple[AddressFacts, ...]]
    #: For opening and sealing what is theirs; None where it was not asked for.
    key: DataKey | None

    def __repr__(self) -> str:
        return f"PersonFacts({self.id}, ***)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantFacts:
    """The tenant whose notifications these are."""

    name: str | None
    status: TenantStatus
    locale: str
    timezone: str
    policy: NotificationPolicy
    #: The tenant's version: which policy was decided by.
    version: int
    channels: Mapping[Channel, ChannelConfig]
    #: Vendors over which it sends through the platform's account, each with that account's handle; only where a step is decided.
    shared: Mapping[str, str | None] = field(default_factory=dict)
    #: Its own categories, and how it shows the platform's.
    categories: tuple[TenantCategory, ...] = ()
    #: How it looks; None where it has not said.
    branding: TenantBranding | None = None
    #: Names that look.
    theme_etag: str = ""

    def config_of(self, channel: Channel) -> ChannelConfig | None:
        """How a channel is set up; None where it is not. The in-app inbox is there by itself: nobody outside is needed for it."""
        return self.channels.get(channel) or (INBOX_BY_ITSELF if channel == IN_APP else None)

    def brand_on(self, channel: Channel) -> Brand:
        """How it looks on a channel, which may override parts of it."""
        config = self.channels.get(channel)
        return brand_of(
            self.branding,
            config.branding if config is not None else None,
            tenant_name=self.name,
            theme_etag=self.theme_etag,
            allowed=self.policy.allowed_link_domains,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All of it, for one tenant."""

    tenant: TenantFacts
    categories: Mapping[str, CategoryPolicy]
    #: Guardians are among them.
    people: Mapping[RecipientId, PersonFacts]

    def quiet_hours(self, person: PersonFacts) -> tuple[QuietHours, ...]:
        """Theirs, or else the tenant's."""
        own = person.choices.quiet_hours
        return self.tenant.policy.quiet_hours if own is None else own

    def digest_choice(self, person: PersonFacts, category: str) -> DigestChoice | None:
        """When messages of the category come gathered into one: their own choice, or else the tenant's; None: one by one."""
        own, usual = person.choices.digest_schedule, self.tenant.policy.digest_schedule
        return in_force(own.get(category), usual.get(category)) if own or usual else None
