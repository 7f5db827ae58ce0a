"""A trigger: which event sends what to whom, and when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from tidings.contracts.enums import Priority
from tidings.kernel.expressions import Expression, parse
from tidings.kernel.ids import TenantId
from tidings.notify.accept.row import AnyChannel
from tidings.notify.ids import TriggerId
from tidings.notify.schedule.due import NO_OFFSET, Offset
from tidings.notify.triggers.paths import EventPath, parse_path

#: The moment that an event names as its own.
EVENT_TIME: Final = "$.time"
#: What an event is about.
EVENT_SUBJECT: Final = "$.subject"
#: So long it is remembered which event was the last about a subject: longer than anything is planned.
SUBJECTS_KEPT: Final = timedelta(days=760)


class Hears(StrEnum):
    """What an event is to a trigger."""

    #: It sends, or plans.
    FIRE = "fire"
    #: It moves what is planned.
    REPLAN = "replan"
    #: It clears what is planned.
    CANCEL = "cancel"


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """A rule, as it is in one version."""

    id: TriggerId
    #: None: the platform's.
    tenant_id: TenantId | None
    title: str | None
    event_type: str
    template: str
    channel: AnyChannel = "auto"
    #: Paths and named resolvers; all whom one of them finds.
    recipients: tuple[str, ...]
    #: Whether it was written as a list.
    recipients_listed: bool = False
    #: What the template gets: paths and constants.
    variables: Mapping[str, Any] = field(default_factory=dict)
    #: A path to the moment or day that the time is reckoned from.
    anchor: str = EVENT_TIME
    #: An ISO 8601 duration of either sign.
    offset: str | None = None
    #: The hour of the day where the person is.
    local_time: str | None = None
    #: None: the template's own.
    category: str | None = None
    priority: Priority | None = None
    condition: str | None = None
    cancelled_by: tuple[str, ...] = ()
    replanned_by: tuple[str, ...] = ()
    #: A path to what the event is about: what is planned is moved and cleared by it.
    subject: str = EVENT_SUBJECT
    enabled: bool = True
    version: int = 1
    #: The set that it was shipped with, and what it is called there.
    set_name: str | None = None
    set_key: str | None = None
    #: The platform's trigger that this one takes the place of.
    customises: TriggerId | None = None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @cached_property
    def is_shifted(self) -> bool:
        """Whether it may send at another time than when the event comes."""
        return self.anchor != EVENT_TIME or not self.offset_read.is_nothing or self.local_time is not None

    @cached_property
    def timing(self) -> tuple[str, Offset, str | None]:
        """What its time is reckoned from; two that have the same send at the same time."""
        return self.anchor, self.offset_read, self.local_time

    @cached_property
    def follows_subject(self) -> bool:
        """Whether a later event about the same thing matters to what this one made."""
        return self.is_shifted or bool(self.cancelled_by or self.replanned_by)

    @cached_property
    def offset_read(self) -> Offset:
        """The offset, read."""
        return Offset.parse(self.offset) if self.offset else NO_OFFSET

    @cached_property
    def condition_read(self) -> Expression | None:
        """The condition, read."""
        return parse(self.condition) if self.condition else None

    @cached_property
    def anchor_path(self) -> EventPath:
        """The anchor, read."""
        return parse_path(self.anchor, field="anchor")

    @cached_property
    def subject_path(self) -> EventPath:
        """The subject, read."""
        return parse_path(self.subject, field="subject")

    def hears(self) -> list[tuple[str, Hears]]:
        """The types of events that it hears, and what each is to it; each type once."""
        found = dict.fromkeys(self.replanned_by, Hears.REPLAN)
        found |= dict.fromkeys(self.cancelled_by, Hears.CANCEL)
        found[self.event_type] = Hears.FIRE
        return list(found.items())

    def subject_of(self, scope: Mapping[str, Any]) -> str | None:
        """What an event is about; None where it does not say, or says something that is no name."""
        found = self.subject_path.first(scope)
        if isinstance(found, bool) or not isinstance(found, str | int):
            return None
        text = str(found)
        return text if 0 < len(text) <= 500 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEvent:
    """An event as triggers see it: another system's, or one of Tidings' own."""

    tenant_id: TenantId
    #: Ours: `evt_…`.
    id: str
    type: str
    source: str
    #: When it happened, as its sender says.
    time: datetime
    #: When it came: whether something is too late is judged by that, and not by when its turn came.
    received_at: datetime
    #: Whether its sender said when it happened; otherwise the order in which events come is all there is.
    timed: bool = True
    is_test: bool
    #: The CloudEvent, as paths and conditions see it.
    scope: Mapping[str, Any] = field(repr=False)

    @property
    def ordered_at(self) -> datetime:
        """The moment by which it is older or newer than others: nothing happens after it was told."""
        return min(self.time, self.received_at)
