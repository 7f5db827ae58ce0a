"""The use cases "this event is to send that", "from now on it is different" and "no more"; checked, versioned and audited."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from tidings.contracts.events import EVENTS
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.expressions import ExpressionError, parse
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.accept.validator import MOST_VARIABLES_BYTES
from tidings.notify.categories import store as category_store
from tidings.notify.ids import TRIGGER, TriggerId
from tidings.notify.schedule.due import Offset, read_clock
from tidings.notify.triggers import store
from tidings.notify.triggers.errors import PlatformTriggerError, UnknownTriggerError
from tidings.notify.triggers.heard_events import OWN_SUBJECTS
from tidings.notify.triggers.model import Trigger
from tidings.notify.triggers.paths import parse_path
from tidings.notify.triggers.resolvers import check_resolver
from tidings.notify.triggers.variables import wrong_variables
from tidings.notify.triggers.wire import PutTrigger, wish_of

#: What a condition may name, and paths may begin with.
_ATTRIBUTES = frozenset({"id", "source", "type", "subject", "time", "data"})
_CONDITION_REMEDY = "name data.…, type, subject, source or time"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerChange:
    """A trigger as it is now, and what may keep it from sending."""

    trigger: Trigger
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerChanger:
    """Changes triggers of one side: a tenant's, or the platform's."""

    audit: AuditLog
    clock: Clock

    async def create(
        self,
        tx: store.Side,
        wish: PutTrigger,
        *,
        actor: str,
        set_name: str | None = None,
        set_key: str | None = None,
        customises: TriggerId | None = None,
    ) -> TriggerChange:
        """A new trigger; an `InvalidError` that names every wrong field."""
        await self._check(tx, wish)
        now = self.clock.now()
        made = Trigger(
            id=TRIGGER.new(now),
            tenant_id=tx.tenant_id,
            version=1,
            set_name=set_name,
            set_key=set_key,
            customises=customises,
            created_at=now,
            updated_at=now,
            **_facts(wish),
        )
        return await self._put(tx, made, "created", actor=actor)

    async def change(self, tx: store.Side, before: Trigger, wish: PutTrigger, *, actor: str) -> TriggerChange:
        """The trigger as it is to be from now on; the same again changes nothing."""
        if wish == wish_of(before):
            return TriggerChange(trigger=before, warnings=await self._warnings(tx, before))
        await self._check(tx, wish)
        made = replace(before, version=before.version + 1, updated_at=self.clock.now(), **_facts(wish))
        return await self._put(tx, made, "changed", actor=actor)

    async def delete(self, tx: store.Side, trigger_id: TriggerId, *, actor: str) -> None:
        """It fires no more; what it has planned stays, and is cleared with the schedule's own commands."""
        held = await held_of_own(tx, trigger_id)
        await store.delete_trigger(tx, held.id, now=self.clock.now())
        await self._told(tx, held, "deleted", actor=actor)

    async def switch(
        self, tx: store.Side, trigger_id: TriggerId, *, enabled: bool, actor: str
    ) -> TriggerChange:
        """Switch a trigger on or off: one's own, or for a tenant one of the platform's."""
        held = await store.find_trigger(tx, trigger_id, hold=True)
        if held is None:
            raise UnknownTriggerError
        if held.tenant_id == tx.tenant_id:
            wish = msgspec.structs.replace(wish_of(held), enabled=enabled)
            return await self.change(tx, held, wish, actor=actor)
        if not isinstance(tx, TenantTx):
            raise UnknownTriggerError
        await store.put_choices(tx, [trigger_id], enabled=enabled, now=self.clock.now())
        await self._told(tx, held, "enabled" if enabled else "disabled", actor=actor)
        chosen = replace(held, enabled=enabled)
        return TriggerChange(trigger=chosen, warnings=await self._warnings(tx, chosen))

    async def customise(self, tx: TenantTx, trigger_id: TriggerId, *, actor: str) -> TriggerChange:
        """A copy of the platform's trigger that is the tenant's own to change; the platform's is off for the tenant."""
        held = await store.find_trigger(tx, trigger_id)
        if held is None:
            raise UnknownTriggerError
        if held.tenant_id is not None:
            raise PlatformTriggerError(f"{trigger_id} is your own already: change it")
        choices = await store.load_choices(tx, [tx.tenant_id])
        enabled = choices[tx.tenant_id].get(held.id, held.enabled)
        await store.put_choices(tx, [held.id], enabled=False, now=self.clock.now())
        wish = msgspec.structs.replace(wish_of(held), enabled=enabled)
        return await self.create(tx, wish, actor=actor, customises=held.id)

    async def adopt(self, tx: TenantTx, set_name: str, *, actor: str) -> list[TriggerChange]:
        """Switch on all triggers of a set, in this one step; none where there is no such set."""
        held = [one for one in await store.load_platform_triggers(tx) if one.set_name == set_name]
        if held:
            await store.put_choices(tx, [one.id for one in held], enabled=True, now=self.clock.now())
        changes: list[TriggerChange] = []
        for one in held:
            await self._told(tx, one, "enabled", actor=actor)
            chosen = replace(one, enabled=True)
            changes.append(TriggerChange(trigger=chosen, warnings=await self._warnings(tx, chosen)))
        return changes

    async def _put(self, tx: store.Side, made: Trigger, action: str, *, actor: str) -> TriggerChange:
        definition = msgspec.json.encode(wish_of(made)).decode()
        await store.put_trigger(tx, made, definition=definition, actor=actor)
        await self._told(tx, made, action, actor=actor)
        return TriggerChange(trigger=made, warnings=await self._warnings(tx, made))

    async def _told(self, tx: store.Side, trigger: Trigger, action: str, *, actor: str) -> None:
        entry = Entry(
            entity_type="trigger",
            entity_id=trigger.id,
            action=f"trigger.{action}",
            actor=actor,
            after={
                "version": trigger.version,
                "event_type": trigger.event_type,
                "template": trigger.template,
                "channel": trigger.channel,
                "enabled": trigger.enabled,
            },
        )
        await self.audit.append(tx, [entry])

    async def _check(self, tx: store.Side, wish: PutTrigger) -> None:
        wrong = faults_of(wish)
        if wish.category is not None:
            known = await category_store.load_categories(tx)
            if wish.category not in known:
                wrong.append(FieldError("category", f"must be one of {', '.join(sorted(known))}"))
        if wrong:
            raise InvalidError(wrong)

    async def _warnings(self, tx: store.Side, trigger: Trigger) -> tuple[str, ...]:
        """A template that is not published yet is no fault: triggers and templates are often set up in either order."""
        channels = await store.published_channels(tx, trigger.template)
        warnings: list[str] = []
        if not channels:
            warnings.append(
                f"no template {trigger.template} is published: messages fail until it is, and can be retried"
            )
        elif trigger.channel != "auto" and trigger.channel not in channels:
            warnings.append(
                f"the template {trigger.template} is published for {', '.join(sorted(channels))}, not for "
                f"{trigger.channel}: messages fail until it is"
            )
        alike = [
            one.id
            for one in await store.list_triggers(tx, event_type=trigger.event_type, after_id=None, limit=200)
            if one.id != trigger.id
            and one.enabled
            and (one.template, one.channel, one.timing) == (trigger.template, trigger.channel, trigger.timing)
        ]
        if alike:
            warnings.append(
                f"{', '.join(alike)} sends the same template on the same event at the same time: a person gets it once "
                "for each event"
            )
        return tuple(warnings)


