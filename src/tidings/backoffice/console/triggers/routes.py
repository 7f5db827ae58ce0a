"""Triggers: the list, one of them, what an event would do, and what they have done."""

import json
from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.triggers.event_body import body_of
from tidings.backoffice.console.triggers.events_page import firings_page
from tidings.backoffice.console.triggers.list_page import HERE, triggers_page
from tidings.backoffice.console.triggers.rehearsal_page import rehearsal_page
from tidings.backoffice.console.triggers.trigger_form import example_event, fields_of_trigger, read_trigger
from tidings.backoffice.console.triggers.trigger_page import trigger_page
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

triggers_pages = Resource(
    "console-triggers", at="/console/triggers", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_API: Final = "/api/v1/triggers"
_ONE: Final = f"{_API}/{{}}"
_MOST_OF_AN_EVENT: Final = 1024 * 1024
_DOES: Final[Mapping[str, str]] = {
    "enable": "trigger_enabled",
    "disable": "trigger_disabled",
    "customise": "trigger_customised",
    "delete": "trigger_deleted",
}


@triggers_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_triggers(request: Request, visits: Visits) -> Reply:
    """All triggers, and the sets that are shipped."""
    visit = await visits.open(request, of_tenant=True)
    wanted = visit.query.get("event_type", "").strip()
    found = await visit.api.get(_API, event_type=wanted, cursor=visit.query.get("cursor"))
    return triggers_page(visit, found, await visit.api.get(f"{_API}/sets"))


@triggers_pages.post("/sets/{name}/adopt", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def adopt_set(request: Request, name: str, visits: Visits) -> Reply:
    """Switch on all triggers of a set."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(at(f"{_API}/sets/{{}}/adopt", name))
    return redirect(f"{HERE}?told=set_adopted")


@triggers_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def ask_for_trigger(request: Request, visits: Visits) -> Reply:
    """The form of a new trigger."""
    visit = await visits.open(request, of_tenant=True)
    return await _form(visit, None, Typed())


@triggers_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def write_trigger(request: Request, visits: Visits) -> Reply:
    """Say which event sends what."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    written = read_trigger(fields)
    if written.errors:
        return await _form(visit, None, Typed(fields=fields, errors=written.errors), status=400)
    try:
        made = await visit.api.post(_API, written.body)
    except ApiProblemError as error:
        return await _form(visit, None, Typed(fields=fields, errors=error.errors), error=error)
    return redirect(f"{HERE}/{made['id']}?told=saved")


@triggers_pages.get("/rehearse", media_type=_HTML)
@answering_with_pages
async def ask_what_if(request: Request, visits: Visits, clock: Clock) -> Reply:
    """Ask what an event would do: one that was received, or an example for a trigger; the address names it."""
    visit = await visits.open(request, of_tenant=True)
    event: Any = None
    if given := visit.query.get("event"):
        event = body_of(await visit.api.get(at("/api/v1/events/received/{}", given)))
    elif trigger := visit.query.get("trigger"):
        event = example_event(await visit.api.get(at(_ONE, trigger)), clock.now())
    text = json.dumps(event, indent=2, ensure_ascii=False) if event else ""
    return await _rehearsal(visit, Typed(fields={"event": text}))


@triggers_pages.post("/rehearse", media_type=_HTML, body_limit=_MOST_OF_AN_EVENT)
@answering_with_pages
async def show_what_if(request: Request, visits: Visits) -> Reply:
    """Show which messages this event would make, to whom, when, and why not; nothing is sent."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    try:
        event = json.loads(fields.get("event", ""))
    except ValueError as error:
        typed = Typed(fields=fields, errors={"event": f"is no JSON: {error}"})
        return await _rehearsal(visit, typed, status=400)
    try:
        found = await visit.api.post(f"{_API}/test", event)
    except ApiProblemError as error:
        typed = Typed(fields=fields, errors=error.errors)
        return await _rehearsal(visit, typed, error=error)
    return await _rehearsal(visit, Typed(fields=fields), found=found)


@triggers_pages.get("/firings", media_type=_HTML)
@answering_with_pages
async def show_firings(request: Request, visits: Visits) -> Reply:
    """What triggers made of events."""
    visit = await visits.open(request, of_tenant=True)
    wanted = {name: visit.query.get(name) for name in ("trigger", "result", "event", "cursor")}
    found = await visit.api.get(f"{_API}/firings", **wanted)
    return firings_page(visit, found, await names_of_triggers(visit))


@triggers_pages.get("/{trigger_id}", media_type=_HTML)
@answering_with_pages
async def show_trigger(request: Request, trigger_id: str, visits: Visits) -> Reply:
    """One of them, with its versions."""
    visit = await visits.open(request, of_tenant=True)
    trigger = await visit.api.get(at(_ONE, trigger_id))
    return await _form(
        visit, trigger, Typed(fields={**fields_of_trigger(trigger), "version": str(trigger["version"])})
    )


@triggers_pages.post("/{trigger_id}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_trigger(request: Request, trigger_id: str, visits: Visits) -> Reply:
    """Write a trigger anew; what it has planned stays."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    trigger = await visit.api.get(at(_ONE, trigger_id))
    written = read_trigger(fields)
    if written.errors:
        return await _form(visit, trigger, Typed(fields=fields, errors=written.errors), status=400)
    try:
        wanted = f'"v{whole(fields, "version")}"'
        await visit.api.call("PUT", at(_ONE, trigger_id), body=written.body, if_match=wanted)
    except ApiProblemError as error:
        # Saving once more is saving over what another has saved.
        newer = {"version": str(trigger["version"])} if error.status == 412 else {}
        typed = Typed(fields={**fields, **newer}, errors=error.errors)
        return await _form(visit, trigger, typed, error=error)
    return redirect(f"{HERE}/{trigger_id}?told=saved")


@triggers_pages.post("/{trigger_id}/{do}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def do_with_trigger(request: Request, trigger_id: str, do: str, visits: Visits) -> Reply:
    """Switch it on or off, copy one of the platform's, or delete it."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    if do not in _DOES:
        raise ApiProblemError(404, {"code": "not_found"})
    if do == "delete":
        await visit.api.call("DELETE", at(_ONE, trigger_id))
        return redirect(f"{HERE}?told={_DOES[do]}")
    made = await visit.api.post(at(f"{_ONE}/{do}", trigger_id))
    return redirect(f"{HERE}/{made['id']}?told={_DOES[do]}")


async def names_of_triggers(visit: Visit) -> dict[str, str]:
    """What the newest hundred triggers are called, by their ids."""
    if not visit.may("triggers:read"):
        return {}
    found = await visit.api.get(_API, limit=100)
    return {one["id"]: one["name"] or f"{one['event_type']} → {one['template']}" for one in found["items"]}


async def _form(
    visit: Visit,
    trigger: Mapping[str, Any] | None,
    typed: Typed,
    *,
    error: ApiProblemError | None = None,
    status: int = 200,
) -> Reply:
    if error is not None and error.status == 401:
        raise error
    templates: list[str] = []
    categories: list[str] = []
    if visit.may("templates:read"):
        found = await visit.api.get("/api/v1/templates", status="active", limit=100)
        templates = sorted({one["key"] for one in found["items"]})
        known = await visit.api.get("/api/v1/categories")
        categories = [one["category"] for one in known["items"] if not one["retired"]]
    versions = []
    if trigger is not None:
        versions = (await visit.api.get(at(f"{_ONE}/versions", trigger["id"])))["items"]
    return trigger_page(
        visit,
        trigger,
        typed,
        templates=templates,
        categories=categories,
        versions=versions,
        told=visit.refused(error) if error else None,
        status=error.status if error else status,
    )


async def _rehearsal(
    visit: Visit,
    typed: Typed,
    *,
    found: Mapping[str, Any] | None = None,
    error: ApiProblemError | None = None,
    status: int = 200,
) -> Reply:
    if error is not None and error.status == 401:
        raise error
    received = []
    if visit.may("events:read") and visit.may("recipients:read"):
        received = (await visit.api.get("/api/v1/events/received", limit=20))["items"]
    return rehearsal_page(
        visit,
        typed,
        received=received,
        names=await names_of_triggers(visit) if found else {},
        found=found,
        told=visit.refused(error) if error else None,
        status=error.status if error else status,
    )
