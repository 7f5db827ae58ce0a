"""The events that tell where a notification has come to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.notifications import NotificationMoved
from tidings.kernel.clock import Clock
from tidings.kernel.db import Row
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.notify.accept.row import NotificationRow


class NotificationFacts(Protocol):
    """What every event of a notification says of it; its row and what is shown of it have all of them."""

    @property
    def id(self) -> str: ...
    @property
    def recipient_id(self) -> str: ...
    @property
    def channel(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def template_key(self) -> str: ...
    @property
    def correlation_id(self) -> str | None: ...
    @property
    def is_test(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class _FactsOfRow:
    id: str
    recipient_id: str
    channel: str
    category: str
    template_key: str
    correlation_id: str | None
    is_test: bool


def facts_of(row: Row) -> NotificationFacts:
    """The facts from a row of SQL that has them by these names."""
    return _FactsOfRow(*(row[name] for name in _FactsOfRow.__slots__))


def moved_event(
    tenant_id: TenantId,
    of: NotificationFacts,
    status: str,
    *,
    clock: Clock,
    reason: str | None = None,
    until: datetime | None = None,
    traceparent: str | None = None,
    digest_notification_id: str | None = None,
) -> Event:
    """`notification.{status}.v1`; the events of one notification keep their order."""
    return new_event(
        f"notification.{status}.v1",
        NotificationMoved(
            notification_id=of.id,
            recipient_id=of.recipient_id,
            status=status,
            channel=of.channel,
            category=of.category,
            template_key=of.template_key,
            reason=reason,
            until=until,
            correlation_id=of.correlation_id,
            is_test=of.is_test,
            digest_notification_id=digest_notification_id,
        ),
        tenant_id=tenant_id,
        ordering_key=of.id,
        source=NOTIFY_SOURCE,
        clock=clock,
        traceparent=traceparent,
    )


def accepted_event(row: NotificationRow, *, clock: Clock) -> Event:
    """`notification.queued.v1`, or `.scheduled.v1` with its time."""
    until, traceparent = row.scheduled_for, row.traceparent
    return moved_event(
        row.tenant_id, row, row.status.value, clock=clock, until=until, traceparent=traceparent
    )
