"""Hands over to a router in another process: the request is announced on the bus in the transaction that records the decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import msgspec

from tidings.contracts.delivery import (
    DISPATCH_REQUESTED_SUBJECT,
    Answered,
    DeliveryPlan,
    DispatchRequested,
    HandOff,
    PlannedDelivery,
    SendFirstSteps,
)
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ladder import LadderSnapshot
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx, TenantTx
from tidings.kernel.events import usual_attributes
from tidings.kernel.ids import EVENT
from tidings.kernel.mapping import by_name, columns
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)

#: The router plans when it takes the request: nothing is known here, and no first step can be prepared.
_PLANNED_THERE: Final = DeliveryPlan(ladder=LadderSnapshot(), strategy="SEQUENTIAL", first=None)
#: After this the router is asked whether it has taken the request; sooner, most are still on their way.
FIRST_LOOK: Final = timedelta(minutes=5)

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnnouncedHandOver:
    """The contract's `InProcessRouter` for a router in another process."""

    db: Database
    clock: Clock

    async def plan(self, hand_offs: Sequence[HandOff]) -> list[DeliveryPlan]:
        """Empty ones."""
        return [_PLANNED_THERE] * len(hand_offs)

    async def reserve(self, deliveries: Sequence[PlannedDelivery]) -> Sequence[PlannedDelivery]:
        """Nothing is reserved from afar."""
        return deliveries

    async def start(self, hand_offs: Sequence[HandOff]) -> None:
        """Announce them in a transaction of their own."""
        async with self.db.tenants({one.tenant_id for one in hand_offs}, by_index=True) as tx:
            await self._announce(tx, hand_offs)

    async def start_in(
        self, tx: TenantTx | TenantsTx, deliveries: Sequence[PlannedDelivery], *, last: bool = False
    ) -> SendFirstSteps:
        """Announce them with the decision; after the commit there is nothing left to do here."""
        if last:
            tx.commit_with_next()
        await self._announce(tx, [delivery.hand_off for delivery in deliveries])
        return _sent_there

    async def _announce(self, tx: TenantTx | TenantsTx, hand_offs: Sequence[HandOff]) -> None:
        now = self.clock.now()
        await tx.execute(
            QUERIES.announce,
            now=now,
            look_at=now + FIRST_LOOK,
            subject=DISPATCH_REQUESTED_SUBJECT,
            **columns(hand_offs, "tenant_id notification_id traceparent"),
            requests=[_encode(by_name(DispatchRequested, one)).decode() for one in hand_offs],
            event_ids=[EVENT.new(now) for _ in hand_offs],
            envelopes=[usual_attributes(NOTIFY_SOURCE, one.traceparent) for one in hand_offs],
        )


async def _sent_there(answered: Answered | None = None) -> None:
    """The router asks for the first steps, and sends them."""
