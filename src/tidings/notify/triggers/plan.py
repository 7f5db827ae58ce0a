"""The use case "an event was heard": messages are sent, planned, moved and cleared, in the transaction that consumes it.

A set of events spans tenants, and takes a bounded number of statements. What can't be ordered is kept as a failed entry
of the schedule, to be seen and tried again, and keeps nothing else back. Every trigger that heard an event leaves a line
in the ledger, with the reason where nothing came of it.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

import msgspec

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT, EventReceived
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantsTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import Event
from tidings.kernel.ids import EventId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import DuplicateOrder, Order, OrderedBy, RefusedOrder
from tidings.notify.facts import store as facts_store
from tidings.notify.facts.store import PersonRow
from tidings.notify.ids import FIRING, SCHEDULED_WORK, ScheduledWorkId, TriggerId
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.errors import TooLateToCancelError
from tidings.notify.received_events import store as received_store
from tidings.notify.received_events.errors import SetTooLargeError
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.schedule import store as schedule_store
from tidings.notify.schedule.firings import (
    MADE_KEPT,
    NOTHING_KEPT,
    Firing,
    FiringEnd,
    FiringResult,
    end_firings,
    end_sent,
    insert_firings,
)
from tidings.notify.schedule.model import (
    PLANNED_PURPOSE,
    PlannedOrder,
    PlannedRow,
    StandingPlan,
    WorkStatus,
    spec_of_recipient,
)
from tidings.notify.schedule.release import error_code
from tidings.notify.schedule.store import Ended, TriggerSubject
from tidings.notify.tenants.model import zone_exists
from tidings.notify.triggers import store
from tidings.notify.triggers.before import Before, lines_by_subject, load_before
from tidings.notify.triggers.evaluate import (
    Meaning,
    MessageDraft,
    Why,
    is_late,
    meaning_of,
    slot_of,
    subject_of,
    when_of,
)
from tidings.notify.triggers.model import SUBJECTS_KEPT, HeardEvent, Hears, Trigger
from tidings.notify.triggers.registry import TriggerRegistry
from tidings.notify.triggers.resolvers import Circle
from tidings.notify.triggers.store import SubjectLine, SubjectState

_log = get_logger("triggers")
GROUP: Final = "notify.triggers"
#: Tidings' own events that triggers may name; those of notifications would answer themselves.
OWN_SUBJECTS: Final = (
    "suppression.added.v1",
    "suppression.released.v1",
    "preferences.updated.v1",
    "optout.recorded.v1",
    "conversation.opened.v1",
    "conversation.message_received.v1",
    "conversation.closed.v1",
    "channel.degraded.v1",
    "channel.restored.v1",
    "template.published.v1",
)
SUBJECTS: Final = (EVENT_RECEIVED_SUBJECT, *OWN_SUBJECTS)
#: Bytes of words that are sealed before they are written.
_MOST_WORDS: Final = 16 * 1024 * 1024

_encode = msgspec.json.Encoder().encode


async def pass_over(_tx: PlatformTx, _events: Sequence[Event]) -> None:
    """Events without a tenant fire nothing: there is nobody for whom they would send."""


class _Match(NamedTuple):
    """A trigger that hears an event."""

    event: HeardEvent
    trigger: Trigger
    hears: Hears
    #: What the event is about, where that matters to the trigger.
    subject: TriggerSubject | None
    #: The trigger is off or deleted: it only clears and moves what it has planned.
    silent: bool = False


@dataclass(slots=True, kw_only=True)
class _Set:
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


#: It is kept for 30 days, to be planned when the thing is moved again.
_MAY_BE_MOVED: Final = frozenset({Why.TOO_LATE, Why.TOO_FAR})
_MADE: Final = frozenset({FiringResult.SENT, FiringResult.PLANNED, FiringResult.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TriggerPlanner:
    """Hears events and makes what triggers say of them."""

    registry: TriggerRegistry
    acceptor: Acceptor
    upserter: RecipientUpserter
    canceller: Canceller
    keyring: Keyring
    clock: Clock
    #: So many messages one event makes at most, and one transaction.
    most_of_set: int = 5_000

    async def handle(self, tx: TenantsTx, events: Sequence[Event]) -> None:
        """Apply a set of events, of several tenants, all in `tx`."""
        triggers = await self.registry.of_all({e.tenant_id for e in events if e.tenant_id is not None})
        wanted = [
            event
            for event in events
            if event.tenant_id is not None and triggers[event.tenant_id].is_heard(_type_of(event))
        ]
        if not wanted:
            return
        heard, gone = await self._heard(tx, wanted)
        matches = [
            _Match(event, trigger, hears, subject_of(event, trigger))
            for event in heard
            for trigger, hears in triggers[event.tenant_id].hearing(event.type)
        ]
        matches += [
            _Match(event, trigger, hears, subject, silent=True)
            for event in heard
            for trigger, hears in triggers[event.tenant_id].silenced(event.type)
            if (subject := subject_of(event, trigger)) is not None
        ]
        missed = [(event, t) for event in gone for t, _ in triggers[event.tenant_id].hearing(event.type)]
        await self._apply(tx, matches, missed)

    async def _heard(
        self, tx: TenantsTx, events: Sequence[Event]
    ) -> tuple[list[HeardEvent], list[HeardEvent]]:
        """The events with what they say; and those that are no longer kept, because a dead letter was replayed too late."""
        received = {
            EventId(event.payload_as(EventReceived).event_id): event
            for event in events
            if event.subject == EVENT_RECEIVED_SUBJECT
        }
        asked = [(event.tenant_id, id_) for id_, event in received.items() if event.tenant_id is not None]
        loaded = await received_store.load(tx, self.keyring, asked) if asked else []
        gone = [
            _gone(received[id_]) for id_ in sorted({id_ for _, id_ in asked} - {one.id for one in loaded})
        ]
        if gone:
            _log.error("events_gone", count=len(gone), event_ids=[one.id for one in gone[:10]])
        found = {
            received[one.id].id: HeardEvent(
                tenant_id=one.tenant_id,
                id=one.id,
                type=one.type,
                source=one.source,
                time=one.happened_at,
                received_at=one.received_at,
                timed=one.is_timed,
                is_test=one.is_test,
                scope=one.scope(),
            )
            for one in loaded
        }
        for event in events:
            if event.subject != EVENT_RECEIVED_SUBJECT:
                found[event.id] = heard_of_own(event)
        return [found[event.id] for event in events if event.id in found], gone

    async def _apply(
        self, tx: TenantsTx, matches: Sequence[_Match], missed: Sequence[tuple[HeardEvent, Trigger]]
    ) -> None:
        now = self.clock.now()
        loud = {match.subject for match in matches if match.subject is not None and not match.silent}
        silent = {match.subject for match in matches if match.subject is not None and match.silent}
        expires_at = now + SUBJECTS_KEPT
        states = await store.hold_subjects(
            tx,
            sorted(loud, key=msgspec.structs.astuple),
            if_known=sorted(silent, key=msgspec.structs.astuple),
            expires_at=expires_at,
        )
        # What a trigger has never heard of while it was on, it has planned nothing about.
        matches = [match for match in matches if not match.silent or match.subject in states]
        subjects = sorted(states, key=msgspec.structs.astuple)
        work = _Set(now=now, states=dict(states), planned={}, lines={})
        for row in await schedule_store.lock_planned_of_subjects(tx, subjects):
            work.planned.setdefault(_subject_of_row(row), []).append(row)
        work.lines = await lines_by_subject(tx, subjects)
        moved = {m.subject for m in matches if m.hears is Hears.REPLAN and m.subject is not None}
        before = await load_before(tx, self.keyring, work.planned, work.lines, moved)
        for match in matches:
            _hear(work, match, before)
        for event, trigger in missed:
            work.note(event, trigger, None, FiringResult.FAILED, Why.EVENT_GONE)
        await self._take_back(tx, work)
        # What is moved is out of the way before what takes its place is written.
        await schedule_store.end_planned(tx, work.ended, now=now)
        await end_firings(tx, work.ends)
        await self._make(tx, work)
        await insert_firings(tx, work.firings)
        changed = [(subject, state) for subject, state in work.states.items() if state != states[subject]]
        await store.put_subjects(tx, changed, expires_at=expires_at)

    async def _take_back(self, tx: TenantsTx, work: _Set) -> None:
        """Cancel messages that were accepted and still wait; one that a dispatcher has by now is sent."""
        if not work.taken_back:
            return
        asked = [(subject.tenant_id, id_) for id_, (subject, _, _) in work.taken_back.items()]
        waiting = await store.waiting_among(tx, asked)
        back: list[FiringEnd] = []
        for notification_id in sorted(waiting):
            subject, why, event_id = work.taken_back[notification_id]
            tenant_id = subject.tenant_id
            try:
                await self.canceller.cancel(
                    tx.of(tenant_id), notification_id, actor=f"trigger:{subject.trigger_id}"
                )
            except TooLateToCancelError:
                continue
            back.append(
                FiringEnd(
                    tenant_id=tenant_id,
                    event_id="",
                    scheduled_id=ScheduledWorkId(""),
                    notification_id=notification_id,
                    result=FiringResult.OBSOLETE,
                    reason=why,
                    ended_by=event_id,
                )
            )
        if back:
            # Also where another trigger would have said the same.
            gone = {one.notification_id for one in back}
            for about, lines in work.lines.items():
                work.lines[about] = [line for line in lines if line.notification_id not in gone]
        await end_sent(tx, back)

    async def _make(self, tx: TenantsTx, work: _Set) -> None:
        """Send and plan the drafts, so many at a time that their words have room."""
        drafts = self._as_many_as_may_be(work, await self._for_each_admin(tx, work))
        for part in _parts(drafts):
            await self._make_part(tx, work, part)
            await schedule_store.insert_planned(tx, work.rows, now=work.now)
            work.rows.clear()

    def _as_many_as_may_be(self, work: _Set, drafts: Sequence[MessageDraft]) -> list[MessageDraft]:
        """Those that one event may make, whatever the number of triggers; a `SetTooLargeError` where several make too many."""
        if len(drafts) > self.most_of_set and len({draft.event.id for draft in drafts}) > 1:
            raise SetTooLargeError
        counts: dict[tuple[str, TriggerId], int] = {}
        for draft in drafts:
            counts[draft.event.id, draft.trigger.id] = counts.get((draft.event.id, draft.trigger.id), 0) + 1
        left: dict[str, int] = {}
        for (event_id, trigger_id), count in list(counts.items()):
            rest = left.setdefault(event_id, self.most_of_set)
            if count <= rest:
                left[event_id] = rest - count
            else:
                counts[event_id, trigger_id] = 0
        kept: list[MessageDraft] = []
        told: set[tuple[str, TriggerId]] = set()
        for draft in drafts:
            key = draft.event.id, draft.trigger.id
            if counts[key]:
                kept.append(draft)
            elif key not in told:
                told.add(key)
                work.note(
                    draft.event, draft.trigger, draft.subject, FiringResult.SKIPPED, Why.TOO_MANY_RECIPIENTS
                )
        return kept

    async def _make_part(self, tx: TenantsTx, work: _Set, drafts: Sequence[MessageDraft]) -> None:
        specs: list[tuple[MessageDraft, RecipientSpec]] = []
        failed: list[tuple[MessageDraft, Exception]] = []
        for draft in drafts:
            try:
                specs.append((draft, spec_of_recipient(draft.person)))
            except (RefusalError, BadValueError, msgspec.ValidationError) as error:
                failed.append((draft, error))
        ready: list[tuple[MessageDraft, Order]] = []
        later = [(draft, spec) for draft, spec in specs if draft.trigger.is_shifted]
        for is_test in (False, True):
            some = [(draft, spec) for draft, spec in later if draft.event.is_test is is_test]
            ready += await self._plan(tx, work, some, failed, is_test=is_test)
        ready += [(draft, order_of(draft, spec)) for draft, spec in specs if not draft.trigger.is_shifted]
        for is_test in (False, True):
            orders = [(draft, order) for draft, order in ready if order.by.is_test is is_test]
            if not orders:
                continue
            outcomes = await self.acceptor.accept_within(tx, [order for _, order in orders])
            for (draft, _), outcome in zip(orders, outcomes, strict=True):
                if isinstance(outcome, RefusedOrder):
                    failed.append((draft, outcome.error))
                    continue
                duplicate = isinstance(outcome, DuplicateOrder)
                work.note(
                    draft.event,
                    draft.trigger,
                    draft.subject,
                    FiringResult.SKIPPED if duplicate else FiringResult.SENT,
                    Why.DUPLICATE if duplicate else None,
                    recipient_id=outcome.recipient_id,
                    notification_id=outcome.id,
                    send_at=work.now,
                )
        await self._keep_failed(tx, work, failed)

    async def _for_each_admin(self, tx: TenantsTx, work: _Set) -> list[MessageDraft]:
        """The drafts, with the admins of a tenant in the place of the word for them."""
        asked = sorted(
            {d.event.tenant_id for d in work.drafts.values() if d.recipient is Circle.TENANT_ADMINS}
        )
        admins = await store.admins_of(tx, asked) if asked else {}
        drafts: list[MessageDraft] = []
        for draft in work.drafts.values():
            if draft.recipient is not Circle.TENANT_ADMINS:
                drafts.append(draft)
                continue
            people = admins[draft.event.tenant_id]
            if not people:
                work.note(draft.event, draft.trigger, draft.subject, FiringResult.SKIPPED, Why.NO_RECIPIENT)
            drafts += [_with_recipient(draft, one) for one in people]
        return drafts

    async def _plan(
        self,
        tx: TenantsTx,
        work: _Set,
        drafts: Sequence[tuple[MessageDraft, RecipientSpec]],
        failed: list[tuple[MessageDraft, Exception]],
        *,
        is_test: bool,
    ) -> list[tuple[MessageDraft, Order]]:
        """Plan what is due later, by the time zones of the people, who are made known; what is due now comes back."""
        if not drafts:
            return []
        people = await self.upserter.upsert_of(
            tx, [(d.event.tenant_id, spec) for d, spec in drafts], change_known=not is_test
        )
        known: list[tuple[MessageDraft, RecipientId]] = []
        for (draft, _), person in zip(drafts, people.results, strict=True):
            if isinstance(person, RefusalError):
                failed.append((draft, person))
            else:
                known.append((draft, person.recipient.id))
        rows = await facts_store.load_people(tx, [(d.event.tenant_id, who) for d, who in known])
        now_due: list[tuple[datetime, MessageDraft, RecipientId]] = []
        for undated, recipient_id in known:
            event, trigger = undated.event, undated.trigger
            if (event.id, trigger.id, recipient_id) in work.seen:
                continue
            work.seen.add((event.id, trigger.id, recipient_id))
            zone = _zone_of(rows[event.tenant_id, recipient_id])
            due = undated.rule.due(zone)
            when = when_of(trigger, event, due, work.now)
            draft = replace(undated, time_slot=slot_of(trigger, event, due))
            if (
                due is not None
                and _was_sent(work, draft, recipient_id)
                and repeats(draft, due, when, work.now)
            ):
                when = Why.ALREADY_SENT
            if isinstance(when, Why):
                if when in _MAY_BE_MOVED and trigger.replanned_by and draft.subject is not None:
                    key = people.keys[recipient_id]
                    row = _row(draft, recipient_id, key, work.now, run_after=work.now, zone=None)
                    work.rows.append(msgspec.structs.replace(row, obsolete_reason=when))
                work.note(
                    event, trigger, draft.subject, FiringResult.SKIPPED, when, recipient_id=recipient_id
                )
            elif when > work.now:
                row = _row(
                    draft, recipient_id, people.keys[recipient_id], work.now, run_after=when, zone=zone
                )
                work.rows.append(row)
                work.note(
                    event,
                    trigger,
                    draft.subject,
                    FiringResult.PLANNED,
                    recipient_id=recipient_id,
                    scheduled_id=row.id,
                    send_at=when,
                )
            else:
                now_due.append((due.at if due is not None else when, draft, recipient_id))
        # Of several reminders that come to be sent at once it is the one that was due last: "tomorrow", not "next week".
        now_due.sort(key=lambda one: one[0], reverse=True)
        return [(draft, order_of(draft, RecipientSpec(id=who))) for _, draft, who in now_due]

    async def _keep_failed(
        self, tx: TenantsTx, work: _Set, failed: Sequence[tuple[MessageDraft, Exception]]
    ) -> None:
        """What can't be ordered is a failed entry of the schedule: under the person's key where they can be known."""
        if not failed:
            return
        people = await self._people(tx, [draft for draft, _ in failed])
        for place, (draft, error) in enumerate(failed):
            recipient_id, key = people.get(place, (None, None))
            row = _row(draft, recipient_id, key, work.now, run_after=work.now, zone=None)
            if key is None:
                [key] = (await self.keyring.data_keys_of(tx, [row.key_subject])).values()
                row = msgspec.structs.replace(row, payload=_sealed(draft, draft.person, key))
            code = error_code(error)
            work.rows.append(msgspec.structs.replace(row, failed_at=work.now, last_error=code))
            work.note(
                draft.event,
                draft.trigger,
                draft.subject,
                FiringResult.FAILED,
                code,
                recipient_id=recipient_id,
                scheduled_id=row.id,
            )

    async def _people(
        self, tx: TenantsTx, drafts: Sequence[MessageDraft]
    ) -> dict[int, tuple[RecipientId, DataKey]]:
        """Who is meant, by place, with their keys; those who can't be told are left out."""
        specs: dict[int, RecipientSpec] = {}
        for place, draft in enumerate(drafts):
            with contextlib.suppress(RefusalError, BadValueError, msgspec.ValidationError):
                specs[place] = spec_of_recipient(draft.person)
        found: dict[int, tuple[RecipientId, DataKey]] = {}
        for is_test in (False, True):
            places = [place for place in specs if drafts[place].event.is_test is is_test]
            people = await self.upserter.upsert_of(
                tx,
                [(drafts[place].event.tenant_id, specs[place]) for place in places],
                change_known=not is_test,
            )
            for place, person in zip(places, people.results, strict=True):
                if not isinstance(person, RefusalError):
                    found[place] = (person.recipient.id, people.keys[person.recipient.id])
        return found


