"""What operators do with alerts: acknowledge one, take that back, resolve it, mute a category. Each is audited."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from tidings.backoffice.alerts import store
from tidings.backoffice.alerts.alerts import Alerts, tell_of
from tidings.backoffice.alerts.errors import AlertResolvedError, UnknownAlertError
from tidings.backoffice.alerts.model import Alert
from tidings.backoffice.ids import AlertId
from tidings.backoffice.properties.access import PropertyReach
from tidings.contracts.backoffice import (
    ALERT_ACKNOWLEDGED_SUBJECT,
    ALERT_WITHDRAWN_SUBJECT,
    AlertAcknowledged,
    AlertAcknowledgementWithdrawn,
)
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent

#: Keeps what an operator writes beside their acknowledgement; the note's id, None without one.
WriteNote: TypeAlias = Callable[[Alert], Awaitable[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWork:
    """An operator at an alert: who, on which device, for the audit as whom, and which properties they may see."""

    operator_id: str
    device_id: str
    actor: str
    reach: PropertyReach


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AlertHandler:
    """Each within the caller's transaction."""

    alerts: Alerts
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def acknowledge(
        self, tx: TenantTx | PlatformTx, alert_id: AlertId, *, by: AtWork, write_note: WriteNote
    ) -> Alert:
        """Say that one looks after it; the second time changes nothing."""
        alert, now = await self._lock_open(tx, alert_id, by), self.clock.now()
        standing = await store.find_acknowledgements(tx, [alert_id])
        if any(one.operator_id == by.operator_id for one in standing):
            return alert
        note_id = await write_note(alert)
        await store.acknowledge(
            tx, alert, operator_id=by.operator_id, device_id=by.device_id, note_id=note_id, now=now
        )
        changed = alert
        if alert.status == "raised":
            changed = await store.set_status(tx, replace(alert, status="acknowledged", acknowledged_at=now))
        told = AlertAcknowledged(
            alert_id=alert.id,
            category=alert.category,
            severity=alert.severity,
            property_id=alert.property_id,
            operator_id=by.operator_id,
        )
        await self._tell(tx, ALERT_ACKNOWLEDGED_SUBJECT, changed, told)
        await self._write(tx, changed, "acknowledged", by, note_id=note_id)
        return changed

    async def withdraw(self, tx: TenantTx | PlatformTx, alert_id: AlertId, *, by: AtWork) -> Alert:
        """Take one's own acknowledgement back; where there is none, nothing changes."""
        alert, now = await self._lock_open(tx, alert_id, by), self.clock.now()
        if not await store.withdraw(tx, alert_id, operator_id=by.operator_id, now=now):
            return alert
        changed = alert
        is_raised_again = not await store.find_acknowledgements(tx, [alert_id])
        if is_raised_again:
            changed = await store.set_status(tx, replace(alert, status="raised", acknowledged_at=None))
        told = AlertAcknowledgementWithdrawn(
            alert_id=alert.id,
            category=alert.category,
            severity=alert.severity,
            property_id=alert.property_id,
            operator_id=by.operator_id,
            is_raised_again=is_raised_again,
        )
        await self._tell(tx, ALERT_WITHDRAWN_SUBJECT, changed, told)
        await self._write(tx, changed, "acknowledgement.withdrawn", by)
        return changed

    async def resolve(self, tx: TenantTx | PlatformTx, alert_id: AlertId, *, by: AtWork) -> Alert:
        """End it by hand. Where its cause goes on, the next look at it raises a new one."""
        alert = await self._lock_open(tx, alert_id, by)
        [ended] = await self.alerts.resolve(tx, [alert.dedup_key], resolved_by=by.operator_id)
        await self._write(tx, alert, "resolved", by)
        return ended

    async def mute(
        self, tx: TenantTx | PlatformTx, category: str, *, muted_until: datetime, by: AtWork
    ) -> None:
        """Have nobody told of a category until then; its alerts are raised and listed as ever."""
        now = self.clock.now()
        await store.mute(tx, category, muted_until=muted_until, operator_id=by.operator_id, now=now)
        entry = Entry(
            entity_type="alert_mute",
            entity_id=category,
            action="muted",
            actor=by.actor,
            after={"muted_until": muted_until},
        )
        await self.audit.append(tx, [entry])

    async def unmute(self, tx: TenantTx | PlatformTx, category: str, *, by: AtWork) -> None:
        """End that before its time."""
        if await store.unmute(tx, category):
            entry = Entry(entity_type="alert_mute", entity_id=category, action="unmuted", actor=by.actor)
            await self.audit.append(tx, [entry])

    async def _lock_open(self, tx: TenantTx | PlatformTx, alert_id: AlertId, by: AtWork) -> Alert:
        alert = await store.lock_alert(tx, alert_id, reach=by.reach)
        if alert is None:
            raise UnknownAlertError
        if alert.status == "resolved":
            raise AlertResolvedError
        return alert

    async def _tell(self, tx: TenantTx | PlatformTx, subject: str, alert: Alert, told: Struct) -> None:
        event = new_event(
            subject,
            told,
            tenant_id=tx.tenant_id,
            ordering_key=alert.id,
            source=BACKOFFICE_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        await self.outbox.append(tx, [event])
        await tell_of(self.alerts.announcements, tx, [alert])

    async def _write(
        self, tx: TenantTx | PlatformTx, alert: Alert, action: str, by: AtWork, **more: str | None
    ) -> None:
        after = {
            "category": alert.category,
            "severity": alert.severity,
            "property_id": alert.property_id,
            **more,
        }
        entry = Entry(entity_type="alert", entity_id=alert.id, action=action, actor=by.actor, after=after)
        await self.audit.append(tx, [entry])
