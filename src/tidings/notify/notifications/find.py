"""Finds one notification of this tenant."""

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.notify.notifications import read_store
from tidings.notify.notifications.errors import UnknownNotificationError
from tidings.notify.notifications.model import Notification


async def within_reach(tx: TenantTx, notification_id: NotificationId, *, tests_only: bool) -> None:
    """For a test key the live ones are not there: the same answer as for an id that nobody has."""
    if tests_only and not (await find_one(tx, notification_id)).is_test:
        raise UnknownNotificationError(f"there is no notification with the id {notification_id}")


async def find_one(tx: TenantTx, notification_id: NotificationId) -> Notification:
    """The notification; an `UnknownNotificationError` where there is none, or it is somebody else's."""
    found = await read_store.find_notifications(tx, ids=[notification_id])
    if notification_id not in found:
        raise UnknownNotificationError(f"there is no notification with the id {notification_id}")
    return found[notification_id]