def _hear(work: _Set, match: _Match, before: Before) -> None:
    """What one event means to one trigger."""
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


def heard_of_own(event: Event) -> HeardEvent:
    """One of Tidings' own events, as triggers see it; what orders it is what it is about."""
    if event.tenant_id is None:
        raise ValueError("an event without a tenant has no triggers")
    payload = event.payload()
    scope = {
        "specversion": "1.0",
        "id": event.id,
        "source": event.source,
        "type": event.subject,
        "subject": event.ordering_key,
        "time": event.time.isoformat().replace("+00:00", "Z"),
        "data": payload,
    }
    return HeardEvent(
        tenant_id=event.tenant_id,
        id=event.id,
        type=event.subject,
        source=event.source,
        time=event.time,
        received_at=event.time,
        is_test=bool(payload.get("is_test")) if isinstance(payload, dict) else False,
        scope=scope,
    )


def _gone(event: Event) -> HeardEvent:
    """One whose words are gone, as far as its announcement tells of it."""
    told: EventReceived = event.payload_as(EventReceived)
    if event.tenant_id is None:
        raise ValueError("an event without a tenant has no triggers")
    return HeardEvent(
        tenant_id=event.tenant_id,
        id=told.event_id,
        type=told.type,
        source=told.source,
        time=told.time,
        received_at=event.time,
        is_test=told.is_test,
        scope={},
    )


