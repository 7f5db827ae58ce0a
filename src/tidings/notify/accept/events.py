"""The events that tell where a notification has come to."""

from datetime import datetime

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.notifications import NotificationMoved
from tidings.kernel.clock import Clock
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.notify.accept.row import NotificationRow


def moved_event(
    tenant_id: TenantId,
    *,
    notification_id: str,
    recipient_id: str,
    status: str,
    channel: str,
    category: str,
    template_key: str,
    clock: Clock,
    reason: str | None = None,
    until: datetime | None = None,
    correlation_id: str | None = None,
    is_test: bool = False,
    traceparent: str | None = None,
) -> Event:
    """`notification.{status}.v1`; the events of one notification keep their order."""
    return new_event(
        f"notification.{status}.v1",
        NotificationMoved(
            notification_id=notification_id,
            recipient_id=recipient_id,
            status=status,
            channel=channel,
            category=category,
            template_key=template_key,
            reason=reason,
            until=until,
            correlation_id=correlation_id,
            is_test=is_test,
        ),
        tenant_id=tenant_id,
        ordering_key=notification_id,
        source=NOTIFY_SOURCE,
        clock=clock,
        traceparent=traceparent,
    )


def accepted_event(tenant_id: TenantId, row: NotificationRow, *, clock: Clock) -> Event:
    """`notification.queued.v1`, or `.scheduled.v1` with its time."""
    return moved_event(
        tenant_id,
        notification_id=row.id,
        recipient_id=row.recipient_id,
        status=row.status.value,
        channel=row.channel,
        category=row.category,
        template_key=row.template_key,
        until=row.scheduled_for,
        correlation_id=row.correlation_id,
        is_test=row.is_test,
        clock=clock,
        traceparent=row.traceparent,
    )
