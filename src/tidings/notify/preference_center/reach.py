"""Where a recipient can be reached at all, and what the tenant sends: what any page of choices has to know of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.notify.categories import store as category_store
from tidings.notify.facts.model import TenantFacts
from tidings.notify.recipients import addresses as address_store
from tidings.notify.refusals.model import ChannelAddress

#: A category that was sent so lately can be chosen, also without a template in force.
_LATELY: Final = timedelta(days=90)
#: Channels that reach a recipient without an address.
_ADDRESSLESS: Final[frozenset[Channel]] = frozenset({"inapp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """A recipient's channels and addresses, and the tenant's categories."""

    #: Channels of the tenant that reach them.
    channels: frozenset[Channel]
    #: All their addresses.
    places: tuple[ChannelAddress, ...]
    #: The categories that the tenant sends.
    used: frozenset[str]

    def places_on(self, channel: Channel) -> tuple[ChannelAddress, ...]:
        """Their addresses on one channel."""
        return tuple(place for place in self.places if place.channel == channel)


async def find_reach(tx: TenantTx, tenant: TenantFacts, recipient_id: RecipientId, *, now: datetime) -> Reach:
    """As it stands now."""
    stored = await address_store.load_addresses(tx, recipient_ids=[recipient_id])
    reached = {address.channel for address in stored} | _ADDRESSLESS
    return Reach(
        channels=frozenset(channel for channel in tenant.channels if channel in reached),
        places=tuple(ChannelAddress(address.channel, address.address_hash) for address in stored),
        used=await category_store.used_categories(tx, since=(now - _LATELY).date()),
    )
