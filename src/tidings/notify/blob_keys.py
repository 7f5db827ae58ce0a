"""Where notify's objects lie in the blob store.

<tenant id>/rendered/<yyyy>/<mm>/<dd>/<notification id>.<step>.<ms>.bin  the day on which it was rendered
<tenant id>/attachments/<yyyy>/<mm>/<dd>/<notification id>/<file name>   the day of the notification
"""

from datetime import datetime

from tidings.contracts.ids import NOTIFICATION, NotificationId
from tidings.kernel.blobs.keys import BlobKey, day_of, escape_file_name, key_of
from tidings.kernel.ids import TenantId


def rendered_key(tenant_id: TenantId, notification_id: NotificationId, step: int, *, at: datetime) -> BlobKey:
    """What the notifications of one set looked like when they were sent, under the id of the first and the moment."""
    name = f"{NOTIFICATION.parse(notification_id)}.{step}.{int(at.timestamp() * 1000)}.bin"
    return key_of(tenant_id, "rendered", f"{at:%Y/%m/%d}", name)


def attachment_key(tenant_id: TenantId, notification_id: NotificationId, file_name: str) -> BlobKey:
    """A file that went along with a notification."""
    day = day_of(NOTIFICATION.parse(notification_id))
    return key_of(tenant_id, "attachments", day, notification_id, escape_file_name(file_name))
