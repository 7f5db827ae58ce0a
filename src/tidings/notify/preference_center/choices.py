"""What a page offers the recipient to choose, and what their ticks mean for their preferences; no I/O."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final

from msgspec import structs

from tidings.contracts.enums import CHANNELS
from tidings.contracts.tenants import Channel, DigestChoice
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.preference_center.digest_choices import digest_offer
from tidings.notify.preference_center.pages import Offer
from tidings.notify.preference_center.tokens import OptOutScope, StoredToken
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import (
    ChannelChoice,
    Choices,
    Defaults,
    categories_named,
    category_denied,
    channel_denied,
)
from tidings.notify.refusals.model import refuses

#: How the ledger names the pages.
PREFERENCE_PAGE: Final = "preference_page"
CONFIRMATION_PAGE: Final = "confirmation_page"
#: How it names what a person chose in their in-app inbox.
IN_APP_INBOX: Final = "inbox"
#: Machines listen there, not people.
_NOT_FOR_PEOPLE: Final = frozenset({"webhook"})

Pair = tuple[str, Channel]


def offers_for(
    choices: Choices,
    categories: Mapping[str, CategoryPolicy],
    channels: Iterable[Channel],
    defaults: Defaults,
    *,
    digests: Mapping[str, DigestChoice] | None = None,
    gathering: Mapping[str, Collection[Channel]] | None = None,
    refused: Mapping[Channel, Collection[str]] | None = None,
    used: Collection[str] | None = None,
    locale: str = "en",
    also_locked: bool = False,
) -> list[Offer]:
    """Every category that can be said no to, or that can come gathered, on these channels, in the tenant's order; what needs
    consent comes last. `also_locked`: those that can't be refused too, without channels to choose.

    `digests` are the tenant's schedules, `gathering` by category the channels that a digest can come by. `refused`: by channel, what the address refused that the page was reached by, whichever recipient said so.
    `used` are those that the tenant sends; None: all. What a tenant has hidden or does not send is left out, unless
    something was said about it before.
    """
    gone = refused or {}
    shown = [channel for channel in CHANNELS if channel in set(channels) - _NOT_FOR_PEOPLE]
    said = {*categories_named(choices), *(name for names in gone.values() for name in names)}
    on_the_page = [
        policy
        for policy in categories.values()
        if policy.category in said or (not policy.hidden and (used is None or policy.category in used))
    ]
    gathered = {
        policy.category: digest_offer(
            choices,
            policy,
            (digests or {}).get(policy.category),
            channels=shown,
            gathering=(gathering or {}).get(policy.category, ()),
        )
        for policy in on_the_page
    }
    return [
        Offer(
            category=policy.category,
            name=policy.name_for(locale) or (policy.fallback_name if policy.owner == "tenant" else None),
            needs_consent=policy.needs_consent,
            digest=gathered[policy.category],
            channels=tuple(
                (
                    channel,
                    category_denied(choices, policy) is None
                    and channel_denied(choices, policy, channel, defaults) is None
                    and not refuses(gone.get(channel, ()), policy.category),
                )
                for channel in shown
                if policy.can_unsubscribe
            ),
        )
        for policy in sorted(on_the_page, key=_order)
        if also_locked or policy.can_unsubscribe or gathered[policy.category] is not None
    ]


def _order(policy: CategoryPolicy) -> tuple[int, bool, str]:
    return policy.position, policy.needs_consent, policy.category


def ticked(
    before: Choices,
    offers: Iterable[Offer],
    hear: frozenset[Pair],
    *,
    shown: frozenset[Pair],
    categories: Mapping[str, CategoryPolicy],
    defaults: Defaults,
    evidence: str,
    source: str = PREFERENCE_PAGE,
) -> Choices:
    """The choices of a recipient who is offered these, was shown some of them, and ticked those.

    What came up only after they had opened the page is not theirs to have left unticked.
    """
    offered = {(offer.category, channel) for offer in offers for channel, _ in offer.channels} & shown
    hear &= offered
    if before.global_unsubscribed_at is not None and not hear:
        return before
    asking = [name for name, policy in categories.items() if policy.needs_consent]
    agreed = any(category in asking for category, _ in hear)
    wanted = {
        (category, channel): (category, channel) in hear
        for category, channel in sorted(offered)
        # A recipient who takes consent back has said enough; what they chose beside it stays for another time.
        if agreed or category not in asking
    }
    after = structs.replace(
        _said(before, wanted, categories=categories, defaults=defaults), global_unsubscribed_at=None
    )
    if not any(category in asking for category, _ in offered) or agreed == before.marketing_consent.granted:
        return after
    consent = Consent(granted=agreed, source=source, evidence=evidence)
    return structs.replace(after, marketing_consent=consent)


def unsubscribed(
    before: Choices,
    scope: OptOutScope,
    *,
    categories: Mapping[str, CategoryPolicy],
    defaults: Defaults,
    now: datetime,
) -> Choices:
    """The choices of a recipient who said no to all that a token is about."""
    if scope.category is None:
        return all_off(before, now=now)
    known = with_category(categories, scope.category)
    return _said(before, {(scope.category, scope.channel): False}, categories=known, defaults=defaults)


def with_category(
    categories: Mapping[str, CategoryPolicy], category: str | None
) -> Mapping[str, CategoryPolicy]:
    """The categories and that one, which may have gone: it can come back, and a no to it holds then."""
    if category is None or category in categories:
        return categories
    gone = CategoryPolicy(
        category=category,
        default_use_case="txn",
        retention_class="",
        default_priority="normal",
        default_expiry_seconds=0,
        needs_consent=False,
        can_unsubscribe=True,
        breaks_quiet_hours=False,
        may_digest=True,
        tracking_allowed=False,
        version=0,
    )
    return {**categories, category: gone}


def confirmed(before: Choices, token: StoredToken, *, evidence: str) -> Choices | None:
    """The choices of a recipient who confirmed their consent by this token; None where there is nothing to confirm any more.

    A request is confirmed by its own link only: an earlier one may have gone to an address that is not theirs any more.
    """
    consent = before.marketing_consent
    if consent.granted:
        return before
    if not token.confirms(consent.pending_since):
        return None
    # How it was told first stays in the ledger, with the request.
    granted = Consent(granted=True, source=CONFIRMATION_PAGE, evidence=evidence)
    return structs.replace(before, marketing_consent=granted)


def all_off(before: Choices, *, now: datetime) -> Choices:
    """The choices of a recipient who said no to everything; saying so again changes nothing."""
    if before.global_unsubscribed_at is not None:
        return before
    return structs.replace(before, global_unsubscribed_at=now)


def _said(
    before: Choices,
    wanted: Mapping[Pair, bool],
    *,
    categories: Mapping[str, CategoryPolicy],
    defaults: Defaults,
) -> Choices:
    """Where they want something else than what holds, it is written down; nothing is written where it holds already."""
    channels = dict(before.channels)
    for (category, channel), allowed in wanted.items():
        policy = categories[category]
        denial = channel_denied(before, policy, channel, defaults)
        # A no that is only a default is said once more: defaults change, and this was said.
        if (denial is None) == allowed and not (denial == "off_by_default" and len(wanted) == 1):
            continue
        choice = channels.get(channel, ChannelChoice())
        channels[channel] = ChannelChoice(
            allow=choice.allow, categories={**choice.categories, category: allowed}
        )
    return structs.replace(before, channels=channels)
