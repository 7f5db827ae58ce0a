"""A no that came from an address, and holds for it; no I/O."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NamedTuple

from tidings.contracts.tenants import Channel
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.ids import AddressRefusalId

#: The key of a refusal of everything that can be unsubscribed from.
EVERYTHING: Final = ""
#: How a recipient says no from an address.
RefusalSource = Literal["one_click", "unsubscribe_page", "preference_page"]


class ChannelAddress(NamedTuple):
    """One address on one channel."""

    channel: Channel
    #: Under the tenant's pepper.
    address_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A no, as it is kept."""

    id: AddressRefusalId
    channel: Channel
    address_hash: str
    #: None: everything that can be unsubscribed from.
    category: str | None
    refused_at: datetime
    source: str
    evidence: str | None = field(repr=False)
    #: When its owner said yes again, and how; None while it holds.
    withdrawn_at: datetime | None
    withdrawn_by: str | None


def refused_by(
    refusals: Mapping[str, AddressRefusalId], policy: CategoryPolicy | None
) -> AddressRefusalId | None:
    """The refusal that a message of this category meets; none where the category can't be unsubscribed from."""
    if not refusals or policy is None or not policy.can_unsubscribe:
        return None
    return refusals.get(policy.category) or refusals.get(EVERYTHING)


def refuses(categories: Collection[str], category: str) -> bool:
    """Whether these refusals, given by their categories, are about that one."""
    return category in categories or EVERYTHING in categories
