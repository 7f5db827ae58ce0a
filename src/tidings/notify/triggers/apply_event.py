"""What one event does to one trigger's plans: it makes drafts, moves what is planned, or clears it. Pure."""

import msgspec

from tidings.notify.schedule.firings import FiringResult
from tidings.notify.triggers.before import Before
from tidings.notify.triggers.evaluate import Meaning, MessageDraft, Why, meaning_of
from tidings.notify.triggers.event_set import EventSet, Match
from tidings.notify.triggers.model import HeardEvent, Hears
from tidings.notify.triggers.store import SubjectState

_encode = msgspec.json.Encoder().encode


def apply_event(work: EventSet, match: Match, before: Before) -> None:
    """Note what one event means to one trigger."""
    event, trigger, hears, subject, silent = match
    if silent and not work.has_anything_about(subject):
        return
    cancelled = False
    if subject is None:
        if hears is not Hears.FIRE:
            work.note(event, trigger, None, FiringResult.SKIPPED, Why.NO_SUBJECT)
            return
    else:
        state = work.states[subject]
        why = not_heard(event, hears, state)
        if why is not None:
            work.note(event, trigger, subject, FiringResult.SKIPPED, why)
            return
        cancelled = hears is Hears.CANCEL
        # One that does not say when it happened moves no clock: its successor is not measured by when it came.
        work.states[subject] = SubjectState(
            event_id=event.id,
            event_time=event.ordered_at if event.timed else state.event_time,
            cancelled=cancelled,
        )
    if subject is not None and cancelled:
        count = work.clear(subject, Why.CANCELLED_BY, event, sent_too=True, all_drafts=True)
        waiting = bool(work.sent_about(subject))
        nothing = None if count or waiting else Why.NOTHING_PLANNED
        work.note(event, trigger, subject, FiringResult.CLEARED, nothing)
        return
    meaning = meaning_of(event, trigger, hears)
    if meaning.why_not is Why.CONDITION_NOT_MET and subject is not None:
        work.clear(subject, Why.CONDITION_NOT_MET, event, sent_too=False, all_drafts=False)
    if meaning.why_not is not None or meaning.rule is None:
        work.note(event, trigger, subject, FiringResult.SKIPPED, meaning.why_not)
        return
    drafts = _drafts(work, match, meaning, before)
    if not drafts:
        work.note(event, trigger, subject, FiringResult.SKIPPED, Why.NOTHING_PLANNED)
        return
    if subject is not None:
        work.clear(
            subject, Why.REPLANNED, event, sent_too=trigger.is_shifted and not silent, all_drafts=False
        )
    work.add(drafts)


def not_heard(event: HeardEvent, hears: Hears, state: SubjectState) -> Why | None:
    """Why an event changes nothing about its subject any more."""
    if event.ordered_at < state.event_time:
        return Why.OUT_OF_ORDER
    if hears is Hears.REPLAN and state.cancelled:
        return Why.CANCELLED_BEFORE
    return None


def _drafts(work: EventSet, match: Match, meaning: Meaning, before: Before) -> list[MessageDraft]:
    """The messages that an event makes; one that moves things takes what it does not say from what was planned or sent."""
    if meaning.rule is None:
        return []
    event, trigger, hears, subject, silent = match
    recipients, variables = list(meaning.recipients), dict(meaning.variables)
    if hears is Hears.REPLAN:
        if not trigger.is_shifted:
            return []
        there = (
            [
                before.planned[row.id]
                for row in work.planned.get(subject, ())
                if row.id in before.planned and not (silent and row.failed_at is not None)
            ]
            if subject
            else []
        )
        here = work.drafts_about(subject)
        if subject is not None and not here and not silent and subject not in work.untold:
            there += before.sent.get(subject, ())
        for old in (*(order.variables for order in there), *(one.variables for one in here)):
            variables = {**old, **variables}
        if silent:
            # It moves what is planned, and writes to nobody else.
            recipients = []
        recipients = recipients or [order.recipient for order in there] or [one.recipient for one in here]
    words = msgspec.Raw(_encode(variables))
    return [
        MessageDraft(
            event=event,
            trigger=trigger,
            hears=hears,
            subject=subject,
            recipient=recipient,
            variables=variables,
            rule=meaning.rule,
            words=words,
        )
        for recipient in recipients
    ]
