"""Operations on alerts: list, count, acknowledge, take that back, resolve, mute."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final

from tidings.backoffice.alert_notices.subscribe import AlertSubscriber, Telling
from tidings.backoffice.alerts import store
from tidings.backoffice.alerts.count import AlertCounter
from tidings.backoffice.alerts.errors import UnknownAlertError
from tidings.backoffice.alerts.handle import AlertHandler, AtWork
from tidings.backoffice.alerts.model import Acknowledgement, Alert
from tidings.backoffice.api.alerts_wire import (
    AcknowledgeAlert,
    AlertCounts,
    AlertView,
    BudgetList,
    BudgetView,
    ChooseTelling,
    ListAlerts,
    MuteAlerts,
    Mutes,
    MuteView,
    PutBudget,
    SeenAlerts,
    TellingView,
    parse_category,
    parse_currency,
)
from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.desk import OperatorDesk
from tidings.backoffice.ids import AlertId
from tidings.backoffice.notes.model import NewNote
from tidings.backoffice.notes.notes import Notes
from tidings.backoffice.properties.access import PropertyReach, check_property
from tidings.backoffice.system_alerts.budgets import Budgets
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import AfterCommit, OwnerTx, Parsed
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError, NotAllowedError

alerts = Resource("alerts", at="/alerts", tag="alerts", scope="alerts", owner=Owner.OPERATOR)

_OF_ONE: Final = ["alert_not_found", "alert_resolved", "operators_only"]
_NO_STORE: Final = {"Cache-Control": "no-store"}
_WITHOUT_NOTE: Final = AcknowledgeAlert()


@alerts.get(problems=["property_not_found", "operators_only"])
async def list_alerts(
    tx: OwnerTx,
    query: ListAlerts,
    caller: Caller,
    paging: Paging,
    desk: OperatorDesk,
    notes: Notes,
    clock: Clock,
) -> Page[AlertView]:
    """List alerts, the newest first: the tenant's, or for an operator of the platform who acts for none the platform's own."""
    seat_of(caller)
    if query.property_id is not None:
        check_property(caller, query.property_id)
    found = await store.list_alerts(
        tx,
        query.filter(),
        reach=PropertyReach.of(caller),
        after_id=paging.after_id,
        limit=paging.fetch,
    )
    seen = await _seen(tx, found, caller, desk, notes, clock)
    return paging.page(found, seen.view)


@alerts.get("/counts", problems=["operators_only"])
async def count_alerts(caller: Caller, counter: AlertCounter) -> AlertCounts:
    """Count open alerts, for a badge."""
    seat_of(caller)
    return by_name(AlertCounts, await counter.of(caller.tenant_id, PropertyReach.of(caller)))


@alerts.get("/mutes", problems=["operators_only"])
async def list_mutes(tx: OwnerTx, caller: Caller, clock: Clock) -> Mutes:
    """List the categories of which nobody is told at present."""
    seat_of(caller)
    return Mutes(items=[MuteView.of(one) for one in await store.list_mutes(tx, now=clock.now())])


@alerts.put("/mutes/{category}", idempotent=True, problems=["operators_only"])
async def mute_alerts(
    tx: OwnerTx,
    category: Annotated[str, Parsed(parse_category)],
    body: MuteAlerts,
    caller: Caller,
    handler: AlertHandler,
    counter: AlertCounter,
    clock: Clock,
    after_commit: AfterCommit,
) -> None:
    """Tell nobody of a category for a time: its alerts are listed, and neither counted in badges nor sent to anybody."""
    by = _at_work(caller)
    after_commit(lambda: counter.forget(caller.tenant_id))
    until = clock.now() + timedelta(minutes=body.minutes)
    await handler.mute(tx, category, muted_until=until, by=by)


@alerts.delete("/mutes/{category}", problems=["operators_only"])
async def unmute_alerts(
    tx: OwnerTx,
    category: Annotated[str, Parsed(parse_category)],
    caller: Caller,
    handler: AlertHandler,
    counter: AlertCounter,
    after_commit: AfterCommit,
) -> None:
    """Tell of a category again."""
    by = _at_work(caller)
    after_commit(lambda: counter.forget(caller.tenant_id))
    await handler.unmute(tx, category, by=by)


@alerts.get("/telling", problems=["operators_only"])
async def show_telling(caller: Caller, db: Database, subscriber: AlertSubscriber) -> Answer[TellingView]:
    """Show of which alerts you are told by a message."""
    seat = seat_of(caller)
    async with db.scoped(caller.home) as tx:
        chosen = await subscriber.find(tx, seat.operator_id)
    return Answer(by_name(TellingView, chosen), headers=_NO_STORE)


@alerts.put("/telling", scope="alerts:read", problems=["operators_only"])
async def choose_telling(
    body: ChooseTelling, caller: Caller, db: Database, subscriber: AlertSubscriber
) -> Answer[TellingView]:
    """Choose of which alerts you are told by a message, in your own tenant: from then on you are one of its recipients."""
    seat = seat_of(caller)
    chosen = Telling(severity=body.severity, phone=body.phone, language=body.language)
    async with db.scoped(caller.home) as tx:
        await subscriber.choose(tx, seat.operator_id, chosen, actor=caller.actor)
        kept = await subscriber.find(tx, seat.operator_id)
    return Answer(by_name(TellingView, kept), headers=_NO_STORE)


@alerts.get("/budgets", problems=["operators_only"])
async def list_budgets(tx: OwnerTx, caller: Caller, budgets: Budgets) -> BudgetList:
    """List what the tenant means to spend on messages in a month."""
    seat_of(caller)
    known = await budgets.list(_of_tenant(tx))
    return BudgetList(items=[BudgetView(currency=currency, micros=one) for currency, one in known.items()])


@alerts.put("/budgets/{currency}", idempotent=True, problems=["operators_only"])
async def put_budget(
    tx: OwnerTx,
    currency: Annotated[str, Parsed(parse_currency)],
    body: PutBudget,
    caller: Caller,
    budgets: Budgets,
) -> None:
    """Say what the tenant means to spend on messages in a month; an alert comes when four fifths of it are spent."""
    seat_of(caller)
    await budgets.put(_of_tenant(tx), currency, body.micros, actor=caller.actor)


@alerts.get("/{alert_id}", problems=["alert_not_found", "operators_only"])
async def show_alert(
    tx: OwnerTx, alert_id: AlertId, caller: Caller, desk: OperatorDesk, notes: Notes, clock: Clock
) -> AlertView:
    """Show an alert."""
    seat_of(caller)
    found = await store.find_alert(tx, alert_id, reach=PropertyReach.of(caller))
    if found is None:
        raise UnknownAlertError
    return (await _seen(tx, [found], caller, desk, notes, clock)).view(found)


@alerts.post("/{alert_id}/acknowledge", idempotent=True, problems=_OF_ONE)
async def acknowledge_alert(
    tx: OwnerTx,
    alert_id: AlertId,
    caller: Caller,
    handler: AlertHandler,
    counter: AlertCounter,
    desk: OperatorDesk,
    notes: Notes,
    clock: Clock,
    after_commit: AfterCommit,
    body: AcknowledgeAlert = _WITHOUT_NOTE,
) -> AlertView:
    """Say that you look after an alert; several operators may. Of a note the first 200 characters are kept, sealed."""
    by = _at_work(caller)
    after_commit(lambda: counter.forget(caller.tenant_id))

    async def write_note(alert: Alert) -> str | None:
        if not body.note:
            return None
        if not isinstance(tx, TenantTx):
            raise InvalidError([FieldError("note", "belongs to a tenant's alert; leave it out here")])
        note = NewNote(
            kind="alert_ack",
            about_id=alert.id,
            property_id=alert.property_id,
            written_by=by.operator_id,
            text=body.note,
        )
        [note_id] = await notes.write(tx, [note])
        return note_id

    changed = await handler.acknowledge(tx, alert_id, by=by, write_note=write_note)
    return (await _seen(tx, [changed], caller, desk, notes, clock)).view(changed)


@alerts.post("/{alert_id}/withdraw-acknowledgement", idempotent=True, problems=_OF_ONE)
async def withdraw_acknowledgement(
    tx: OwnerTx,
    alert_id: AlertId,
    caller: Caller,
    handler: AlertHandler,
    counter: AlertCounter,
    desk: OperatorDesk,
    notes: Notes,
    clock: Clock,
    after_commit: AfterCommit,
) -> AlertView:
    """Take your acknowledgement back. Where nobody else has acknowledged it, the alert is raised again."""
    by = _at_work(caller)
    after_commit(lambda: counter.forget(caller.tenant_id))
    changed = await handler.withdraw(tx, alert_id, by=by)
    return (await _seen(tx, [changed], caller, desk, notes, clock)).view(changed)


@alerts.post("/{alert_id}/resolve", idempotent=True, problems=_OF_ONE)
async def resolve_alert(
    tx: OwnerTx,
    alert_id: AlertId,
    caller: Caller,
    handler: AlertHandler,
    counter: AlertCounter,
    desk: OperatorDesk,
    notes: Notes,
    clock: Clock,
    after_commit: AfterCommit,
) -> AlertView:
    """End an alert by hand. Where its cause goes on, a new one is raised."""
    by = _at_work(caller)
    after_commit(lambda: counter.forget(caller.tenant_id))
    ended = await handler.resolve(tx, alert_id, by=by)
    return (await _seen(tx, [ended], caller, desk, notes, clock)).view(ended)


def _of_tenant(tx: TenantTx | PlatformTx) -> TenantTx:
    if not isinstance(tx, TenantTx):
        raise NotAllowedError("a budget is a tenant's; name the tenant with X-Tenant-Id")
    return tx


def _at_work(caller: Caller) -> AtWork:
    seat = seat_of(caller)
    return AtWork(
        operator_id=seat.operator_id,
        device_id=seat.device_id,
        actor=caller.actor,
        reach=PropertyReach.of(caller),
    )


async def _seen(
    tx: TenantTx | PlatformTx,
    found: Sequence[Alert],
    caller: Caller,
    desk: OperatorDesk,
    notes: Notes,
    clock: Clock,
) -> SeenAlerts:
    """What stands beside these alerts, asked for once for all of them."""
    standing = await store.find_acknowledgements(tx, [alert.id for alert in found])
    by_alert: dict[str, list[Acknowledgement]] = {}
    for one in standing:
        by_alert.setdefault(one.alert_id, []).append(one)
    written = [one.note_id for one in standing]
    people = {one.operator_id for one in standing} | {
        alert.resolved_by for alert in found if alert.resolved_by
    }
    return SeenAlerts(
        acknowledgements=by_alert,
        notes=await notes.texts(tx, written) if isinstance(tx, TenantTx) else {},
        names=await desk.names(tx, sorted(people)),
        mutes={mute.category: mute.muted_until for mute in await store.list_mutes(tx, now=clock.now())},
        own_id=caller.id,
    )
