"""Operations on triggers: a tenant's and the platform's, sets of them, and what they made of events."""

from typing import Final

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OwnerTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.ids import TriggerId
from tidings.notify.received_events.read import CloudEventInput, read_request
from tidings.notify.schedule import firings
from tidings.notify.triggers import store
from tidings.notify.triggers.change import TriggerChanger, held_of_own
from tidings.notify.triggers.errors import UnknownTriggerError, UnknownTriggerSetError
from tidings.notify.triggers.model import Trigger
from tidings.notify.triggers.registry import TriggerRegistry
from tidings.notify.triggers.rehearse import TriggerRehearser
from tidings.notify.triggers.wire import (
    AdoptedSet,
    ChangeTrigger,
    FiringView,
    ListFirings,
    ListTriggers,
    PutTrigger,
    TriggerRehearsal,
    TriggerSet,
    TriggerSets,
    TriggerVersions,
    TriggerVersionView,
    TriggerView,
    wish_of,
)

TAG: Final = "triggers"
EXAMPLE: Final = {
    "name": "Reminder two days before arrival",
    "event_type": "reservation.confirmed",
    "template": "reservation_reminder",
    "channel": "email",
    "recipient": "$.data.guest",
    "variables": {"place": "$.data.place", "starts_at": "$.data.starts_at"},
    "anchor": "$.data.starts_at",
    "offset": "-P2D",
    "local_time": "09:00",
    "cancelled_by": ["reservation.cancelled"],
    "replanned_by": ["reservation.moved"],
}
EVENT_EXAMPLE: Final = {
    "specversion": "1.0",
    "id": "res-8812-confirmed",
    "source": "/hotels/kabul/pms",
    "type": "reservation.confirmed",
    "subject": "reservation-8812",
    "data": {
        "guest": {"identity": {"type": "guest", "id": "g-1"}},
        "place": "Kabul",
        "starts_at": "2026-12-01T14:00:00+04:30",
    },
}

triggers = Resource("triggers", at="/triggers", tag=TAG, scope="triggers", owner=Owner.TENANT_OR_PLATFORM)

_read_wish = msgspec.json.Decoder(PutTrigger).decode
_ONE: Final = "/{trigger_id}"


@triggers.get()
async def list_triggers(tx: OwnerTx, query: ListTriggers, paging: Paging) -> Page[TriggerView]:
    """List triggers, the newest first: your own and the platform's; `enabled` says whether one fires for you."""
    found = await store.list_triggers(
        tx, event_type=query.event_type, after_id=paging.after_id, limit=paging.fetch
    )
    choices = await _choices(tx)
    return paging.page(found, lambda one: TriggerView.of(one, enabled=choices.get(one.id)))


