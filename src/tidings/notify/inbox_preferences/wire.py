"""What a person hears, and where, as JSON."""

from typing import Annotated, Self

from msgspec import Meta, Struct

from tidings.contracts.enums import Category
from tidings.contracts.tenants import Channel, Locale
from tidings.notify.inbox_preferences.offers import PersonalOffers
from tidings.notify.recipients.preferences_model import Preferences

_MOST_CATEGORIES = 200


class InboxPreferencesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How categories are named."""

    #: In this language; without it, in the person's own.
    locale: Locale | None = None


class InboxPreferenceCategory(Struct, frozen=True, kw_only=True):
    """A category of messages, and where the person hears it."""

    category: str
    #: As the tenant or the platform calls it; null: as the application does.
    name: str | None
    #: It can't be refused: it always comes.
    locked: bool
    #: It is sent with consent alone: the first yes gives consent, the last no takes it back.
    needs_consent: bool
    #: Channel by channel, whether they hear it there; empty where it is locked.
    channels: dict[str, bool]


class InboxPreferencesView(Struct, frozen=True, kw_only=True):
    """What a person hears, and where."""

    #: Also the ETag; 0 where nothing was ever chosen.
    version: int
    #: The channels that reach them, in the order in which they are shown.
    channels: list[Channel]
    #: In the tenant's order.
    categories: list[InboxPreferenceCategory]
    #: They want nothing that they can say no to.
    everything_off: bool
    #: They have given consent, and it counts once they have followed the link in a mail (double opt-in).
    consent_pending: bool

    @classmethod
    def of(cls, known: Preferences, offers: PersonalOffers) -> Self:
        """As it stands after these choices."""
        choices = known.choices
        return cls(
            version=known.version,
            channels=list(offers.shown_channels),
            categories=[
                InboxPreferenceCategory(
                    category=offer.category,
                    name=offer.name,
                    locked=not offer.channels,
                    needs_consent=offer.needs_consent,
                    channels=dict(offer.channels),
                )
                for offer in offers.at(choices)
            ],
            everything_off=choices.global_unsubscribed_at is not None,
            consent_pending=choices.marketing_consent.pending_since is not None,
        )


class ChangeInboxPreferences(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wanted from now on; what is not named stays."""

    #: Category by category and channel by channel: `{"billing": {"email": false}}`.
    categories: Annotated[dict[Category, dict[Channel, bool]], Meta(max_length=_MOST_CATEGORIES)] = {}
    #: True: nothing any more that can be refused. It goes alone; any yes afterwards ends it.
    everything_off: bool = False
