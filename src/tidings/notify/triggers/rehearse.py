"""The question "which messages would this event make, to whom, when, and why not?"; nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UnsetType

from tidings.contracts.addresses import redact
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.ids import EVENT
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.validator import OrderValidator
from tidings.notify.facts import store as facts_store
from tidings.notify.notifications.hypothetical_recipient import find_known
from tidings.notify.received_events.model import CloudEvent, ReceivedEvent
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.schedule import store as schedule_store
from tidings.notify.schedule.model import spec_of_recipient
from tidings.notify.tenants.model import zone_exists
from tidings.notify.triggers import store
from tidings.notify.triggers.apply_event import not_heard
from tidings.notify.triggers.before import lines_by_subject, people_told
from tidings.notify.triggers.evaluate import (
    Meaning,
    MessageDraft,
    Why,
    is_late,
    meaning_of,
    repeats,
    subject_of,
    when_of,
)
from tidings.notify.triggers.model import HeardEvent, Hears, Trigger
from tidings.notify.triggers.planned_rows import order_of
from tidings.notify.triggers.registry import TriggerRegistry
from tidings.notify.triggers.resolvers import Circle, RecipientValue
from tidings.notify.triggers.store import SubjectLine
from tidings.notify.triggers.wire import (
    HintedAddress,
    RehearsedClearing,
    RehearsedMessage,
    RehearsedNothing,
    RehearsedRecipient,
    TriggerRehearsal,
)

_WORDS: Final[dict[str, str]] = {
    Why.CONDITION_NOT_MET: "its condition does not hold for this event",
    Why.NO_RECIPIENT: "nobody is found in the event by its recipient",
    Why.TOO_MANY_RECIPIENTS: "it finds more people than one event may write to; send a batch",
    Why.VARIABLES_TOO_LARGE: "its variables lead to more than a message may be given, 64 KB as JSON",
    Why.NO_ANCHOR: "its anchor leads to no moment or day in the event",
    Why.NO_SUBJECT: "the event does not say what it is about",
    Why.TOO_LATE: "its time is over",
    Why.TOO_FAR: "its time is more than two years ahead",
    Why.NOTHING_PLANNED: "the event moves things, and nothing is planned about this one",
    Why.OUT_OF_ORDER: "a later event about the same was heard before",
    Why.CANCELLED_BEFORE: "the thing was cancelled, and this event only moves it",
    Why.ALREADY_SENT: "this person was written to about it before",
    Why.DUPLICATE: "another trigger sends the same template to this person at the same time",
    "disabled": "it is switched off",
}
#: Template, channel, person and time.
_What: TypeAlias = tuple[str, str, str, datetime]


@dataclass(slots=True, kw_only=True)
class _Told:
    """The answer, while it is found out."""

    planned: list[RehearsedMessage] = field(default_factory=list)
    not_planned: list[RehearsedNothing] = field(default_factory=list)
    clears: list[RehearsedClearing] = field(default_factory=list)
    said: set[_What] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TriggerRehearser:
    """Rehearses events."""

    registry: TriggerRegistry
    validator: OrderValidator
    keyring: Keyring
    clock: Clock

    async def rehearse(self, tx: TenantTx, given: CloudEvent, *, is_test: bool) -> TriggerRehearsal:
        """What the event would lead to if it came now."""
        event = self._heard(tx, given, is_test=is_test)
        triggers = (await self.registry.of_all([tx.tenant_id]))[tx.tenant_id]
        told = _Told()
        for trigger, hears in triggers.hearing(event.type):
            await self._one(tx, event, trigger, hears, told)
        for trigger, hears in triggers.silenced(event.type):
            await self._one(tx, event, trigger, hears, told, silent=True)
        for trigger in triggers.switched_off(event.type):
            told.not_planned.append(_nothing(trigger, "disabled"))
        return TriggerRehearsal(planned=told.planned, not_planned=told.not_planned, clears=told.clears)

    def _heard(self, tx: TenantTx, given: CloudEvent, *, is_test: bool) -> HeardEvent:
        now = self.clock.now()
        received = ReceivedEvent(
            tenant_id=tx.tenant_id,
            id=EVENT.new(now),
            source=given.source,
            source_event_id=given.id,
            type=given.type,
            subject=given.subject,
            happened_at=given.time or now,
            is_test=is_test,
            content=given.content,
        )
        return HeardEvent(
            tenant_id=tx.tenant_id,
            id=received.id,
            type=received.type,
            source=received.source,
            time=received.happened_at,
            received_at=now,
            is_test=is_test,
            scope=received.scope(),
        )

    async def _one(
        self,
        tx: TenantTx,
        event: HeardEvent,
        trigger: Trigger,
        hears: Hears,
        told: _Told,
        *,
        silent: bool = False,
    ) -> None:
        subject = subject_of(event, trigger)
        if hears is not Hears.FIRE and subject is None and not silent:
            told.not_planned.append(_nothing(trigger, Why.NO_SUBJECT))
            return
        rows = await schedule_store.planned_of_subject(tx, subject) if subject is not None else []
        if silent and not rows:
            return
        state = await store.find_subject(tx, subject) if subject is not None else None
        if state is not None and (unheard := not_heard(event, hears, state)) is not None:
            told.not_planned.append(_nothing(trigger, unheard))
            return
        lines = (await lines_by_subject(tx, [subject])).get(subject, []) if subject is not None else []
        meaning = meaning_of(event, trigger, hears) if hears is not Hears.CANCEL else Meaning()
        if hears is Hears.CANCEL:
            told.clears.extend(
                _clearing(trigger, one, f"{event.type} clears what is planned") for one in rows
            )
            return
        if meaning.why_not is not None or meaning.rule is None:
            told.not_planned.append(_nothing(trigger, meaning.why_not or Why.NO_ANCHOR))
            return
        people: Sequence[RecipientValue | Circle] = meaning.recipients
        if hears is Hears.REPLAN:
            if silent:
                people, rows = (), [row for row in rows if row.failed_at is None]
            people = people or [row.recipient_id for row in rows if row.recipient_id is not None]
            if not meaning.recipients and not silent:
                people = [*people, *people_told(lines, rows)]
            if not people or not trigger.is_shifted:
                told.not_planned.append(_nothing(trigger, Why.NOTHING_PLANNED))
                return
        told.clears.extend(_clearing(trigger, one, "it is planned anew") for one in rows)
        if Circle.TENANT_ADMINS in people:
            admins = (await store.admins_of(tx, [tx.tenant_id]))[tx.tenant_id]
            people = [*(one for one in people if one is not Circle.TENANT_ADMINS), *admins]
            if not people:
                told.not_planned.append(_nothing(trigger, Why.NO_RECIPIENT))
        for recipient in people:
            draft = MessageDraft(
                event=event,
                trigger=trigger,
                hears=hears,
                subject=subject,
                recipient=recipient,
                variables=meaning.variables,
                rule=meaning.rule,
            )
            await self._draft(tx, draft, lines, told)

    async def _draft(
        self,
        tx: TenantTx,
        draft: MessageDraft,
        lines: Sequence[SubjectLine],
        told: _Told,
    ) -> None:
        trigger, event, now = draft.trigger, draft.event, draft.event.received_at
        try:
            spec = spec_of_recipient(draft.person)
            person = await self._person(tx, spec)
            # What moves a thing may leave out words that are planned already: those can't be checked here.
            if draft.hears is Hears.FIRE:
                await self.validator.validate(order_of(draft, spec))
        except (RefusalError, BadValueError, msgspec.ValidationError) as error:
            told.not_planned.append(_refused(trigger, error))
            return
        due = draft.rule.due(person.timezone)
        when = when_of(trigger, event, due, now)
        if due is not None and repeats(draft, due, when, now) and _has_message(lines, person.id):
            when = Why.ALREADY_SENT
        elif not isinstance(when, Why):
            when = Why.DUPLICATE if _what(draft, person, when) in told.said else when
        if isinstance(when, Why):
            told.not_planned.append(_nothing(trigger, when))
            return
        told.said.add(_what(draft, person, when))
        told.planned.append(
            RehearsedMessage(
                trigger=trigger.id,
                trigger_version=trigger.version,
                template=trigger.template,
                channel=trigger.channel,
                recipient=person,
                send_at=when,
                why=_why(draft, due, when, now, person.timezone),
            )
        )

    async def _person(self, tx: TenantTx, spec: RecipientSpec) -> RehearsedRecipient:
        """Who is meant, as they would be."""
        known = await find_known(tx, spec, await self.keyring.pepper(tx))
        identity = spec.identity or (known.recipient.identity if known is not None else None)
        zone: Any = spec.timezone
        locale: Any = spec.locale
        if known is not None:
            key = tx.tenant_id, known.recipient.id
            row = (await facts_store.load_people(tx, [key]))[key]
            zone = row.choices.timezone or (row.timezone if isinstance(zone, UnsetType) else zone)
            locale = row.choices.locale or (row.locale if isinstance(locale, UnsetType) else locale)
        elif isinstance(zone, UnsetType) or isinstance(locale, UnsetType):
            tenant = await facts_store.load_tenant(tx)
            zone = tenant.timezone if isinstance(zone, UnsetType) else zone
            locale = tenant.locale if isinstance(locale, UnsetType) else locale
        return RehearsedRecipient(
            id=known.recipient.id if known is not None else None,
            identity_type=identity.type.value if identity is not None else None,
            identity_id=identity.id if identity is not None else None,
            timezone=zone if zone_exists(zone) else "UTC",
            locale=locale,
            addresses=[HintedAddress(channel=a.channel, hint=redact(a.address)) for a in spec.addresses],
        )


def _has_message(lines: Sequence[SubjectLine], recipient_id: str | None) -> bool:
    return recipient_id is not None and any(
        line.is_sent and line.recipient_id == recipient_id for line in lines
    )


def _what(draft: MessageDraft, person: RehearsedRecipient, when: datetime) -> _What:
    """What it would say, to whom, and when: a second trigger that says the same sends nothing."""
    who = person.id or msgspec.json.encode(draft.person).decode()
    return draft.trigger.template, draft.trigger.channel, who, when


def _nothing(trigger: Trigger, reason: str) -> RehearsedNothing:
    words = _WORDS.get(reason, reason)
    return RehearsedNothing(trigger=trigger.id, template=trigger.template, reason=reason, why=words)


def _refused(trigger: Trigger, error: Exception) -> RehearsedNothing:
    code = error.code if isinstance(error, TidingsError) else "bad_value"
    words = str(error) if isinstance(error, TidingsError) else "the recipient in the event can't be read"
    return RehearsedNothing(trigger=trigger.id, template=trigger.template, reason=code, why=words)


def _clearing(trigger: Trigger, row: Any, why: str) -> RehearsedClearing:
    return RehearsedClearing(trigger=trigger.id, scheduled_id=row.id, why=why)


def _why(draft: MessageDraft, due: Any, when: datetime, now: datetime, zone: str) -> str:
    """How the time comes about."""
    trigger, event = draft.trigger, draft.event
    if not trigger.is_shifted:
        return f"{event.type} sends it at once"
    offset = f" {trigger.offset}" if trigger.offset else ""
    hour = f" at {trigger.local_time}" if trigger.local_time else ""
    from_ = f"{trigger.anchor} is {due.anchor_at.isoformat()};{offset or ' no offset'}{hour} in {zone}"
    if when > now:
        return from_
    late = is_late(trigger, due, now)
    return f"{from_} is over, and the anchor is still ahead: at once" if late else f"{from_} is now"
