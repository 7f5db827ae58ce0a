"""Hears what people read in their in-app inbox: a receipt for the attempt that put it there, as a vendor would send one.

So a ladder that waits for `read` ends, and one that is over learns of it; the profile learns that the channel reaches the person.
"""

from collections.abc import Sequence
from typing import Final

from tidings.contracts.execution_history import ExecutionHistory
from tidings.contracts.ids import NotificationId
from tidings.contracts.inbox import IN_APP
from tidings.contracts.notifications import NotificationEngaged
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.router.executions import receipts, take_requests
from tidings.router.receipts import Receipt

GROUP: Final = "router.read_in_app"
SUBJECTS: Final = ("notification.read.v1",)


def handler(*, history: ExecutionHistory, clock: Clock) -> TenantHandler:
    """Takes in one tenant's events, all in one transaction; told again, they come to the same."""

    async def apply(tx: TenantTx, events: Sequence[Event]) -> None:
        read = [
            (event.id, engaged)
            for event in events
            if (engaged := event.payload_as(NotificationEngaged)).source == "inbox"
        ]
        if not read:
            return
        ids = sorted({NotificationId(engaged.notification_id) for _, engaged in read})
        executions = await history.of_notifications(tx, ids)
        found = [
            Receipt(
                id=event_id,
                attempt_id=attempt.id,
                execution_id=execution.id,
                attempt_started_at=attempt.started_at,
                status="delivered_read",
                occurred_at=engaged.at,
            )
            for event_id, engaged in read
            for execution in executions.get(NotificationId(engaged.notification_id), ())
            if execution.recipient_id == engaged.recipient_id
            # A step that was taken twice put one item there: the last call is the one that holds.
            for attempt in [one for one in execution.attempts if one.vendor == IN_APP][-1:]
        ]
        if found and (await receipts.apply(tx, found, now=clock.now())).woken:
            await tx.execute(take_requests.QUERIES.wake_routers)

    return apply
