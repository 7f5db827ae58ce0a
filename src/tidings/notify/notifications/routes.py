"""Operations on notifications that were accepted: find, follow, take back, count."""

from datetime import timedelta
from typing import Final

from tidings.contracts.execution_history import ExecutionHistory
from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.once import Once
from tidings.kernel.http.paging import Page, write_cursor
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.accept.routes import TAG
from tidings.notify.accept.wire import AcceptedView, accepted_view
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.counts import sum_counts
from tidings.notify.notifications.lookup import LISTING, FoundNotifications, NotificationFinder
from tidings.notify.notifications.progress import phase_of
from tidings.notify.notifications.release import Releaser
from tidings.notify.notifications.resend import Resender
from tidings.notify.notifications.store import within_reach
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

notifications = Resource("notifications", at="/notifications", tag=TAG, scope="notifications")

_ONE: Final = "/{notification_id}"
_BY_ADDRESS: Final = "recipients:read"
#: Days that are counted where nothing else is asked for, and at most.
_USUAL_DAYS: Final = 7
_MOST_DAYS: Final = 92


@notifications.get(test_keys=True)
async def list_notifications(
    tx: TenantTx, query: ListNotifications, caller: Caller, finder: NotificationFinder
) -> Page[NotificationView]:
    """List notifications, the newest first.

    By `recipient`, `correlation_id` and `batch` it is quick however many there are. The other filters are looked for among
    the newest, some 20,000 in a request: where few fit, a page may be short or empty and still have a `next_cursor`
    to go on from. `since` and `until` narrow what is looked at.
    """
    return _page(await finder.list(tx, query, tests_only=is_test(caller)))


@notifications.post("/lookup", test_keys=True, writes=False)
async def look_up_notifications(
    tx: TenantTx, body: LookUpNotifications, caller: Caller, finder: NotificationFinder
) -> Page[NotificationView]:
    """Find notifications by an address, or by the filters of the list.

    All that was sent to those who have the `address` now, the newest first. An address belongs into a body and never
    into a URL. Audited: who asked, and the hash of the address; `recipients:read` is needed for it too.
    """
    if body.address is not None and _BY_ADDRESS not in caller.scopes:
        raise MissingScopeError(_BY_ADDRESS)
    return _page(await finder.look_up(tx, body, actor=caller.actor, tests_only=is_test(caller)))


@notifications.get("/counters")
async def show_counters(tx: TenantTx, query: ShowCounters, clock: Clock) -> CountersView:
    """How many notifications came to each status, by day.

    Kept as they move, so it costs the same however many there are. At most 92 days.
    """
    last = query.last or clock.now().date()
    first = query.first or last - timedelta(days=_USUAL_DAYS - 1)
    if first > last:
        raise BadValueError("from", "must not be later than to")
    if (last - first).days >= _MOST_DAYS:
        raise BadValueError("from", f"must be at most {_MOST_DAYS} days before to")
    return CountersView.of(await sum_counts(tx, first=first, last=last))


@notifications.get(_ONE, test_keys=True, problems=["notification_not_found"])
async def show_notification(
    tx: TenantTx,
    notification_id: NotificationId,
    caller: Caller,
    history: ExecutionHistory,
    keyring: Keyring,
    clock: Clock,
) -> NotificationView:
    """Show a notification as it stands."""
    await within_reach(tx, notification_id, tests_only=is_test(caller))
    now = clock.now()
    trace = await load_brief_trace(tx, notification_id, history=history, keyring=keyring, now=now)
    return NotificationView.told(trace, phase_of(trace, now))


@notifications.get(f"{_ONE}/attempts", test_keys=True, problems=["notification_not_found"])
async def list_attempts(
    tx: TenantTx,
    notification_id: NotificationId,
    caller: Caller,
    history: ExecutionHistory,
    keyring: Keyring,
    clock: Clock,
) -> AttemptList:
    """List what vendors said about a notification, the oldest first.

    Every call to a vendor, every step that was skipped, and what vendors said afterwards.
    """
    await within_reach(tx, notification_id, tests_only=is_test(caller))
    trace = await load_trace(tx, notification_id, history=history, keyring=keyring, now=clock.now())
    return AttemptList(items=attempts_of(trace))


@notifications.post(
    f"{_ONE}/cancel", test_keys=True, problems=["notification_not_found", "too_late_to_cancel"]
)
async def cancel_notification(
    tx: TenantTx, notification_id: NotificationId, caller: Caller, canceller: Canceller
) -> NotificationView:
    """Take a notification back while it waits.

    While it is `queued` or `scheduled`. Cancelling a cancelled one answers it again.
    """
    await within_reach(tx, notification_id, tests_only=is_test(caller))
    return NotificationView.of(await canceller.cancel(tx, notification_id, actor=caller.actor), None)


@notifications.post(f"{_ONE}/release", test_keys=True, problems=["notification_not_found", "not_waiting"])
async def release_notification(
    tx: TenantTx, notification_id: NotificationId, caller: Caller, releaser: Releaser
) -> NotificationView:
    """Send a waiting notification now.

    While it is `scheduled`: it waits for the end of quiet hours, for a limit or for its time. It does not wait for
    quiet hours any more; every other gate is asked as before, so a limit may put it off again. It is audited. One
    that is in the queue already is answered as it is.
    """
    await within_reach(tx, notification_id, tests_only=is_test(caller))
    return NotificationView.of(await releaser.release(tx, notification_id, actor=caller.actor), None)


@notifications.post(
    f"{_ONE}/resend",
    test_keys=True,
    status=202,
    problems=["notification_not_found", "recipient_erased", "still_under_way", "body_gone"],
)
async def resend_notification(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    notification_id: NotificationId,
    caller: Caller,
    resender: Resender,
    once: Once,
) -> Answer[AcceptedView] | Reply:
    """Send a notification once more, to the same recipient.

    A new notification with an id of its own, from the old one's template version, variables and files; its
    `resent_from` names the old one. Everything that decides whether it is sent is asked anew. Not while the old one
    is under way.
    """
    if is_test(caller):
        async with open_tx() as tx:
            await within_reach(tx, notification_id, tests_only=True)
    item = await resender.prepare(tenant_id, notification_id, role=caller.role, is_test=is_test(caller))

    async def resend() -> AcceptedView:
        return accepted_view(await resender.accept(tx, item, actor=caller.actor))

    async with open_tx() as tx:
        reply = await once(tx, resend)
    resender.announce(item)
    return reply


def is_test(caller: Caller) -> bool:
    """For a test key the live ones are not there."""
    return caller.environment == "test"


def _page(found: FoundNotifications) -> Page[NotificationView]:
    return Page(
        items=[NotificationView.of(notification) for notification in found.items],
        next_cursor=write_cursor(found.next_id, listing=LISTING) if found.next_id is not None else None,
    )
