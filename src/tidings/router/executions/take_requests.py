"""The use case "notify asks over the bus": requests are entered in the inbox, once, and their executions begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.delivery import (
    DISPATCH_REQUESTED_SUBJECT,
    DispatchRequested,
    HandOff,
    PlannedDelivery,
)
from tidings.contracts.enums import Priority
from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name, columns, tuple_columns
from tidings.kernel.sql import Queries
from tidings.kernel.tracing import span_of_set
from tidings.router.executions.model import moment
from tidings.router.executions.start import begin
from tidings.router.policies.plan import Planner
from tidings.router.state_machine.machine import ExecutionStateMachine

GROUP: Final = "router.dispatch_requests"
SUBJECTS: Final = (DISPATCH_REQUESTED_SUBJECT,)
#: Reads the same requests and takes the urgent ones, which do not wait behind a backlog of others then.
URGENT_GROUP: Final = "router.urgent_dispatch_requests"
_URGENT: Final[frozenset[Priority]] = frozenset({"critical", "high"})
#: Where the processes of the router hear that executions are due which none of them has in hand.
WAKEUP_CHANNEL: Final = "tidings_executions"
WAKEUP_PAYLOAD: Final = "due"

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RequestTaker:
    """Takes sets of requests, of whatever tenants; the handler of the consumer group, and the contract's `TakenHandOvers`."""

    db: Database
    planner: Planner
    machine: ExecutionStateMachine
    clock: Clock

    async def apply(self, tx: TenantsTx, events: Sequence[Event]) -> None:
        """Take what events announce."""
        with span_of_set("executions", "executions request", (event.traceparent for event in events)):
            await self.take(tx, [_hand_off(event) for event in events])

    async def take(self, tx: TenantsTx, hand_offs: Sequence[HandOff]) -> None:
        """Enter and begin those that were not taken before; when the transaction commits they are the router's."""
        now = moment(self.clock)
        # In one order everywhere, so that two sets never wait for each other crosswise.
        ordered = sorted(hand_offs, key=lambda one: (one.tenant_id, one.notification_id))
        entered = await tx.fetch(
            QUERIES.enter_requests, now=now, **columns(ordered, "tenant_id notification_id recipient_id")
        )
        new = {(row["tenant_id"], row["notification_id"]) for row in entered}
        first = {(one.tenant_id, one.notification_id): one for one in reversed(ordered)}
        taken = [one for owned, one in first.items() if owned in new]
        if not taken:
            return
        plans = await self.planner.plan(taken, tx)
        planned = [
            PlannedDelivery(hand_off=hand_off, plan=plan) for hand_off, plan in zip(taken, plans, strict=True)
        ]
        await begin(tx, planned, machine=self.machine, now=now)
        await tx.execute(QUERIES.wake_routers)

    async def taken(
        self, requests: Sequence[tuple[TenantId, NotificationId]]
    ) -> set[tuple[TenantId, NotificationId]]:
        """Those that are in the inbox."""
        if not requests:
            return set()
        async with self.db.tenants({tenant_id for tenant_id, _ in requests}, by_index=True) as tx:
            rows = await tx.fetch(QUERIES.find_taken, **tuple_columns(requests, "tenant_ids ids"))
        return {(row["tenant_id"], row["notification_id"]) for row in rows}


async def urgent_among(events: Sequence[Event]) -> list[Event]:
    """The requests that others have to stand back for."""
    return [event for event in events if event.payload_as(DispatchRequested).priority in _URGENT]


def _hand_off(event: Event) -> HandOff:
    requested: DispatchRequested = event.payload_as(DispatchRequested)
    return by_name(HandOff, requested, tenant_id=event.tenant_id, traceparent=event.traceparent)
