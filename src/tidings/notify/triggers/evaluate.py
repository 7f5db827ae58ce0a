"""What an event means to a trigger: drafts of messages, or why there are none. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec

from tidings.notify.accept.validator import LONGEST_PLAN
from tidings.notify.schedule.due import DueTime, read_anchor
from tidings.notify.schedule.model import DueRule
from tidings.notify.schedule.store import TriggerSubject
from tidings.notify.triggers.model import HeardEvent, Hears, Trigger
from tidings.notify.triggers.resolvers import MOST_RECIPIENTS, Circle, RecipientValue, recipients_of
from tidings.notify.triggers.variables import VariablesTooLargeError, variables_of

#: Clocks differ; a time that was over by so little when the event came is not over.
_SKEW: Final = timedelta(minutes=5)
#: What the sources of tests begin with where subjects are followed; and live ones that would look like either.
_OF_TESTS: Final = "test:"
_LIVE: Final = "live:"


class Why(StrEnum):
    """Why a trigger that heard an event sent nothing, or ended what it had planned."""

    CONDITION_NOT_MET = "condition_not_met"
    NO_RECIPIENT = "no_recipient"
    #: More than one trigger writes to for one event.
    TOO_MANY_RECIPIENTS = "too_many_recipients"
    #: Its paths lead to more than a message may be given.
    VARIABLES_TOO_LARGE = "variables_too_large"
    NO_ANCHOR = "no_anchor"
    NO_SUBJECT = "no_subject"
    TOO_LATE = "too_late"
    TOO_FAR = "too_far"
    #: A later event about the same was heard before.
    OUT_OF_ORDER = "out_of_order"
    #: The thing was cancelled, and this event only moves it.
    CANCELLED_BEFORE = "cancelled_before"
    #: An event that moves things, and nothing is planned about this one.
    NOTHING_PLANNED = "nothing_planned"
    #: What the event says is no longer kept: a dead letter was replayed too late.
    EVENT_GONE = "event_gone"
    ALREADY_SENT = "already_sent"
    DUPLICATE = "duplicate"
    CANCELLED_BY = "cancelled_by"
    REPLANNED = "replanned"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDraft:
    """A message that an event is to make, for one person, before it is known who that is and when it is due."""

    event: HeardEvent
    trigger: Trigger
    hears: Hears
    #: What it is about, where a later event may move or clear it.
    subject: TriggerSubject | None
    recipient: RecipientValue | Circle = field(repr=False)
    variables: dict[str, Any] = field(repr=False)
    rule: DueRule
    #: The variables as JSON, written once for all whom an event is for; None where nothing is kept of it.
    words: msgspec.Raw | None = field(default=None, repr=False)
    #: Which of several messages it is that the event makes of one template; None: the one that is sent at once.
    time_slot: datetime | None = None

    @property
    def person(self) -> RecipientValue:
        """Whom it is for, once circles are looked up."""
        if isinstance(self.recipient, Circle):
            raise TypeError("a circle is looked up before it is written to")
        return self.recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What an event means to a trigger, whoever is meant: or why it means nothing."""

    recipients: Sequence[RecipientValue | Circle] = ()
    variables: dict[str, Any] = field(default_factory=dict)
    rule: DueRule | None = None
    why_not: Why | None = None


def subject_of(event: HeardEvent, trigger: Trigger) -> TriggerSubject | None:
    """What the event is about, for this trigger; tests and live events are about different things."""
    if not trigger.follows_subject:
        return None
    text = trigger.subject_of(event.scope)
    if text is None:
        return None
    return TriggerSubject(
        tenant_id=event.tenant_id, trigger_id=trigger.id, event_source=_followed(event), event_subject=text
    )


def _followed(event: HeardEvent) -> str:
    """The source under which its subjects are followed: no live source is written as one of tests is."""
    if event.is_test:
        return f"{_OF_TESTS}{event.source}"
    if event.source.startswith((_OF_TESTS, _LIVE)):
        return f"{_LIVE}{event.source}"
    return event.source


def meaning_of(event: HeardEvent, trigger: Trigger, hears: Hears) -> Meaning:
    """What is to be said to whom, reckoned from what moment.

    The condition is asked of events that fire. One that moves things may say nothing but the new time: who is written to,
    and with what words, is then as it was planned.
    """
    scope = event.scope
    if (
        hears is Hears.FIRE
        and trigger.condition_read is not None
        and not trigger.condition_read.matches(scope)
    ):
        return Meaning(why_not=Why.CONDITION_NOT_MET)
    anchor = trigger.anchor_path.first(scope)
    if read_anchor(anchor) is None:
        return Meaning(why_not=Why.NO_ANCHOR)
    recipients = recipients_of(trigger.recipients, scope)
    if not recipients and hears is Hears.FIRE:
        return Meaning(why_not=Why.NO_RECIPIENT)
    if len(recipients) > MOST_RECIPIENTS:
        return Meaning(why_not=Why.TOO_MANY_RECIPIENTS)
    rule = DueRule(anchor=str(anchor), anchor_offset=trigger.offset, local_time=trigger.local_time)
    try:
        variables = variables_of(trigger.variables, scope)
    except VariablesTooLargeError:
        return Meaning(why_not=Why.VARIABLES_TOO_LARGE)
    return Meaning(recipients=recipients, variables=variables, rule=rule)


def when_of(trigger: Trigger, event: HeardEvent, due: DueTime | None, now: datetime) -> datetime | Why:
    """When it is to be sent, now or later; or why it is not.

    What was due before the event came is sent at once as long as it comes before its anchor, and the anchor is ahead: a
    booking for tomorrow still gets its reminder. All else that is over is too late. That it was not over when the event
    came is enough: nothing is lost because Tidings was slow.
    """
    if not trigger.is_shifted:
        return now
    if due is None:
        return Why.NO_ANCHOR
    if due.at > now:
        return due.at if due.at - now <= LONGEST_PLAN else Why.TOO_FAR
    if due.at >= event.received_at - _SKEW:
        return now
    return now if is_late(trigger, due, now) else Why.TOO_LATE


def slot_of(trigger: Trigger, event: HeardEvent, due: DueTime | None) -> datetime | None:
    """What tells a message from others that the event makes of the same template: the time that it is for.

    None for what is sent at once. Reminders whose times are all over when the event comes are one message.
    """
    if not trigger.is_shifted or due is None or due.at < event.received_at - _SKEW:
        return None
    return due.at


def is_late(trigger: Trigger, due: DueTime, now: datetime) -> bool:
    """Whether its time is over, and what it is about is still ahead."""
    return due.at <= now < due.anchor_at and trigger.offset_read.before


def repeats(draft: MessageDraft, due: DueTime, when: datetime | Why, now: datetime) -> bool:
    """Whether it would say at once what was said before: its time is over, or the event only moves the thing."""
    if isinstance(when, Why) or when > now:
        return False
    return draft.hears is Hears.REPLAN or is_late(draft.trigger, due, now)