async def held_of_own(tx: store.Side, trigger_id: TriggerId) -> Trigger:
    """One's own trigger, held for a change; one of the platform's is not a tenant's to change."""
    held = await store.find_trigger(tx, trigger_id, hold=True)
    if held is None:
        raise UnknownTriggerError
    if held.tenant_id != tx.tenant_id:
        raise PlatformTriggerError
    return held


def faults_of(wish: PutTrigger) -> list[FieldError]:
    """What is wrong with a trigger, whoever's it is; every field."""
    wrong: list[FieldError] = []

    def check(what: Any, *values: Any, **named: Any) -> None:
        try:
            what(*values, **named)
        except BadValueError as error:
            wrong.append(FieldError(error.field, error.remedy))

    check(_check_type, wish.event_type, "event_type")
    for name in ("cancelled_by", "replanned_by"):
        types = getattr(wish, name)
        for place, one in enumerate(types):
            check(_check_type, one, f"{name}[{place}]")
            if one == wish.event_type:
                wrong.append(FieldError(f"{name}[{place}]", "is the event that fires it; name another one"))
        if len(set(types)) != len(types):
            wrong.append(FieldError(name, "must name each type once"))
    if both := sorted(set(wish.cancelled_by) & set(wish.replanned_by)):
        wrong.append(FieldError("replanned_by", f"names {both[0]} too, which clears what is planned"))
    listed = isinstance(wish.recipient, list)
    for place, one in enumerate(wish.recipient if listed else [wish.recipient]):
        check(check_resolver, one, field=f"recipient[{place}]" if listed else "recipient")
    check(parse_path, wish.anchor, field="anchor")
    check(parse_path, wish.subject, field="subject")
    if wish.offset is not None:
        check(Offset.parse, wish.offset)
    if wish.local_time is not None:
        check(read_clock, wish.local_time)
    wrong += wrong_variables(wish.variables)
    if len(msgspec.json.encode(wish.variables)) > MOST_VARIABLES_BYTES:
        wrong.append(FieldError("variables", f"must take at most {MOST_VARIABLES_BYTES} bytes as JSON"))
    if wish.condition is not None:
        try:
            parse(wish.condition).refuse_unknown(
                lambda path: str(path.steps[0]) in _ATTRIBUTES, _CONDITION_REMEDY
            )
        except ExpressionError as error:
            bad = error.of("condition")
            wrong.append(FieldError(bad.field, bad.remedy))
    return wrong


def _check_type(text: str, field: str) -> None:
    if text.startswith("notification."):
        raise BadValueError(
            field,
            "can't be an event about notifications: what it sends would make further such events, without end; "
            "webhooks tell your own services of them",
        )
    if text in EVENTS and text not in OWN_SUBJECTS:
        raise BadValueError(
            field,
            f"is an event of Tidings' own that no trigger hears; those that are heard: {', '.join(OWN_SUBJECTS)}",
        )


def _facts(wish: PutTrigger) -> Mapping[str, Any]:
    listed = isinstance(wish.recipient, list)
    return {
        "title": wish.name,
        "event_type": wish.event_type,
        "template": wish.template,
        "channel": wish.channel,
        "recipients": tuple(wish.recipient) if isinstance(wish.recipient, list) else (wish.recipient,),
        "recipients_listed": listed,
        "variables": wish.variables,
        "anchor": wish.anchor,
        "offset": wish.offset,
        "local_time": wish.local_time,
        "category": wish.category,
        "priority": wish.priority,
        "condition": wish.condition,
        "cancelled_by": tuple(wish.cancelled_by),
        "replanned_by": tuple(wish.replanned_by),
        "subject": wish.subject,
        "enabled": wish.enabled,
    }
