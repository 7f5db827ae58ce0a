"""What a set of events comes to, while it is found out: drafts, what is cleared, what the ledger says. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.notify.ids import FIRING
from tidings.notify.schedule.firings import MADE_KEPT, NOTHING_KEPT, Firing, FiringEnd, FiringResult
from tidings.notify.schedule.model import PlannedRow, StandingPlan, WorkStatus
from tidings.notify.schedule.store import Ended, TriggerSubject
from tidings.notify.triggers.evaluate import MessageDraft, Why
from tidings.notify.triggers.model import HeardEvent, Hears, Trigger
from tidings.notify.triggers.store import SubjectLine, SubjectState

_MADE: Final = frozenset({FiringResult.SENT, FiringResult.PLANNED, FiringResult.FAILED})


class Match(NamedTuple):
    """A trigger that hears an event."""

    event: HeardEvent
    trigger: Trigger
    hears: Hears
    #: What the event is about, where that matters to the trigger.
    subject: TriggerSubject | None
    #: The trigger is off or deleted: it only clears and moves what it has planned.
    silent: bool = False


@dataclass(slots=True, kw_only=True)
class EventSet:
    """What a set of events comes to, while it is found out."""

    now: datetime
    states: dict[TriggerSubject, SubjectState]
    #: What is planned, or has failed, about each subject.
    planned: dict[TriggerSubject, list[StandingPlan]]
    #: What came of earlier events about each.
    lines: dict[TriggerSubject, list[SubjectLine]]
    #: By the numbers of their places.
    drafts: dict[int, MessageDraft] = field(default_factory=dict)
    #: The places of those that a later event may move or clear.
    about: dict[TriggerSubject, list[int]] = field(default_factory=dict)
    #: Of which an event of the set has said that nobody is to be told.
    untold: set[TriggerSubject] = field(default_factory=set)
    #: How many drafts there were.
    count: int = 0
    firings: list[Firing] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    ends: list[FiringEnd] = field(default_factory=list)
    rows: list[PlannedRow] = field(default_factory=list)
    #: Of which event which trigger has planned something for whom.
    seen: set[tuple[str, str, RecipientId]] = field(default_factory=set)
    #: Sent messages that are taken back if they still wait: why, and by which event.
    taken_back: dict[NotificationId, tuple[TriggerSubject, Why, str]] = field(default_factory=dict)

    def add(self, drafts: Sequence[MessageDraft]) -> None:
        """Further drafts."""
        for draft in drafts:
            place = self.count
            self.count += 1
            self.drafts[place] = draft
            if draft.subject is not None:
                self.about.setdefault(draft.subject, []).append(place)

    def drafts_about(self, subject: TriggerSubject | None) -> list[MessageDraft]:
        """Those of earlier events of the set about the same."""
        places = self.about.get(subject, ()) if subject is not None else ()
        return [self.drafts[place] for place in places if place in self.drafts]

    def sent_about(self, subject: TriggerSubject) -> list[NotificationId]:
        """The messages that this trigger has sent about it."""
        return [
            line.notification_id
            for line in self.lines.get(subject, ())
            if line.result is FiringResult.SENT and line.notification_id is not None
        ]

    def has_anything_about(self, subject: TriggerSubject | None) -> bool:
        """Whether something is planned about it, or was sent."""
        return subject is not None and bool(
            self.planned.get(subject) or self.sent_about(subject) or self.drafts_about(subject)
        )

    def note(
        self,
        event: HeardEvent,
        trigger: Trigger,
        subject: TriggerSubject | None,
        result: FiringResult,
        reason: str | None = None,
        **facts: Any,
    ) -> None:
        """A line of the ledger."""
        kept = MADE_KEPT if result in _MADE else NOTHING_KEPT
        send_at: datetime | None = facts.get("send_at")
        self.firings.append(
            Firing(
                tenant_id=event.tenant_id,
                id=FIRING.new(self.now),
                event_id=event.id,
                event_type=event.type,
                event_source=subject.event_source if subject is not None else event.source,
                event_subject=subject.event_subject if subject is not None else None,
                event_time=event.time,
                trigger_id=trigger.id,
                trigger_version=trigger.version,
                template_key=trigger.template,
                channel=trigger.channel,
                result=result,
                reason=reason,
                fired_at=self.now,
                expires_at=max(self.now, send_at or self.now) + kept,
                **facts,
            )
        )

    def clear(
        self, subject: TriggerSubject, why: Why, event: HeardEvent, *, sent_too: bool, all_drafts: bool
    ) -> int:
        """End what is planned about a subject; how much that was. `sent_too`: also what was sent and may still wait."""
        rows = self.planned.pop(subject, [])
        if why is not Why.REPLANNED:
            self.untold.add(subject)
        for row in rows:
            self.ended.append(
                Ended(
                    tenant_id=row.tenant_id,
                    id=row.id,
                    status=WorkStatus.OBSOLETE,
                    reason=why,
                    by_event=event.id,
                )
            )
            self.ends.append(
                FiringEnd(
                    tenant_id=row.tenant_id,
                    event_id=row.source_event_id,
                    scheduled_id=row.id,
                    result=FiringResult.OBSOLETE,
                    reason=why,
                    ended_by=event.id,
                )
            )
        over = [
            place
            for place in self.about.get(subject, ())
            if place in self.drafts and (all_drafts or self.drafts[place].trigger.is_shifted)
        ]
        for place in over:
            draft = self.drafts.pop(place)
            self.note(draft.event, draft.trigger, subject, FiringResult.OBSOLETE, why, ended_by=event.id)
        if sent_too:
            for notification_id in self.sent_about(subject):
                self.taken_back[notification_id] = (subject, why, event.id)
        return len(rows) + len(over)
