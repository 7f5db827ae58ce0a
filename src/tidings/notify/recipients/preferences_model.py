"""What a recipient allows, and what that means for one message; no I/O."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, json, structs

from tidings.contracts.enums import Category
from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, DigestChoice, Locale, QuietHours, TimeZone
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.ids import PREFERENCES, PreferencesId
from tidings.notify.recipients.consent import NOT_GIVEN, Consent

_encode = json.Encoder(order="deterministic").encode


class ChannelChoice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody wants on one channel."""

    #: False: nothing on this channel, but for the categories below that say true.
    allow: bool = True
    #: Category by category; what is not named follows `allow`.
    categories: dict[Category, bool] = {}


class GuardianRouting(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who hears for somebody, or hears too."""

    guardian_id: Annotated[str, Meta(max_length=40)]
    #: `instead`: only the guardian is written to; `copy`: the guardian gets a notification of their own as well.
    mode: Literal["instead", "copy"]
    #: Empty: all categories.
    categories: Annotated[tuple[Category, ...], Meta(max_length=100)] = ()

    def concerns(self, category: str) -> bool:
        """Whether messages of this category go by this rule."""
        return not self.categories or category in self.categories


class Choices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a recipient chose."""

    #: Null: the recipient's own.
    locale: Locale | None = None
    #: Null: the recipient's own.
    timezone: TimeZone | None = None
    channels: dict[Channel, ChannelChoice] = {}
    #: Null: the tenant's; an empty list: none at all.
    quiet_hours: Annotated[tuple[QuietHours, ...], Meta(max_length=20)] | None = None
    #: Category by category, when messages come gathered into one; what is not named follows the tenant's schedule.
    digest_schedule: dict[Category, DigestChoice] = {}
    marketing_consent: Consent = NOT_GIVEN
    guardian_routing: GuardianRouting | None = None
    #: Since when they want nothing that they can say no to.
    global_unsubscribed_at: Moment | None = None


class Preferences(Struct, frozen=True, kw_only=True):
    """A recipient's choices and which version of them this is."""

    recipient_id: RecipientId
    #: None where nothing was ever chosen.
    id: PreferencesId | None
    choices: Choices
    #: Also the ETag; 0 where nothing was ever chosen.
    version: int
    updated_at: datetime | None

    def changed(self, choices: Choices, now: datetime) -> "Preferences":
        """The next version of them."""
        row_id = self.id or PREFERENCES.new(now)
        return structs.replace(self, id=row_id, choices=choices, version=self.version + 1, updated_at=now)


#: What holds for recipients who never chose.
NO_CHOICES = Choices()


def same_choices(one: Choices, other: Choices) -> bool:
    """Whether they say the same; by their text, because what was read from a row is of a type that forgives unknown fields."""
    return _encode(one) == _encode(other)


def nothing_chosen(recipient_id: RecipientId) -> Preferences:
    """The preferences of a recipient who never chose."""
    return Preferences(recipient_id=recipient_id, id=None, choices=NO_CHOICES, version=0, updated_at=None)


#: Why a recipient must not be written to; None where they may be.
Denial = Literal[
    "consent_missing", "unsubscribed_from_all", "category_declined", "channel_declined", "off_by_default"
]
#: A tenant's own, by category and channel, for those who have not said.
Defaults = Mapping[str, Mapping[Channel, bool]]
_NO_DEFAULTS: Defaults = {}


def category_denied(choices: Choices, policy: CategoryPolicy) -> Denial | None:
    """Whether the category as a whole is out, on whatever channel."""
    if policy.needs_consent and not choices.marketing_consent.granted:
        return "consent_missing"
    if policy.can_unsubscribe and choices.global_unsubscribed_at is not None:
        return "unsubscribed_from_all"
    return None


def channel_denied(
    choices: Choices, policy: CategoryPolicy, channel: Channel, defaults: Defaults = _NO_DEFAULTS
) -> Denial | None:
    """Whether this channel is out for the category; none where the category can't be unsubscribed from."""
    if not policy.can_unsubscribe:
        return None
    choice = choices.channels.get(channel)
    if choice is not None:
        named = choice.categories.get(policy.category)
        if named is not None:
            return None if named else "category_declined"
        if not choice.allow:
            return "channel_declined"
    of_category = defaults.get(policy.category)
    return None if of_category is None or of_category.get(channel, True) else "off_by_default"


def categories_named(choices: Choices) -> Mapping[str, str]:
    """Every category in the choices, with the field that names it."""
    found: dict[str, str] = {}
    for channel, choice in choices.channels.items():
        for category in choice.categories:
            found.setdefault(category, f"channels.{channel}.categories.{category}")
    for category in choices.digest_schedule:
        found.setdefault(category, f"digest_schedule.{category}")
    if choices.guardian_routing is not None:
        for i, category in enumerate(choices.guardian_routing.categories):
            found.setdefault(category, f"guardian_routing.categories[{i}]")
    return found
