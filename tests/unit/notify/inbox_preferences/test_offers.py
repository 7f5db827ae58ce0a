"""What a yes or a no of a person in their inbox means for their choices."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from tidings.contracts.tenants import Channel
from tidings.kernel.refusals import InvalidError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.inbox_preferences.offers import PersonalOffers
from tidings.notify.preference_center.address_choices import AddressChoices
from tidings.notify.recipients.preferences_model import NO_CHOICES, ChannelChoice, Choices
from tidings.notify.refusals.model import EVERYTHING

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def category(name: str, **wish: Any) -> CategoryPolicy:
    usual = CategoryPolicy(
        category=name,
        default_use_case="txn",
        retention_class="standard",
        default_priority="normal",
        default_expiry_seconds=86_400,
        needs_consent=False,
        can_unsubscribe=True,
        breaks_quiet_hours=False,
        may_digest=False,
        tracking_allowed=False,
        version=1,
    )
    return replace(usual, **wish)


OFFERS = PersonalOffers(
    categories={
        one.category: one
        for one in (
            category("receipts", can_unsubscribe=False),
            category("reminders"),
            category("gossip"),
            category("news", needs_consent=True),
        )
    },
    channels=frozenset({"inapp", "email"}),
    defaults={},
    used=frozenset({"receipts", "reminders", "gossip", "news"}),
    refused={},
    locale="en",
)


def heard(offers: PersonalOffers, choices: Choices) -> dict[str, dict[str, bool]]:
    return {offer.category: dict(offer.channels) for offer in offers.at(choices)}


def said(before: Choices = NO_CHOICES, **wanted: Mapping[Channel, bool]) -> Choices:
    return OFFERS.after(before, wanted, evidence="inbox token")


def test_what_is_always_sent_is_shown_without_a_choice() -> None:
    assert heard(OFFERS, NO_CHOICES) == {
        "receipts": {},
        "gossip": {"email": True, "inapp": True},
        "reminders": {"email": True, "inapp": True},
        "news": {"email": False, "inapp": False},
    }


def test_only_what_was_said_is_written_down() -> None:
    after = said(reminders={"email": False})

    assert after.channels == {"email": ChannelChoice(categories={"reminders": False})}
    assert after.marketing_consent == NO_CHOICES.marketing_consent
    assert heard(OFFERS, said(after, reminders={"email": True})) == heard(OFFERS, NO_CHOICES)


def test_consent_is_what_its_boxes_say_together() -> None:
    both = said(news={"email": True, "inapp": True})
    one = said(both, news={"email": False})
    none = said(one, news={"inapp": False})

    assert (both.marketing_consent.granted, both.marketing_consent.source) == (True, "inbox")
    assert both.marketing_consent.evidence == "inbox token"
    assert heard(OFFERS, one)["news"] == {"email": False, "inapp": True}
    assert one.marketing_consent == both.marketing_consent
    assert not none.marketing_consent.granted
    # Something else leaves it as it is.
    assert said(both, gossip={"email": False}).marketing_consent == both.marketing_consent


def test_a_yes_after_no_to_everything_is_for_itself_alone() -> None:
    off = structs.replace(NO_CHOICES, global_unsubscribed_at=NOW)

    on = said(off, gossip={"inapp": True})

    assert on.global_unsubscribed_at is None
    assert heard(OFFERS, on) == {
        "receipts": {},
        "gossip": {"email": False, "inapp": True},
        "reminders": {"email": False, "inapp": False},
        "news": {"email": False, "inapp": False},
    }
    assert said(off, gossip={"inapp": False}) == off


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"receipts": {"email": False}}, "categories.receipts.email"),
        ({"receipts": {"email": True}}, "categories.receipts.email"),
        ({"gossip": {"sms": False}}, "categories.gossip.sms"),
        ({"rumours": {"email": False}}, "categories.rumours.email"),
    ],
)
def test_what_can_not_be_chosen_is_named(wanted: Any, field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        said(**wanted)
    assert [error.field for error in refused.value.errors] == [field]


def test_a_yes_ends_what_the_address_refused_and_leaves_the_rest() -> None:
    one = replace(OFFERS, refused={"email": frozenset({"gossip"})})
    everything = replace(OFFERS, refused={"email": frozenset({EVERYTHING})})
    wanted: Mapping[str, Mapping[Channel, bool]] = {"gossip": {"email": True}}

    after = [offers.after(NO_CHOICES, wanted, evidence="inbox token") for offers in (one, everything)]

    of_one = one.words_for_addresses(NO_CHOICES, after[0], wanted)["email"]
    of_all = everything.words_for_addresses(NO_CHOICES, after[1], wanted)["email"]

    assert heard(one, NO_CHOICES)["gossip"] == {"email": False, "inapp": True}
    assert of_one == AddressChoices(allow=frozenset({"gossip", EVERYTHING}))
    assert of_all == AddressChoices(
        allow=frozenset({"gossip", EVERYTHING}), refuse=frozenset({"reminders", "news"})
    )
    no: Mapping[str, Mapping[Channel, bool]] = {"gossip": {"email": False}}
    assert everything.words_for_addresses(NO_CHOICES, NO_CHOICES, no) == {}
