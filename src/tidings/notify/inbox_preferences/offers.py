"""What a person may choose in their inbox, and what a yes or a no of theirs means; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tidings.contracts.enums import CHANNELS, Category
from tidings.contracts.tenants import Channel
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.preference_center.address_choices import AddressChoices, words_of_save
from tidings.notify.preference_center.choices import IN_APP_INBOX, Pair, offers_for, ticked
from tidings.notify.preference_center.pages import Offer
from tidings.notify.recipients.preferences_model import Choices, Defaults
from tidings.notify.refusals.model import EVERYTHING

#: Category → channel → whether they want to hear it there.
Said: TypeAlias = Mapping[Category, Mapping[Channel, bool]]
_LOCKED: Final = "can't be refused: it always comes; leave it out"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalOffers:
    """Everything that one person may choose, and where they can be reached."""

    categories: Mapping[str, CategoryPolicy]
    channels: frozenset[Channel]
    defaults: Defaults
    #: The categories that the tenant sends.
    used: frozenset[str]
    #: By channel, what was refused at their addresses, by whomever.
    refused: Mapping[Channel, frozenset[str]]
    locale: str

    @property
    def shown_channels(self) -> tuple[Channel, ...]:
        """In the order of all."""
        return tuple(channel for channel in CHANNELS if channel in self.channels)

    def at(self, choices: Choices) -> list[Offer]:
        """As it stands with these choices: by the rules of the preference pages, and with what can't be refused."""
        return offers_for(
            choices,
            self.categories,
            self.channels,
            self.defaults,
            refused=self.refused,
            used=self.used,
            locale=self.locale,
            also_locked=True,
        )

    def after(self, before: Choices, said: Said, *, evidence: str) -> Choices:
        """The choices of a person who said so; an `InvalidError` for what is not theirs to choose.

        What they did not name stays unsaid, but for two rules of the pages: who ends a no to everything says no to the
        rest of it, and consent is what the boxes that need it say together.
        """
        offers = self.at(before)
        pairs = {(category, channel): yes for category, by in said.items() for channel, yes in by.items()}
        _check(pairs, offers)
        standing = {(offer.category, channel): heard for offer in offers for channel, heard in offer.channels}
        asking = {name for name, policy in self.categories.items() if policy.needs_consent}
        counted = (
            standing.keys()
            if before.global_unsubscribed_at is not None
            else {
                pair for pair in standing if pair in pairs or (pair[0] in asking and _touches(pairs, asking))
            }
        )
        wanted = {**standing, **pairs}
        return ticked(
            before,
            offers,
            frozenset(pair for pair in counted if wanted[pair]),
            shown=frozenset(counted),
            categories=self.categories,
            defaults=self.defaults,
            evidence=evidence,
            source=IN_APP_INBOX,
        )

    def words_for_addresses(
        self, before: Choices, after: Choices, said: Said
    ) -> Mapping[Channel, AddressChoices]:
        """A yes also ends what was refused at their addresses, by channel; a no is their own and holds for no address.

        Where everything was refused there, the rest stays refused one by one.
        """
        offers = self.at(before)
        words: dict[Channel, AddressChoices] = {}
        for channel, refused in self.refused.items():
            yes: set[Pair] = {(category, channel) for category, by in said.items() if by.get(channel)}
            if not refused or not yes:
                continue
            told = words_of_save(
                before, after, channel=channel, offers=offers, hear=yes, refused=refused, asking=()
            )
            words[channel] = told if EVERYTHING in refused else AddressChoices(allow=told.allow)
        return words


def _touches(pairs: Mapping[Pair, bool], asking: set[str]) -> bool:
    return any(category in asking for category, _ in pairs)


def _check(pairs: Mapping[Pair, bool], offers: list[Offer]) -> None:
    by_name = {offer.category: offer for offer in offers}
    wrong: list[FieldError] = []
    for category, channel in pairs:
        field = f"categories.{category}.{channel}"
        offer = by_name.get(category)
        if offer is None:
            names = ", ".join(name for name, one in by_name.items() if one.channels)
            wrong.append(FieldError(field, f"is none of the categories to choose from: {names}"))
        elif not offer.channels:
            wrong.append(FieldError(field, _LOCKED))
        elif channel not in dict(offer.channels):
            there = ", ".join(name for name, _ in offer.channels)
            wrong.append(FieldError(field, f"is a channel that does not reach you; there are {there}"))
    if wrong:
        raise InvalidError(wrong)