@triggers.post(status=201, idempotent=True, example=EXAMPLE)
async def create_trigger(
    tx: OwnerTx,
    body: PutTrigger,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> Answer[TriggerView]:
    """Say which event sends what, to whom, and when.

    Paths, durations, types, the category and the condition are checked; a template that is not published yet is a warning.
    """
    after_commit(registry.invalidate)
    made = await changer.create(tx, body, actor=caller.actor)
    home = "/api/v1/triggers" if isinstance(tx, TenantTx) else "/internal/v1/triggers"
    return Answer(
        TriggerView.of(made.trigger, warnings=made.warnings),
        version=made.trigger.version,
        location=f"{home}/{made.trigger.id}",
    )


@triggers.get("/firings", owner=Owner.TENANT, verb="firings", listing="firings")
async def list_firings(tx: TenantTx, query: ListFirings, paging: Paging, clock: Clock) -> Page[FiringView]:
    """List what triggers made of events, the newest first; `event` asks what one event has led to, in its order.

    `event` and the result `failed` find theirs among all; other filters look among the newest, some 20,000 in a request:
    where few fit, a page may be short or empty and still have a `next_cursor`.
    """
    if query.event is not None:
        rows = await firings.firings_of_event(
            tx,
            query.event,
            trigger_id=query.trigger,
            result=query.result,
            after_id=paging.after_id,
            limit=paging.fetch,
        )
        return paging.page(rows, FiringView.of)
    found = await firings.list_firings(
        tx,
        trigger_id=query.trigger,
        result=query.result,
        after_id=paging.after_id,
        limit=query.limit,
        now=clock.now(),
    )
    return paging.page_until(found.next_id, [FiringView.of(one) for one in found.items])


@triggers.get("/sets", owner=Owner.TENANT, verb="sets")
async def list_trigger_sets(tx: TenantTx) -> TriggerSets:
    """List the sets of triggers that the platform ships; none of them fires before you adopt it."""
    choices = await _choices(tx)
    sets: dict[str, list[bool]] = {}
    for one in await store.load_platform_triggers(tx):
        if one.set_name is not None:
            sets.setdefault(one.set_name, []).append(choices.get(one.id, one.enabled))
    return TriggerSets(
        items=[TriggerSet(name=name, triggers=len(on), enabled=sum(on)) for name, on in sorted(sets.items())]
    )


@triggers.post("/sets/{set_name}/adopt", owner=Owner.TENANT, verb="adopt", problems=["trigger_set_not_found"])
async def adopt_trigger_set(
    tx: TenantTx,
    set_name: str,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> AdoptedSet:
    """Switch on all triggers of a set: `hotel`, `school`."""
    after_commit(registry.invalidate)
    changes = await changer.adopt(tx, set_name, actor=caller.actor)
    if not changes:
        raise UnknownTriggerSetError
    return AdoptedSet(
        name=set_name, triggers=[TriggerView.of(one.trigger, warnings=one.warnings) for one in changes]
    )


@triggers.post(
    "/test",
    owner=Owner.TENANT,
    verb="test",
    writes=False,
    test_keys=True,
    body=CloudEventInput,
    answer=TriggerRehearsal,
    example=EVENT_EXAMPLE,
)
async def rehearse_event(
    tx: TenantTx, request: Request, caller: Caller, rehearser: TriggerRehearser
) -> TriggerRehearsal:
    """Ask which messages an event would make, to whom, when, and why not.

    Takes a CloudEvent as `POST /events` does. Nothing is written and nothing is sent; addresses are hints.
    """
    given = await read_request(request)
    if isinstance(given, list):
        raise InvalidError([FieldError("", "must be one event; a batch is asked for event by event")])
    return await rehearser.rehearse(tx, given, is_test=caller.environment == "test")


@triggers.get(_ONE, problems=["trigger_not_found"])
async def show_trigger(tx: OwnerTx, trigger_id: TriggerId) -> Answer[TriggerView]:
    """Show a trigger."""
    found = await _found(tx, trigger_id)
    choices = await _choices(tx)
    return Answer(TriggerView.of(found, enabled=choices.get(found.id)), version=found.version)


@triggers.get(f"{_ONE}/versions", verb="versions", problems=["trigger_not_found"])
async def list_trigger_versions(tx: OwnerTx, trigger_id: TriggerId) -> TriggerVersions:
    """Show every version of a trigger, the newest first."""
    await _found(tx, trigger_id)
    return TriggerVersions(
        items=[
            TriggerVersionView(
                version=one.version,
                changed_at=one.changed_at,
                changed_by=one.changed_by,
                trigger=_read_wish(one.definition),
            )
            for one in await store.list_versions(tx, trigger_id)
        ]
    )


@triggers.put(_ONE, problems=["trigger_not_found", "platform_trigger", "stale_version"], example=EXAMPLE)
async def put_trigger(
    tx: OwnerTx,
    trigger_id: TriggerId,
    body: PutTrigger,
    if_match: IfMatch,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> Answer[TriggerView]:
    """Replace a trigger of your own; what it has planned stays as it was planned."""
    after_commit(registry.invalidate)
    held = await held_of_own(tx, trigger_id)
    if_match.expect(held.version)
    made = await changer.change(tx, held, body, actor=caller.actor)
    return Answer(TriggerView.of(made.trigger, warnings=made.warnings), version=made.trigger.version)


@triggers.patch(_ONE, problems=["trigger_not_found", "platform_trigger", "stale_version"])
async def change_trigger(
    tx: OwnerTx,
    trigger_id: TriggerId,
    body: ChangeTrigger,
    if_match: IfMatch,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> Answer[TriggerView]:
    """Change a trigger of your own; what is left out stays, and what it has planned stays as it was planned."""
    after_commit(registry.invalidate)
    held = await held_of_own(tx, trigger_id)
    if_match.expect(held.version)
    made = await changer.change(tx, held, body.onto(wish_of(held)), actor=caller.actor)
    return Answer(TriggerView.of(made.trigger, warnings=made.warnings), version=made.trigger.version)


@triggers.delete(_ONE, problems=["trigger_not_found", "platform_trigger"])
async def delete_trigger(
    tx: OwnerTx,
    trigger_id: TriggerId,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> None:
    """Delete a trigger of your own: it fires no more. What it has planned is still sent, unless you cancel it."""
    after_commit(registry.invalidate)
    await changer.delete(tx, trigger_id, actor=caller.actor)


@triggers.post(f"{_ONE}/enable", problems=["trigger_not_found"])
async def enable_trigger(
    tx: OwnerTx,
    trigger_id: TriggerId,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> Answer[TriggerView]:
    """Switch a trigger on: your own, or for you one of the platform's."""
    after_commit(registry.invalidate)
    made = await changer.switch(tx, trigger_id, enabled=True, actor=caller.actor)
    return Answer(TriggerView.of(made.trigger, warnings=made.warnings), version=made.trigger.version)


@triggers.post(f"{_ONE}/disable", problems=["trigger_not_found"])
async def disable_trigger(
    tx: OwnerTx,
    trigger_id: TriggerId,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> Answer[TriggerView]:
    """Switch a trigger off: your own, or for you one of the platform's. What is planned is still sent."""
    after_commit(registry.invalidate)
    made = await changer.switch(tx, trigger_id, enabled=False, actor=caller.actor)
    return Answer(TriggerView.of(made.trigger, warnings=made.warnings), version=made.trigger.version)


@triggers.post(
    f"{_ONE}/customise", owner=Owner.TENANT, status=201, problems=["trigger_not_found", "platform_trigger"]
)
async def customise_trigger(
    tx: TenantTx,
    trigger_id: TriggerId,
    caller: Caller,
    changer: TriggerChanger,
    registry: TriggerRegistry,
    after_commit: AfterCommit,
) -> Answer[TriggerView]:
    """Make a copy of one of the platform's triggers that is yours to change; the platform's is off for you."""
    after_commit(registry.invalidate)
    made = await changer.customise(tx, trigger_id, actor=caller.actor)
    return Answer(
        TriggerView.of(made.trigger, warnings=made.warnings),
        version=made.trigger.version,
        location=f"/api/v1/triggers/{made.trigger.id}",
    )


async def _found(tx: OwnerTx, trigger_id: TriggerId) -> Trigger:
    found = await store.find_trigger(tx, trigger_id)
    if found is None:
        raise UnknownTriggerError
    return found


async def _choices(tx: OwnerTx) -> dict[TriggerId, bool]:
    """What a tenant has said about the platform's triggers."""
    return (await store.load_choices(tx, [tx.tenant_id]))[tx.tenant_id] if isinstance(tx, TenantTx) else {}
