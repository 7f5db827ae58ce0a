"""Hears from the router which vendor accounts take no messages, and shows it with the channels that go through them."""

from collections.abc import Sequence
from typing import Final

import msgspec

from tidings.contracts.channels import CHANNEL_DEGRADED, CHANNEL_RESTORED, ChannelDegraded, ChannelRestored
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.events import Event
from tidings.kernel.sql import Queries
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
            restored = event.payload_as(ChannelRestored)
            await tx.execute(QUERIES.restore, vendor=restored.vendor, account_id=restored.account_id)
        else:
            degraded = event.payload_as(ChannelDegraded)
            await tx.execute(
                QUERIES.degrade,
                vendor=degraded.vendor,
                channels=list(degraded.channels),
                health=_health(event, degraded, reason=degraded.reason),
            )


async def handle_platform(tx: PlatformTx, events: Sequence[Event]) -> None:
    """The platform's accounts: of every tenant that goes through one and has none of its own."""
    for event in events:
        if event.subject == CHANNEL_RESTORED:
            restored = event.payload_as(ChannelRestored)
            await tx.execute(QUERIES.restore, vendor=restored.vendor, account_id=restored.account_id)
        else:
            degraded = event.payload_as(ChannelDegraded)
            await tx.execute(
                QUERIES.degrade_shared,
                vendor=degraded.vendor,
                channels=list(degraded.channels),
                # How much others send through it is theirs.
                health=_health(event, degraded, reason=_SHARED),
            )


def _health(event: Event, degraded: ChannelDegraded, *, reason: str) -> str:
    return msgspec.json.encode(
        VendorHealth(
            account_id=degraded.account_id,
            reason=reason,
            since=event.time,
            until=degraded.until,
            held=degraded.held,
        )
    ).decode()
