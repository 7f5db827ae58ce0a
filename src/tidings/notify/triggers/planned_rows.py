"""A draft as the order that is accepted now, and as the row of the schedule that is sent later. Pure."""

from datetime import datetime
from typing import Any, cast

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.kernel.keys.data_key import DataKey
from tidings.notify.accept.order import Order, OrderedBy
from tidings.notify.ids import SCHEDULED_WORK
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.schedule.model import PLANNED_PURPOSE, PlannedOrder, PlannedRow
from tidings.notify.triggers.evaluate import MessageDraft

_encode = msgspec.json.Encoder().encode


def order_of(draft: MessageDraft, spec: RecipientSpec) -> Order:
    """The order that a draft is for a person."""
    event, trigger = draft.event, draft.trigger
    return Order(
        by=OrderedBy(event.tenant_id, is_test=event.is_test),
        recipient=spec,
        template=trigger.template,
        channel=trigger.channel,
        variables=draft.variables,
        category=trigger.category,
        priority=trigger.priority,
        source_event_id=event.id,
        source_event_type=event.type,
        source_event_produced_at=event.time,
        time_slot=draft.time_slot,
    )


def sealed_order(draft: MessageDraft, recipient: str | dict[str, Any], key: DataKey) -> bytes:
    """What is needed to order it when its time comes, under the person's key."""
    trigger, event = draft.trigger, draft.event
    kept = PlannedOrder(
        recipient=recipient,
        template=trigger.template,
        channel=trigger.channel,
        # As JSON that is written already: they are the same for everybody.
        variables=cast("dict[str, Any]", draft.words or draft.variables),
        category=trigger.category,
        priority=trigger.priority,
        source_event_id=event.id,
        source_event_type=event.type,
        source_event_produced_at=event.time,
        time_slot=draft.time_slot,
    )
    return key.seal(_encode(kept), PLANNED_PURPOSE)


def planned_row(
    draft: MessageDraft,
    recipient_id: RecipientId | None,
    key: DataKey | None,
    now: datetime,
    *,
    run_after: datetime,
    zone: str | None,
) -> PlannedRow:
    """Its row in the schedule, due at `run_after`; without a person and their key it carries no words."""
    event, trigger, subject = draft.event, draft.trigger, draft.subject
    return PlannedRow(
        tenant_id=event.tenant_id,
        id=SCHEDULED_WORK.new(now),
        run_after=run_after,
        recipient_id=recipient_id,
        payload=b"" if key is None or recipient_id is None else sealed_order(draft, recipient_id, key),
        trigger_id=trigger.id,
        trigger_version=trigger.version,
        template_key=trigger.template,
        channel=trigger.channel,
        priority=trigger.priority or "normal",
        source_event_id=event.id,
        event_type=event.type,
        event_source=subject.event_source if subject is not None else event.source,
        event_subject=subject.event_subject if subject is not None else None,
        event_time=event.time,
        anchor=draft.rule.anchor,
        anchor_offset=draft.rule.anchor_offset,
        local_time=draft.rule.local_time,
        zone=zone if draft.rule.needs_zone else None,
        is_test=event.is_test,
    )