def _parts(drafts: Sequence[MessageDraft]) -> Iterator[list[MessageDraft]]:
    """In their order; each is sealed for itself, so that the words of a thousand people take a thousand times the room."""
    part: list[MessageDraft] = []
    size = 0
    for draft in drafts:
        size += len(memoryview(draft.words)) if draft.words is not None else 0
        part.append(draft)
        if size > _MOST_WORDS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _type_of(event: Event) -> str:
    if event.subject != EVENT_RECEIVED_SUBJECT:
        return event.subject
    received: EventReceived = event.payload_as(EventReceived)
    return received.type


def _subject_of_row(row: StandingPlan) -> TriggerSubject:
    return TriggerSubject(
        tenant_id=row.tenant_id,
        trigger_id=row.trigger_id,
        event_source=row.event_source,
        event_subject=row.event_subject,
    )


def not_heard(event: HeardEvent, hears: Hears, state: SubjectState) -> Why | None:
    """Why an event changes nothing about its subject any more."""
    if event.ordered_at < state.event_time:
        return Why.OUT_OF_ORDER
    if hears is Hears.REPLAN and state.cancelled:
        return Why.CANCELLED_BEFORE
    return None


def _drafts(work: _Set, match: _Match, meaning: Meaning, before: Before) -> list[MessageDraft]:
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


