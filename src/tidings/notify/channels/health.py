"""Hears from the router which vendor accounts take no messages, and shows it with the channels that go through them."""

from collections.abc import Sequence
from typing import Final

from tidings.contracts.channels import CHANNEL_DEGRADED, CHANNEL_RESTORED, ChannelDegraded, ChannelRestored
from tidings.kernel.db import PlatformTx, TenantTx, Tx
from tidings.kernel.events import Event
from tidings.kernel.mapping import by_name
from tidings.kernel.sql import Queries, Query, json_text
from tidings.notify.channels.model import VendorHealth

GROUP: Final = "notify.channel-health"
SUBJECTS: Final = (CHANNEL_DEGRADED, CHANNEL_RESTORED)
#: What tenants read of an account that they share with others.
_SHARED: Final = "the platform's account takes no messages for now"

QUERIES = Queries.beside(__file__)


async def handle_tenant(tx: TenantTx, events: Sequence[Event]) -> None:
    """A tenant's own accounts."""
    for event in events:
        if event.subject == CHANNEL_RESTORED:
            await _restore(tx, event)
        else:
            await _degrade(tx, event, QUERIES.degrade, event.payload_as(ChannelDegraded).reason)


async def handle_platform(tx: PlatformTx, events: Sequence[Event]) -> None:
    """The platform's accounts: of every tenant that goes through one and has none of its own."""
    for event in events:
        if event.subject == CHANNEL_RESTORED:
            await _restore(tx, event)
        else:
            # How much others send through it is theirs.
            await _degrade(tx, event, QUERIES.degrade_shared, _SHARED)


async def _restore(tx: Tx, event: Event) -> None:
    await tx.execute(QUERIES.restore, event.payload_as(ChannelRestored))


async def _degrade(tx: Tx, event: Event, query: Query, reason: str) -> None:
    degraded = event.payload_as(ChannelDegraded)
    health = by_name(VendorHealth, degraded, reason=reason, since=event.time)
    await tx.execute(query, degraded, channels=list(degraded.channels), health=json_text(health))
