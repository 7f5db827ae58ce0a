"""Learns from people who open what they got: a consumer of notify's events.

Only of what our own pixel saw: what vendors say about opened messages stands with their attempts, and is learned there.
A message that is opened has arrived, and arrives once: what is followed in it afterwards teaches nothing more.
"""

from collections.abc import Sequence
from typing import Final, cast

from tidings.contracts.ids import RecipientId
from tidings.contracts.notifications import NotificationEngaged
from tidings.contracts.tenants import Channel
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.router.profiles.model import Observation
from tidings.router.profiles.store import learn

GROUP: Final = "router.engagement"
SUBJECTS: Final = ("notification.opened.v1",)


def handler(*, clock: Clock) -> TenantHandler:
    """Takes in one tenant's events, all in one transaction."""

    async def apply(tx: TenantTx, events: Sequence[Event]) -> None:
        opened = [event.payload_as(NotificationEngaged) for event in events]
        seen = [
            Observation(
                recipient_id=RecipientId(one.recipient_id),
                channel=cast("Channel", one.channel),
                delivered=True,
                at=one.at,
            )
            for one in opened
            if one.source == "tracking" and not one.is_test
        ]
        await learn(tx, seen, now=clock.now())

    return apply
