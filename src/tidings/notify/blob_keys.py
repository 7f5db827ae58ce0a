"""Where notify's objects lie in the blob store.

_platform/rendered/<yyyy>/<mm>/<dd>/<notification id>.<step>.<ms>.<tenant>.bin  the day on which it was rendered; one object
                                                                            may hold words of several tenants
<tenant id>/attachments/<yyyy>/<mm>/<dd>/<notification id>/<file name>           the day of the notification
"""

from datetime import datetime

from tidings.contracts.ids import NOTIFICATION, NotificationId
from tidings.kernel.blobs.keys import BlobKey, day_of, escape_file_name, key_of
from tidings.kernel.ids import TENANT, TenantId


def rendered_key(tenant_id: TenantId, notification_id: NotificationId, step: int, *, at: datetime) -> BlobKey:
    """What the notifications of one set looked like when they were sent, under the id of the first, its tenant and the moment."""
    tenant = TENANT.parse(tenant_id, field="tenant_id").removeprefix("tnt_").lower()
    name = f"{NOTIFICATION.parse(notification_id)}.{step}.{int(at.timestamp() * 1000)}.{tenant}.bin"
    return key_of(None, "rendered", f"{at:%Y/%m/%d}", name)


def first_of(key: BlobKey) -> tuple[TenantId, NotificationId]:
    """The notification that a rendered object is named after."""
    first, _, _, tenant, _ = key.rpartition("/")[2].split(".")
    return TENANT.parse(f"tnt_{tenant.upper()}"), NOTIFICATION.parse(first)


def attachment_key(tenant_id: TenantId, notification_id: NotificationId, file_name: str) -> BlobKey:
    """A file that went along with a notification."""
    day = day_of(NOTIFICATION.parse(notification_id))
    return key_of(tenant_id, "attachments", day, notification_id, escape_file_name(file_name))
