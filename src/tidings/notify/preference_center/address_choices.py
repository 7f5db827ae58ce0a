"""What a recipient who came by a link said for the address that it was sent to, beside their own choices; no I/O."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from tidings.contracts.tenants import Channel
from tidings.notify.preference_center.choices import Pair
from tidings.notify.preference_center.pages import Offer
from tidings.notify.recipients.consent_ledger import told_between
from tidings.notify.recipients.preferences_model import Choices
from tidings.notify.refusals.model import EVERYTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressChoices:
    """Categories that the address wants no more, and those that it wants again."""

    #: None: everything that can be unsubscribed from.
    refuse: frozenset[str | None] = frozenset()
    #: Empty text: the refusal of everything.
    allow: frozenset[str] = frozenset()


#: Everything off, whatever their own choices were before.
NOTHING_MORE: Final = AddressChoices(refuse=frozenset({None}))


def words_of_save(
    before: Choices,
    after: Choices,
    *,
    channel: Channel,
    offers: Iterable[Offer],
    hear: Collection[Pair],
    refused: Collection[str],
    asking: Collection[str],
) -> AddressChoices:
    """Of a saved page: what was ticked is wanted again, what was unticked is refused.

    What was refused as a whole is refused one by one, where some of it is wanted again. What is off and was left so stays
    unsaid, as in the person's own choices. `asking`: the categories that need consent.
    """
    ticked = {category for category, by in hear if by == channel}
    offered = {offer.category for offer in offers if any(by == channel for by, _ in offer.channels)}
    no: set[str] = set()
    for told in told_between(before, after):
        if told.kind == "consent_withdrawn":
            no.update(asking)
        elif told.kind == "opted_out" and told.channel == channel and told.category is not None:
            no.add(told.category)
    if EVERYTHING in refused and ticked:
        no |= offered
    wanted = (ticked & offered) | ({EVERYTHING} if ticked & offered else set())
    return AddressChoices(refuse=frozenset(no - ticked), allow=frozenset(wanted))
