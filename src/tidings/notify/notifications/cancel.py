"""A notification is taken back while it still waits: told, counted and audited in one transaction."""

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


class Canceller:
    """Takes notifications back."""

    def __init__(self, *, outbox: Outbox, audit: AuditLog, clock: Clock, stripe: int = 0) -> None:
        self._outbox = outbox
        self._audit = audit
        self._clock = clock
        #: Which of the counts this process adds to.
        self._stripe = stripe

    async def cancel(self, tx: TenantTx, notification_id: NotificationId, *, actor: str) -> Notification:
        """The notification, cancelled now or before; a `TooLateToCancelError` where it waits no more."""
        before = await store.cancel_notification(
            tx, id=notification_id, now=self._clock.now(), stripe=self._stripe
        )
        notification = await find_one(tx, notification_id)
        if before is None:
            if notification.status is NotificationStatus.CANCELLED:
                return notification
            raise TooLateToCancelError(
                f"{notification_id} is {notification.status.value}: it can't be cancelled any more"
            )
        await self._outbox.append(
            tx,
            [
                moved_event(
                    tx.tenant_id,
                    notification,
                    NotificationStatus.CANCELLED.value,
                    reason=GateReason.CANCELLED.value,
                    clock=self._clock,
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
        await self._audit.append(tx, [entry])
        return notification
