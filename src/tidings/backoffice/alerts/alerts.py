"""Raises alerts and ends them, with their events, in the transaction of whoever saw the cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.alerts import store
from tidings.backoffice.alerts.model import Alert, NewAlert, once_each
from tidings.backoffice.announcements.model import NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.ids import ALERT
from tidings.contracts.backoffice import (
    ALERT_RAISED_SUBJECT,
    ALERT_RESOLVED_SUBJECT,
    AlertRaised,
    AlertResolved,
)
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent

#: Who ends an alert whose cause is over, where no operator does.
BY_ITSELF: Final = "system"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Alerts:
    """The one way in which an alert begins, and ends without an operator. A tenant's transaction: the tenant's; else the platform's."""

    outbox: Outbox
    announcements: DeviceAnnouncements
    clock: Clock

    async def raise_(self, tx: TenantTx | PlatformTx, alerts: Sequence[NewAlert]) -> list[Alert]:
        """Raise these; one of which there is an open one of the same key is counted. The ones that are new."""
        now, given = self.clock.now(), once_each(alerts)
        ids = [ALERT.new(now) for _ in given]
        kept = await store.raise_alerts(tx, ids, given, now=now)
        fresh = [alert for alert in kept if alert.id in set(ids)]
        await self.outbox.append(
            tx,
            [
                new_event(
                    ALERT_RAISED_SUBJECT,
                    AlertRaised(
                        alert_id=alert.id,
                        category=alert.category,
                        severity=alert.severity,
                        property_id=alert.property_id,
                        source=alert.source,
                        facts=dict(alert.facts),
                    ),
                    tenant_id=tx.tenant_id,
                    ordering_key=alert.id,
                    source=BACKOFFICE_SOURCE,
                    clock=self.clock,
                    traceparent=current_traceparent(),
                )
                for alert in fresh
            ],
        )
        await tell_of(self.announcements, tx, fresh)
        return fresh

    async def resolve(
        self, tx: TenantTx | PlatformTx, dedup_keys: Sequence[str], *, resolved_by: str = BY_ITSELF
    ) -> list[Alert]:
        """End those of these keys that are open; the ones that were."""
        ended = await store.resolve_alerts(tx, dedup_keys, resolved_by=resolved_by, now=self.clock.now())
        await self.outbox.append(
            tx,
            [
                new_event(
                    ALERT_RESOLVED_SUBJECT,
                    AlertResolved(
                        alert_id=alert.id,
                        category=alert.category,
                        severity=alert.severity,
                        property_id=alert.property_id,
                        resolved_by=resolved_by,
                    ),
                    tenant_id=tx.tenant_id,
                    ordering_key=alert.id,
                    source=BACKOFFICE_SOURCE,
                    clock=self.clock,
                    traceparent=current_traceparent(),
                )
                for alert in ended
            ],
        )
        await tell_of(self.announcements, tx, ended)
        return ended


async def tell_of(
    announcements: DeviceAnnouncements, tx: TenantTx | PlatformTx, changed: Sequence[Alert]
) -> None:
    """Tell open streams of operators' devices which alerts changed."""
    await announcements.tell_all(
        tx,
        [
            NewAnnouncement(
                channel="alerts",
                property_id=alert.property_id,
                facts={
                    "alert_id": alert.id,
                    "category": alert.category,
                    "severity": alert.severity,
                    "status": alert.status,
                },
            )
            for alert in changed
        ],
    )
