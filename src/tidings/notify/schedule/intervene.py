"""The use cases "don't send what is planned" and "try again what failed"; both are audited."""

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.schedule import store
from tidings.notify.schedule.errors import UnknownScheduledWorkError, WorkIsOverError, WorkNotFailedError
from tidings.notify.schedule.firings import FiringEnd, FiringResult, end_firings
from tidings.notify.schedule.model import PLANNED_KIND, ScheduledWork, WorkStatus
from tidings.notify.schedule.store import Ended

#: Why an entry is obsolete that a person took back.
CANCELLED = "cancelled"


async def cancel_work(
    tx: TenantTx, work_id: ScheduledWorkId, *, actor: str, audit: AuditLog, clock: Clock
) -> ScheduledWork:
    """The entry, taken back now or before; a `WorkIsOverError` where there is nothing to take back."""
    found = await _held(tx, work_id)
    if found.kind != PLANNED_KIND and found.notification_id is not None:
        raise WorkIsOverError(f"{work_id} waits with {found.notification_id}: cancel that notification")
    if found.status is WorkStatus.OBSOLETE:
        return found
    if found.status is WorkStatus.PROCESSED:
        raise WorkIsOverError(f"{work_id} was sent on its way as {found.notification_id}")
    taken_back = Ended(tenant_id=tx.tenant_id, id=work_id, status=WorkStatus.OBSOLETE, reason=CANCELLED)
    await store.end_planned(tx, [taken_back], now=clock.now())
    if found.source_event_id is not None:
        end = FiringEnd(
            tenant_id=tx.tenant_id,
            event_id=found.source_event_id,
            scheduled_id=work_id,
            result=FiringResult.OBSOLETE,
            reason=CANCELLED,
        )
        await end_firings(tx, [end])
    return await _told(tx, found, "cancelled", actor=actor, audit=audit)


async def retry_work(
    tx: TenantTx, work_id: ScheduledWorkId, *, actor: str, audit: AuditLog, clock: Clock
) -> ScheduledWork:
    """The entry, due now; a `WorkNotFailedError` where it has not failed."""
    found = await _held(tx, work_id)
    if found.status is not WorkStatus.FAILED:
        raise WorkNotFailedError(f"{work_id} is {found.status.value}: there is nothing to try again")
    await store.retry_planned(tx, work_id, now=clock.now())
    if found.source_event_id is not None:
        end = FiringEnd(
            tenant_id=tx.tenant_id,
            event_id=found.source_event_id,
            scheduled_id=work_id,
            result=FiringResult.PLANNED,
        )
        await end_firings(tx, [end])
    return await _told(tx, found, "retried", actor=actor, audit=audit)


async def _held(tx: TenantTx, work_id: ScheduledWorkId) -> ScheduledWork:
    found = await store.find_work(tx, work_id, hold=True)
    if found is None:
        raise UnknownScheduledWorkError
    return found


async def _told(
    tx: TenantTx, before: ScheduledWork, action: str, *, actor: str, audit: AuditLog
) -> ScheduledWork:
    after = await _held(tx, before.id)
    entry = Entry(
        entity_type="scheduled_work",
        entity_id=before.id,
        action=action,
        actor=actor,
        before={"status": before.status.value, "last_error": before.last_error},
        after={"status": after.status.value},
    )
    await audit.append(tx, [entry])
    return after
