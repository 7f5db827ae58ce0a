"""A notification is taken back while it still waits: told, counted and audited in one transaction."""

from dataclasses import dataclass

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.outbox import Outbox
from tidings.notify.accept.events import moved_event
from tidings.notify.decide.reasons import GateReason
from tidings.notify.notifications import store
from tidings.notify.notifications.errors import TooLateToCancelError
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.store import find_one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Canceller:
    """Takes notifications back."""

    outbox: Outbox
    audit: AuditLog
    clock: Clock
    #: Which of the counts this process adds to.
    stripe: int = 0

    async def cancel(self, tx: TenantTx, notification_id: NotificationId, *, actor: str) -> Notification:
        """The notification, cancelled now or before; a `TooLateToCancelError` where it waits no more."""
        before = await store.cancel_notification(
            tx, id=notification_id, now=self.clock.now(), stripe=self.stripe
        )
        notification = await find_one(tx, notification_id)
        if before is None:
            if notification.status is NotificationStatus.CANCELLED:
                return notification
            raise TooLateToCancelError(
                f"{notification_id} is {notification.status.value}: it can't be cancelled any more"
            )
        await self.outbox.append(
            tx,
            [
                moved_event(
                    tx.tenant_id,
                    notification,
                    NotificationStatus.CANCELLED.value,
                    reason=GateReason.CANCELLED.value,
                    clock=self.clock,
                )
            ],
        )
        entry = Entry(
            entity_type="notification",
            entity_id=notification_id,
            action="cancelled",
            actor=actor,
            before={"status": before.value},
            after={"status": NotificationStatus.CANCELLED.value},
        )
        await self.audit.append(tx, [entry])
        return notification
