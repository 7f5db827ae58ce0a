"""What HTTP calls about notifications: find, follow, take back, count."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, Final

from litestar import Request, Response, Router, get, post

from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.http.paging import Page, write_cursor
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.accept.wire import AcceptedView, accepted_view
from tidings.notify.notifications import accept_routes, explain_routes
from tidings.notify.notifications.accept_routes import TAG
from tidings.notify.notifications.asked_for import ID, asked_for
from tidings.notify.notifications.counts import sum_counts
from tidings.notify.notifications.deps import Deps
from tidings.notify.notifications.lookup import LISTING, FoundNotifications
from tidings.notify.notifications.progress import phase_of
from tidings.notify.notifications.trace import load_brief_trace, load_trace
from tidings.notify.notifications.view import (
    AttemptList,
    CountersView,
    ListNotifications,
    LookUpNotifications,
    NotificationView,
    ShowCounters,
    attempts_of,
)

_BY_ADDRESS: Final = "recipients:read"
_PATH: Final = {ID: NOTIFICATION}
#: Days that are counted where nothing else is asked for, and at most.
_USUAL_DAYS: Final = 7
_MOST_DAYS: Final = 92

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List notifications, the newest first.",
        tag=TAG,
        scope="notifications:read",
        test_keys=True,
        query=ListNotifications,
        answer=Page[NotificationView],
        description="By `recipient` and by `correlation_id` it is quick however many there are. The other filters are looked for among the newest, some 20,000 in a request: where few fit, a page may be short or empty and still have a `next_cursor` to go on from. `since` and `until` narrow what is looked at.",
    ),
)
async def list_notifications(request: AnyRequest) -> Page[NotificationView]:
    """List notifications."""
    query = read_query(request, ListNotifications)
    async with _tenant(request) as tx:
        return _page(await deps_of(request, Deps).finder.list(tx, query, tests_only=_is_test(request)))


@post(
    "/lookup",
    **operation(
        summary="Find notifications by an address, or by the filters of the list.",
        tag=TAG,
        scope="notifications:read",
        test_keys=True,
        writes=False,
        body=LookUpNotifications,
        answer=Page[NotificationView],
        description="All that was sent to those who have the `address` now, the newest first. An address belongs into a body and never into a URL. Audited: who asked, and the hash of the address; `recipients:read` is needed for it too.",
    ),
)
async def look_up_notifications(request: AnyRequest) -> Page[NotificationView]:
    """Find notifications."""
    query = await read_body(request, LookUpNotifications)
    caller = caller_of(request)
    if query.address is not None and _BY_ADDRESS not in caller.scopes:
        raise MissingScopeError(_BY_ADDRESS)
    async with _tenant(request) as tx:
        return _page(
            await deps_of(request, Deps).finder.look_up(
                tx, query, actor=caller.actor, tests_only=_is_test(request)
            )
        )


@get(
    "/counters",
    **operation(
        summary="How many notifications came to each status, by day.",
        tag=TAG,
        scope="notifications:read",
        query=ShowCounters,
        answer=CountersView,
        description="Kept as they move, so it costs the same however many there are. At most 92 days.",
    ),
)
async def show_counters(request: AnyRequest) -> CountersView:
    """Show counters."""
    query = read_query(request, ShowCounters)
    last = query.last or deps_of(request, Deps).clock.now().date()
    first = query.first or last - timedelta(days=_USUAL_DAYS - 1)
    if first > last:
        raise BadValueError("from", "must not be later than to")
    if (last - first).days >= _MOST_DAYS:
        raise BadValueError("from", f"must be at most {_MOST_DAYS} days before to")
    async with _tenant(request) as tx:
        return CountersView.of(await sum_counts(tx, first=first, last=last))


@get(
    "/{notification_id:str}",
    **operation(
        summary="Show a notification as it stands.",
        tag=TAG,
        scope="notifications:read",
        test_keys=True,
        path=_PATH,
        answer=NotificationView,
        problems=["notification_not_found"],
    ),
)
async def show_notification(request: AnyRequest) -> NotificationView:
    """Show a notification."""
    deps = deps_of(request, Deps)
    notification_id = await asked_for(request)
    now = deps.clock.now()
    async with _tenant(request) as tx:
        trace = await load_brief_trace(
            tx, notification_id, history=deps.history, keyring=deps.keyring, now=now
        )
    return NotificationView.told(trace, phase_of(trace, now))


@get(
    "/{notification_id:str}/attempts",
    **operation(
        summary="List what vendors said about a notification, the oldest first.",
        tag=TAG,
        scope="notifications:read",
        test_keys=True,
        path=_PATH,
        answer=AttemptList,
        problems=["notification_not_found"],
        description="Every call to a vendor, every step that was skipped, and what vendors said afterwards.",
    ),
)
async def list_attempts(request: AnyRequest) -> AttemptList:
    """List attempts."""
    deps = deps_of(request, Deps)
    notification_id = await asked_for(request)
    async with _tenant(request) as tx:
        trace = await load_trace(
            tx, notification_id, history=deps.history, keyring=deps.keyring, now=deps.clock.now()
        )
    return AttemptList(items=attempts_of(trace))


@post(
    "/{notification_id:str}/cancel",
    **operation(
        summary="Take a notification back while it waits.",
        tag=TAG,
        scope="notifications:write",
        test_keys=True,
        path=_PATH,
        answer=NotificationView,
        problems=["notification_not_found", "too_late_to_cancel"],
        description="While it is `queued` or `scheduled`. Cancelling a cancelled one answers it again.",
    ),
)
async def cancel_notification(request: AnyRequest) -> NotificationView:
    """Take a notification back."""
    notification_id = await asked_for(request)
    async with _tenant(request) as tx:
        one = await deps_of(request, Deps).canceller.cancel(
            tx, notification_id, actor=caller_of(request).actor
        )
    return NotificationView.of(one, None)


@post(
    "/{notification_id:str}/release",
    **operation(
        summary="Send a waiting notification now.",
        tag=TAG,
        scope="notifications:write",
        test_keys=True,
        path=_PATH,
        answer=NotificationView,
        problems=["notification_not_found", "not_waiting"],
        description="While it is `scheduled`: it waits for the end of quiet hours, for a limit or for its time. It does not wait for quiet hours any more; every other gate is asked as before, so a limit may put it off again. It is audited. One that is in the queue already is answered as it is.",
    ),
)
async def release_notification(request: AnyRequest) -> NotificationView:
    """Send a waiting notification now."""
    notification_id = await asked_for(request)
    async with _tenant(request) as tx:
        one = await deps_of(request, Deps).releaser.release(
            tx, notification_id, actor=caller_of(request).actor
        )
    return NotificationView.of(one, None)


@post(
    "/{notification_id:str}/resend",
    **operation(
        summary="Send a notification once more, to the same recipient.",
        tag=TAG,
        scope="notifications:write",
        test_keys=True,
        path=_PATH,
        answer=AcceptedView,
        status=202,
        headers=["Idempotency-Key"],
        problems=["notification_not_found", "recipient_erased", "still_under_way", "body_gone"],
        description="A new notification with an id of its own, from the old one's template version, variables and files; its `resent_from` names the old one. Everything that decides whether it is sent is asked anew. Not while the old one is under way.",
    ),
)
async def resend_notification(request: AnyRequest) -> Response[bytes]:
    """Send a notification once more."""
    deps, caller = deps_of(request, Deps), caller_of(request)
    item = await deps.resender.prepare(
        tenant_of(request),
        await asked_for(request),
        role=caller.role,
        is_test=caller.environment == "test",
    )

    async def work() -> Done:
        accepted = await deps.resender.accept(tx, item, actor=caller.actor)
        return Done(status=202, body=accepted_view(accepted))

    async with _tenant(request) as tx:
        answer = await answer_once(request, tx, deps.idempotency, work)
    deps.resender.announce(item)
    return answer


def _page(found: FoundNotifications) -> Page[NotificationView]:
    return Page(
        items=[NotificationView.of(one) for one in found.items],
        next_cursor=write_cursor(found.next_id, listing=LISTING) if found.next_id is not None else None,
    )


def _is_test(request: AnyRequest) -> bool:
    return caller_of(request).environment == "test"


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [
        *accept_routes.HANDLERS,
        list_notifications,
        look_up_notifications,
        show_counters,
        show_notification,
        list_attempts,
        cancel_notification,
        release_notification,
        resend_notification,
        *explain_routes.HANDLERS,
    ]
    return [Router("/api/v1/notifications", route_handlers=handlers, opt=given(deps))]
