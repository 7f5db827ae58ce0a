"""The notification that a path names, as far as the caller's environment reaches."""

from typing import Any, Final

from litestar import Request

from tidings.contracts.ids import NOTIFICATION, NotificationId
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, path_id
from tidings.notify.notifications.deps import Deps
from tidings.notify.notifications.store import within_reach

ID: Final = "notification_id"


async def asked_for(request: Request[Any, Any, Any]) -> NotificationId:
    """Its id; for a test key an `UnknownNotificationError` where it is a live one."""
    notification_id = path_id(request, NOTIFICATION, ID)
    caller = caller_of(request)
    if caller.environment == "test":
        async with deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller.role) as tx:
            await within_reach(tx, notification_id, tests_only=True)
    return notification_id
