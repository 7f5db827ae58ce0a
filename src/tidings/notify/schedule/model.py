"""An entry of the schedule, and the order that a planned one becomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from tidings.contracts.enums import Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.ids import TenantId
from tidings.notify.accept.order import Order, OrderedBy
from tidings.notify.accept.row import AnyChannel
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.recipients.recipient_input import RecipientInput, RecipientSpec, spec_of
from tidings.notify.schedule.due import NO_OFFSET, DueTime, Offset, due_at, read_anchor, read_clock

#: What a sealed order is for; bound into it together with the tenant and the recipient.
PLANNED_PURPOSE: Final = "planned-order"
#: Whose key of the tenant seals the order where no recipient is known.
_NOBODY: Final = "_tenant/planned"
#: The kind of an entry that a trigger has planned.
PLANNED_KIND: Final = "trigger"


class WorkStatus(StrEnum):
    """Where an entry of the schedule has come to."""

    PLANNED = "planned"
    #: It is a notification by now, or its notification went on its way.
    PROCESSED = "processed"
    #: A later event, a person or an erasure made it needless.
    OBSOLETE = "obsolete"
    #: It was refused, or tried too often.
    FAILED = "failed"


class PlannedOrder(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be ordered when its time comes; it is sealed as JSON."""

    #: An id, or a recipient as it is written in a request.
    recipient: str | dict[str, Any]
    template: str
    channel: AnyChannel = "auto"
    variables: dict[str, Any] = {}
    category: str | None = None
    priority: Priority | None = None
    source_event_id: str | None = None
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
    #: When it was to be sent as it was planned, whatever the person's zone is by then.
    time_slot: datetime | None = None

    def __repr__(self) -> str:
        return f"PlannedOrder({self.template!r}, {self.channel!r}, ***)"

    def order(self, by: OrderedBy) -> Order:
        """The order, as whoever is named; an `InvalidError` where the recipient can't be read."""
        return Order(
            by=by,
            recipient=spec_of_recipient(self.recipient),
            template=self.template,
            channel=self.channel,
            variables=self.variables,
            category=self.category,
            priority=self.priority,
            source_event_id=self.source_event_id,
            source_event_type=self.source_event_type,
            source_event_produced_at=self.source_event_produced_at,
            time_slot=self.time_slot,
        )


def spec_of_recipient(given: str | Mapping[str, Any]) -> RecipientSpec:
    """A recipient as in a request, an id or an object; an `InvalidError` or a `ValidationError` where it is neither."""
    if isinstance(given, str):
        return spec_of(RecipientInput(id=given), field="recipient")
    return spec_of(msgspec.convert(given, RecipientInput), field="recipient")


class DueRule(Struct, frozen=True, kw_only=True):
    """What the due time of an entry is reckoned from, as it is stored."""

    anchor: str
    anchor_offset: str | None = None
    local_time: str | None = None

    def due(self, zone: str) -> DueTime | None:
        """When it is due for a person in this zone; None where the anchor is no time, or beyond the calendar."""
        anchor = read_anchor(self.anchor)
        if anchor is None:
            return None
        offset = Offset.parse(self.anchor_offset) if self.anchor_offset else NO_OFFSET
        clock = read_clock(self.local_time) if self.local_time else None
        try:
            return due_at(anchor, offset, clock, ZoneInfo(zone))
        except (OverflowError, ValueError):
            return None

    @property
    def needs_zone(self) -> bool:
        """Whether another time zone would mean another moment."""
        if self.local_time is not None:
            return True
        anchor = read_anchor(self.anchor)
        if isinstance(anchor, date) and not isinstance(anchor, datetime):
            return True
        if isinstance(anchor, datetime) and anchor.tzinfo is None:
            return True
        offset = Offset.parse(self.anchor_offset) if self.anchor_offset else NO_OFFSET
        return bool(offset.years or offset.months or offset.days)


class PlannedRow(Struct, frozen=True, kw_only=True):
    """A planned entry as it is stored; the order is sealed."""

    tenant_id: TenantId
    id: ScheduledWorkId
    run_after: datetime
    #: Null where the recipient could not be told.
    recipient_id: RecipientId | None
    payload: bytes
    trigger_id: str
    trigger_version: int
    template_key: str
    channel: AnyChannel
    priority: Priority
    source_event_id: str
    event_type: str
    event_source: str
    event_subject: str | None
    event_time: datetime
    anchor: str
    anchor_offset: str | None
    local_time: str | None
    #: The zone that `run_after` was reckoned in; null where none matters.
    zone: str | None
    is_test: bool
    attempt_count: int = 0
    #: Since when it is given up, and why; it is kept to be tried again by hand.
    failed_at: datetime | None = None
    last_error: str | None = None
    #: Why it is written and not to be sent: its time is over, or too far ahead, and the thing may be moved again.
    obsolete_reason: str | None = None

    def __repr__(self) -> str:
        return f"PlannedRow({self.id}, ***)"

    @property
    def rule(self) -> DueRule:
        """What its due time is reckoned from."""
        return DueRule(anchor=self.anchor, anchor_offset=self.anchor_offset, local_time=self.local_time)

    @property
    def key_subject(self) -> tuple[TenantId, str]:
        """Whose key seals the order: the recipient's, or the tenant's own where none is known."""
        return self.tenant_id, self.recipient_id or _NOBODY


class StandingPlan(Struct, frozen=True, kw_only=True):
    """What is planned about something, or has failed, as far as a later event has to know of it."""

    tenant_id: TenantId
    id: ScheduledWorkId
    recipient_id: RecipientId | None
    trigger_id: str
    event_source: str
    event_subject: str
    #: The event that planned it.
    source_event_id: str
    failed_at: datetime | None
    #: How large its order is.
    order_bytes: int

    @property
    def key_subject(self) -> tuple[TenantId, str]:
        """Whose key seals its order."""
        return self.tenant_id, self.recipient_id or _NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledWork:
    """An entry as it is shown; nothing of the message."""

    id: ScheduledWorkId
    kind: str
    status: WorkStatus
    run_after: datetime
    notification_id: NotificationId | None
    recipient_id: RecipientId | None
    trigger_id: str | None
    trigger_version: int | None
    template_key: str | None
    channel: str | None
    priority: str
    source_event_id: str | None
    event_type: str | None
    event_source: str | None
    event_subject: str | None
    event_time: datetime | None
    anchor: str | None
    anchor_offset: str | None
    local_time: str | None
    zone: str | None
    is_test: bool
    attempt_count: int
    last_error: str | None
    obsolete_reason: str | None
    obsolete_event_id: str | None
    processed_at: datetime | None
    created_at: datetime
    updated_at: datetime
