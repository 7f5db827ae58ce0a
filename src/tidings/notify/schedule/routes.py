"""Operations on the schedule: see what is planned, take it back, try again what failed."""

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.schedule import store
from tidings.notify.schedule.errors import UnknownScheduledWorkError
from tidings.notify.schedule.intervene import cancel_work, retry_work
from tidings.notify.schedule.listing import list_work
from tidings.notify.schedule.model import ScheduledWork, WorkStatus
from tidings.notify.schedule.store import WorkCriteria
from tidings.notify.schedule.wire import ListScheduled, ScheduledView

scheduled = Resource("scheduled", at="/scheduled", tag="schedule", scope="notifications")


@scheduled.get(test_keys=True)
async def list_scheduled(
    tx: TenantTx, query: ListScheduled, paging: Paging, caller: Caller, clock: Clock
) -> Page[ScheduledView]:
    """List what is to be sent at its time, the newest first.

    What triggers have planned, and notifications that wait. What is over is kept for a day, of what was planned for 30.
    `subject`, `recipient` and the status `failed` find theirs among all; other filters look among the newest, some 20,000
    in a request: where few fit, a page may be short or empty and still have a `next_cursor`.
    """
    wanted = WorkCriteria(
        status=None if query.status is None else WorkStatus(query.status),
        trigger_id=query.trigger,
        subject=query.subject,
        recipient_id=query.recipient,
        tests_only=_is_test(caller),
    )
    found = await list_work(tx, wanted, after_id=paging.after_id, limit=query.limit, clock=clock)
    return paging.page_until(found.next_id, [ScheduledView.of(one) for one in found.items])


@scheduled.get("/{scheduled_id}", test_keys=True, problems=["scheduled_not_found"])
async def show_scheduled(tx: TenantTx, scheduled_id: ScheduledWorkId, caller: Caller) -> ScheduledView:
    """Show one entry of the schedule."""
    return ScheduledView.of(await _within_reach(tx, scheduled_id, caller))


@scheduled.post(
    "/{scheduled_id}/cancel", test_keys=True, problems=["scheduled_not_found", "scheduled_is_over"]
)
async def cancel_scheduled(
    tx: TenantTx, scheduled_id: ScheduledWorkId, caller: Caller, audit: AuditLog, clock: Clock
) -> ScheduledView:
    """Take back what is planned: it is not sent.

    For what waits with a notification, cancel the notification.
    """
    await _within_reach(tx, scheduled_id, caller)
    return ScheduledView.of(await cancel_work(tx, scheduled_id, actor=caller.actor, audit=audit, clock=clock))


@scheduled.post(
    "/{scheduled_id}/retry", test_keys=True, problems=["scheduled_not_found", "scheduled_not_failed"]
)
async def retry_scheduled(
    tx: TenantTx, scheduled_id: ScheduledWorkId, caller: Caller, audit: AuditLog, clock: Clock
) -> ScheduledView:
    """Try something again that has failed: it is due now."""
    await _within_reach(tx, scheduled_id, caller)
    return ScheduledView.of(await retry_work(tx, scheduled_id, actor=caller.actor, audit=audit, clock=clock))


async def _within_reach(tx: TenantTx, scheduled_id: ScheduledWorkId, caller: Caller) -> ScheduledWork:
    found = await store.find_work(tx, scheduled_id)
    if found is None or (_is_test(caller) and not found.is_test):
        raise UnknownScheduledWorkError
    return found


def _is_test(caller: Caller) -> bool:
    """A test key sees and changes what tests have planned."""
    return caller.environment == "test"
