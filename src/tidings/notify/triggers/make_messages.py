"""Sends and plans the drafts of a set of events, in their transaction; what can't be ordered is kept as failed."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantsTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import DuplicateOrder, Order, RefusedOrder
from tidings.notify.facts import store as facts_store
from tidings.notify.facts.store import PersonRow
from tidings.notify.ids import TriggerId
from tidings.notify.received_events.errors import SetTooLargeError
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.schedule import store as schedule_store
from tidings.notify.schedule.firings import FiringResult
from tidings.notify.schedule.model import spec_of_recipient
from tidings.notify.schedule.release import error_code
from tidings.notify.tenants.model import zone_exists
from tidings.notify.triggers import store
from tidings.notify.triggers.evaluate import MessageDraft, Why, repeats, slot_of, when_of
from tidings.notify.triggers.event_set import EventSet
from tidings.notify.triggers.planned_rows import order_of, planned_row, sealed_order
from tidings.notify.triggers.resolvers import Circle

#: Bytes of words that are sealed before they are written.
_MOST_WORDS: Final = 16 * 1024 * 1024
#: It is kept for 30 days, to be planned when the thing is moved again.
_MAY_BE_MOVED: Final = frozenset({Why.TOO_LATE, Why.TOO_FAR})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MessageMaker:
    """Makes the messages of drafts: those due now are accepted, the others are written into the schedule."""

    acceptor: Acceptor
    upserter: RecipientUpserter
    keyring: Keyring

    async def make(self, tx: TenantsTx, work: EventSet, *, most_of_set: int) -> None:
        """Send and plan the drafts, so many at a time that their words have room."""
        drafts = _as_many_as_may_be(work, await _for_each_admin(tx, work), most_of_set)
        for part in _parts(drafts):
            await self._make_part(tx, work, part)
            await schedule_store.insert_planned(tx, work.rows, now=work.now)
            work.rows.clear()

    async def _make_part(self, tx: TenantsTx, work: EventSet, drafts: Sequence[MessageDraft]) -> None:
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

    async def _plan(
        self,
        tx: TenantsTx,
        work: EventSet,
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
                    row = planned_row(draft, recipient_id, key, work.now, run_after=work.now, zone=None)
                    work.rows.append(msgspec.structs.replace(row, obsolete_reason=when))
                work.note(
                    event, trigger, draft.subject, FiringResult.SKIPPED, when, recipient_id=recipient_id
                )
            elif when > work.now:
                row = planned_row(
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
        self, tx: TenantsTx, work: EventSet, failed: Sequence[tuple[MessageDraft, Exception]]
    ) -> None:
        """What can't be ordered is a failed entry of the schedule: under the person's key where they can be known."""
        if not failed:
            return
        people = await self._people(tx, [draft for draft, _ in failed])
        for place, (draft, error) in enumerate(failed):
            recipient_id, key = people.get(place, (None, None))
            row = planned_row(draft, recipient_id, key, work.now, run_after=work.now, zone=None)
            if key is None:
                [key] = (await self.keyring.data_keys_of(tx, [row.key_subject])).values()
                row = msgspec.structs.replace(row, payload=sealed_order(draft, draft.person, key))
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


def _as_many_as_may_be(
    work: EventSet, drafts: Sequence[MessageDraft], most_of_set: int
) -> list[MessageDraft]:
    """Those that one event may make, whatever the number of triggers; a `SetTooLargeError` where several make too many."""
    if len(drafts) > most_of_set and len({draft.event.id for draft in drafts}) > 1:
        raise SetTooLargeError
    counts: dict[tuple[str, TriggerId], int] = {}
    for draft in drafts:
        counts[draft.event.id, draft.trigger.id] = counts.get((draft.event.id, draft.trigger.id), 0) + 1
    left: dict[str, int] = {}
    for (event_id, trigger_id), count in list(counts.items()):
        rest = left.setdefault(event_id, most_of_set)
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


async def _for_each_admin(tx: TenantsTx, work: EventSet) -> list[MessageDraft]:
    """The drafts, with the admins of a tenant in the place of the word for them."""
    asked = sorted({d.event.tenant_id for d in work.drafts.values() if d.recipient is Circle.TENANT_ADMINS})
    admins = await store.admins_of(tx, asked) if asked else {}
    drafts: list[MessageDraft] = []
    for draft in work.drafts.values():
        if draft.recipient is not Circle.TENANT_ADMINS:
            drafts.append(draft)
            continue
        people = admins[draft.event.tenant_id]
        if not people:
            work.note(draft.event, draft.trigger, draft.subject, FiringResult.SKIPPED, Why.NO_RECIPIENT)
        drafts += [replace(draft, recipient=one) for one in people]
    return drafts


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


def _was_sent(work: EventSet, draft: MessageDraft, recipient_id: RecipientId) -> bool:
    """Whether this person was written to about this before."""
    if draft.subject is None:
        return False
    return any(one.recipient_id == recipient_id and one.is_sent for one in work.lines.get(draft.subject, ()))


def _zone_of(person: PersonRow) -> str:
    return person.timezone if zone_exists(person.timezone) else "UTC"
