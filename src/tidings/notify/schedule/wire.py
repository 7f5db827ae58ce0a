"""Entries of the schedule as JSON; nothing of the message."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.notify.schedule.model import ScheduledWork

StatusName = Literal["planned", "processed", "obsolete", "failed"]


class ListScheduled(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries."""

    status: Annotated[StatusName | None, Meta(description="Only those in this state.")] = None
    trigger: Annotated[str | None, Meta(description="Only what this trigger has planned.")] = None
    subject: Annotated[str | None, Meta(description="Only what is about this subject of an event.")] = None
    recipient: Annotated[str | None, Meta(description="Only what is for this recipient.")] = None


class ScheduledView(Struct, frozen=True, kw_only=True):
    """Something that is to happen at its time."""

    id: str
    #: `trigger` for what is planned; for what waits with its notification `scheduled_send`, or the gate that put it off.
    kind: str
    status: StatusName
    #: When it is due, or was.
    run_after: Moment
    #: Null as long as it is only planned.
    notification_id: str | None
    #: Null where nobody could be told from the event.
    recipient_id: str | None
    trigger_id: str | None
    trigger_version: int | None
    template: str | None
    channel: str | None
    priority: str
    #: The event that it was planned for, its type, and what it is about.
    source_event_id: str | None
    event_type: str | None
    event_source: str | None
    subject: str | None
    event_time: Moment | None
    #: What `run_after` is reckoned from: a moment or a day in the event, an offset, an hour of the day.
    anchor: str | None
    offset: str | None
    local_time: str | None
    #: The person's time zone that it was reckoned in; it is reckoned anew when that changes.
    zone: str | None
    is_test: bool
    #: How often it failed.
    attempts: int
    #: A code.
    last_error: str | None
    #: Why it is obsolete: `cancelled_by`, `replanned`, `condition_not_met`, `cancelled`, `erased`; `too_late` and `too_far`
    #: where it had no time at which it could be sent.
    obsolete_reason: str | None
    #: The event that made it so.
    obsolete_event_id: str | None
    processed_at: Moment | None
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, work: ScheduledWork) -> "ScheduledView":
        """An entry as it is shown."""
        return by_name(
            cls,
            work,
            status=work.status.value,
            template=work.template_key,
            subject=work.event_subject,
            offset=work.anchor_offset,
            attempts=work.attempt_count,
        )