def _with_recipient(draft: MessageDraft, recipient_id: RecipientId) -> MessageDraft:
    return replace(draft, recipient=recipient_id)


def _was_sent(work: _Set, draft: MessageDraft, recipient_id: RecipientId) -> bool:
    """Whether this person was written to about this before."""
    if draft.subject is None:
        return False
    return any(one.recipient_id == recipient_id and one.is_sent for one in work.lines.get(draft.subject, ()))


def repeats(draft: MessageDraft, due: Any, when: datetime | Why, now: datetime) -> bool:
    """Whether it would say at once what was said before: its time is over, or the event only moves the thing."""
    if isinstance(when, Why) or when > now:
        return False
    return draft.hears is Hears.REPLAN or is_late(draft.trigger, due, now)


def _zone_of(person: PersonRow) -> str:
    return person.timezone if zone_exists(person.timezone) else "UTC"


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


def _sealed(draft: MessageDraft, recipient: str | dict[str, Any], key: DataKey) -> bytes:
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


def _row(
    draft: MessageDraft,
    recipient_id: RecipientId | None,
    key: DataKey | None,
    now: datetime,
    *,
    run_after: datetime,
    zone: str | None,
) -> PlannedRow:
    event, trigger, subject = draft.event, draft.trigger, draft.subject
    return PlannedRow(
        tenant_id=event.tenant_id,
        id=SCHEDULED_WORK.new(now),
        run_after=run_after,
        recipient_id=recipient_id,
        payload=b"" if key is None or recipient_id is None else _sealed(draft, recipient_id, key),
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
