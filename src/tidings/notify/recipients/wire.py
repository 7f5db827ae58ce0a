"""Recipients as JSON: what requests bring beside `recipient_input.py`, and what answers show."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.addresses import redact
from tidings.contracts.enums import Category
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, DigestChoice, Locale, QuietHours, TimeZone
from tidings.contracts.text import Label
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import InvalidError
from tidings.notify.recipients.change import LoadedRecipient
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.model import (
    NAME_PURPOSE,
    IdentityType,
    Recipient,
    StoredAddress,
    address_purpose,
)
from tidings.notify.recipients.preferences_model import (
    ChannelChoice,
    Choices,
    GuardianRouting,
    Preferences,
)
from tidings.notify.recipients.recipient_input import (
    IdentityId,
    RecipientSpec,
    Tag,
    canonical_locale,
    facts_wrong,
)
from tidings.notify.refusals.model import Refusal

#: Recipients that are asked for by their ids at once.
_MOST_IDS: Final = 100


class UpdateRecipient(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; fields left out stay. Tags and attributes are replaced whole."""

    #: Null forgets the name.
    display_name: Label | UnsetType | None = UNSET
    locale: Locale | UnsetType = UNSET
    timezone: TimeZone | UnsetType = UNSET
    tags: Annotated[list[Tag], Meta(max_length=100)] | UnsetType = UNSET
    #: In the clear, for queries: not for personal data.
    attributes: dict[str, Any] | UnsetType = UNSET

    def spec(self) -> RecipientSpec:
        """The same, checked."""
        wrong = facts_wrong(
            locale=self.locale, timezone=self.timezone, tags=self.tags, attributes=self.attributes
        )
        if wrong:
            raise InvalidError(wrong)
        return RecipientSpec(
            display_name=self.display_name,
            locale=UNSET if isinstance(self.locale, UnsetType) else canonical_locale(self.locale),
            timezone=self.timezone,
            tags=UNSET if isinstance(self.tags, UnsetType) else tuple(self.tags),
            attributes=self.attributes,
        )


