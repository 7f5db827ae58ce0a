"""A notification that waits is sent now: it does not wait for quiet hours any more, nor for a digest. Every other gate is asked as before."""

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.notify.decide import trace
from tidings.notify.notifications import store
from tidings.notify.notifications.errors import NotWaitingError
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.store import find_one


class Releaser:
    """Has notifications go that wait."""

    def __init__(self, *, audit: AuditLog, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock

    async def release(self, tx: TenantTx, notification_id: NotificationId, *, actor: str) -> Notification:
        """The notification, due now; one that is in the queue already is answered as it is."""
        waited = await store.release_notification(
            tx, id=notification_id, mark=trace.encode([trace.RELEASED]), now=self._clock.now()
        )
        notification = await find_one(tx, notification_id)
        if not waited:
            if notification.status is NotificationStatus.QUEUED:
                return notification
            raise NotWaitingError(
                f"{notification_id} is {notification.status.value}: it does not wait for a time to be sent"
            )
        entry = Entry("notification", notification_id, "released", actor)
        await self._audit.append(tx, [entry])
        return notification
