"""The use case "an event was heard": messages are sent, planned, moved and cleared, in the transaction that consumes it.

A set of events spans tenants, and takes a bounded number of statements. What can't be ordered is kept as a failed entry
of the schedule, to be seen and tried again, and keeps nothing else back. Every trigger that heard an event leaves a line
in the ledger, with the reason where nothing came of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx
from tidings.kernel.events import Event
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.errors import TooLateToCancelError
from tidings.notify.schedule import store as schedule_store
from tidings.notify.schedule.firings import FiringEnd, FiringResult, end_firings, end_sent, insert_firings
from tidings.notify.schedule.model import StandingPlan
from tidings.notify.schedule.store import TriggerSubject
from tidings.notify.triggers import store
from tidings.notify.triggers.apply_event import apply_event
from tidings.notify.triggers.before import lines_by_subject, load_before
from tidings.notify.triggers.evaluate import Why, subject_of
from tidings.notify.triggers.event_set import EventSet, Match
from tidings.notify.triggers.heard_events import load_heard, type_of
from tidings.notify.triggers.make_messages import MessageMaker
from tidings.notify.triggers.model import SUBJECTS_KEPT, HeardEvent, Hears, Trigger
from tidings.notify.triggers.registry import TriggerRegistry


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TriggerPlanner:
    """Hears events and makes what triggers say of them."""

    registry: TriggerRegistry
    maker: MessageMaker
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
            if event.tenant_id is not None and triggers[event.tenant_id].is_heard(type_of(event))
        ]
        if not wanted:
            return
        heard, gone = await load_heard(tx, self.keyring, wanted)
        matches = [
            Match(event, trigger, hears, subject_of(event, trigger))
            for event in heard
            for trigger, hears in triggers[event.tenant_id].hearing(event.type)
        ]
        matches += [
            Match(event, trigger, hears, subject, silent=True)
            for event in heard
            for trigger, hears in triggers[event.tenant_id].silenced(event.type)
            if (subject := subject_of(event, trigger)) is not None
        ]
        missed = [(event, t) for event in gone for t, _ in triggers[event.tenant_id].hearing(event.type)]
        await self._apply(tx, matches, missed)

    async def _apply(
        self, tx: TenantsTx, matches: Sequence[Match], missed: Sequence[tuple[HeardEvent, Trigger]]
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
        work = EventSet(now=now, states=dict(states), planned={}, lines={})
        for row in await schedule_store.lock_planned_of_subjects(tx, subjects):
            work.planned.setdefault(_subject_of_row(row), []).append(row)
        work.lines = await lines_by_subject(tx, subjects)
        moved = {m.subject for m in matches if m.hears is Hears.REPLAN and m.subject is not None}
        before = await load_before(tx, self.keyring, work.planned, work.lines, moved)
        for match in matches:
            apply_event(work, match, before)
        for event, trigger in missed:
            work.note(event, trigger, None, FiringResult.FAILED, Why.EVENT_GONE)
        await self._take_back(tx, work)
        # What is moved is out of the way before what takes its place is written.
        await schedule_store.end_planned(tx, work.ended, now=now)
        await end_firings(tx, work.ends)
        await self.maker.make(tx, work, most_of_set=self.most_of_set)
        await insert_firings(tx, work.firings)
        changed = [(subject, state) for subject, state in work.states.items() if state != states[subject]]
        await store.put_subjects(tx, changed, expires_at=expires_at)

    async def _take_back(self, tx: TenantsTx, work: EventSet) -> None:
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


def _subject_of_row(row: StandingPlan) -> TriggerSubject:
    return TriggerSubject(
        tenant_id=row.tenant_id,
        trigger_id=row.trigger_id,
        event_source=row.event_source,
        event_subject=row.event_subject,
    )