class ListRecipients(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which recipients are wanted."""

    identity_type: IdentityType | None = None
    #: Exactly this one; name its type too.
    identity_id: IdentityId | None = None
    tag: Tag | None = None
    #: These alone, `rcp_…` with commas between, 100 at most; those that are not known are left out.
    ids: Annotated[str, Meta(max_length=31 * _MOST_IDS)] | None = None

    def named(self) -> list[RecipientId]:
        """The ids, each once; a `BadValueError` where one is none, or another filter stands beside them."""
        if self.identity_type is not None or self.identity_id is not None or self.tag is not None:
            raise BadValueError("ids", "stand alone; leave the other filters out")
        ids = dict.fromkeys((self.ids or "").split(","))
        if len(ids) > _MOST_IDS:
            raise BadValueError("ids", f"may be {_MOST_IDS} at most")
        return [RECIPIENT.parse(one, field="ids") for one in ids]


class ShowRecipient(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is to be shown."""

    #: `true` shows addresses in the clear; needs `recipients:write`, and is audited.
    reveal: Literal["true", "false"] = "false"


class LookUpAddress(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An address that somebody is looked for by. In the body: addresses in URLs end up in other people's logs."""

    #: A telephone number is looked for on `sms`, `whatsapp` and `voice`, whichever is named.
    channel: Channel
    address: Annotated[str, Meta(min_length=1, max_length=4096)]

    def __repr__(self) -> str:
        return f"LookUpAddress({self.channel}, ***)"


class IdentityView(Struct, frozen=True, kw_only=True):
    """Who somebody is in your own system."""

    type: IdentityType
    id: str | None


class RefusalView(Struct, frozen=True, kw_only=True):
    """What was unsubscribed from an address; holds for every recipient who has it."""

    #: Null: everything that can be unsubscribed from.
    category: str | None
    since: Moment
    #: `one_click`, `unsubscribe_page` or `preference_page`.
    source: str


class AddressView(Struct, frozen=True, kw_only=True):
    """An address."""

    id: str
    channel: Channel
    #: A hint such as `l…@e….test`, or the address itself where it was to be revealed; null after an erasure.
    address: str | None
    primary: bool
    verified: bool
    created_at: Moment
    updated_at: Moment
    #: What its owner unsubscribed from by a link in a message to it.
    unsubscribed: list[RefusalView] = []

    @classmethod
    def of(
        cls, stored: StoredAddress, key: DataKey | None, *, reveal: bool, refusals: Sequence[Refusal] = ()
    ) -> "AddressView":
        """The address as it is shown."""
        clear = opened(key, stored.ciphertext, address_purpose(stored.channel))
        return by_name(
            cls,
            stored,
            address=clear if clear is None or reveal else redact(clear),
            primary=stored.is_primary,
            unsubscribed=[
                RefusalView(category=said.category, since=said.refused_at, source=said.source)
                for said in refusals
                if (said.channel, said.address_hash) == (stored.channel, stored.address_hash)
            ],
        )


class RecipientView(Struct, frozen=True, kw_only=True):
    """A recipient."""

    id: str
    #: Null for somebody known by address alone.
    identity: IdentityView | None
    display_name: str | None
    locale: str
    timezone: str
    tags: list[str]
    attributes: dict[str, Any]
    #: Left out in lists.
    addresses: list[AddressView] | UnsetType = UNSET
    #: Since when nothing about them can be read any more.
    erased_at: Moment | None
    version: int
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, whole: LoadedRecipient, *, reveal: bool = False) -> "RecipientView":
        """The recipient with its addresses."""
        return cls._of(
            whole.recipient,
            whole.key,
            [
                AddressView.of(address, whole.key, reveal=reveal, refusals=whole.refusals)
                for address in whole.addresses
            ],
        )

    @classmethod
    def brief(cls, recipient: Recipient, key: DataKey | None) -> "RecipientView":
        """The recipient in a list."""
        return cls._of(recipient, key, UNSET)

    @classmethod
    def _of(
        cls, recipient: Recipient, key: DataKey | None, addresses: list[AddressView] | UnsetType
    ) -> "RecipientView":
        identity = recipient.identity
        return by_name(
            cls,
            recipient,
            identity=IdentityView(type=identity.type, id=identity.id) if identity else None,
            display_name=opened(key, recipient.display_name_ciphertext, NAME_PURPOSE),
            tags=list(recipient.tags),
            addresses=addresses,
        )


class FoundRecipients(Struct, frozen=True, kw_only=True):
    """Everybody who has an address, the oldest first."""

    items: list[RecipientView]
    #: More than 200 have it; these are the first.
    more: bool


class AddressList(Struct, frozen=True, kw_only=True):
    """All addresses of a recipient."""

    items: list[AddressView]


class UpdatePreferences(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; fields left out stay, and a field that is given is replaced whole."""

    locale: Locale | UnsetType | None = UNSET
    timezone: TimeZone | UnsetType | None = UNSET
    channels: dict[Channel, ChannelChoice] | UnsetType = UNSET
    quiet_hours: Annotated[tuple[QuietHours, ...], Meta(max_length=20)] | UnsetType | None = UNSET
    #: Category by category, when messages come gathered into one; an empty one: one by one, or as the tenant has it.
    digest_schedule: dict[Category, DigestChoice] | UnsetType = UNSET
    marketing_consent: Consent | UnsetType = UNSET
    guardian_routing: GuardianRouting | UnsetType | None = UNSET
    global_unsubscribed_at: Moment | UnsetType | None = UNSET

    def over(self, present: Choices) -> Choices:
        """The present choices with these changes."""
        named = {
            name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET
        }
        return Choices(**{**{f: getattr(present, f) for f in present.__struct_fields__}, **named})


class PreferencesView(Choices, frozen=True, kw_only=True):
    """A recipient's preferences."""

    recipient_id: str
    #: 0 where nothing was ever chosen; also the ETag.
    version: int
    updated_at: Moment | None

    @classmethod
    def of(cls, preferences: Preferences) -> "PreferencesView":
        """The preferences as they are shown."""
        choices = preferences.choices
        return cls(
            recipient_id=preferences.recipient_id,
            version=preferences.version,
            updated_at=preferences.updated_at,
            **{name: getattr(choices, name) for name in choices.__struct_fields__},
        )


def opened(key: DataKey | None, box: bytes | None, purpose: str) -> str | None:
    """What was sealed under somebody's key; None where it is gone, or was never there."""
    if key is None or box is None:
        return None
    try:
        return key.unseal(box, purpose).decode()
    except DestroyedKeyError:
        return None
